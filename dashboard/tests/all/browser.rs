//! Tests of the page in Chromium. A test script on the page acts like a user and reports what it sees.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api::{EdgeRouter, OpenRouter};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use dashboard::DashboardConfig;
use http::{HeaderValue, header};
use serde_json::Value;
use state::{Day, State, StateTarget, UsageBatch, UsageEntry};
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};

use crate::support::Site;

/// Flags of Chromium that allow only pages on this machine.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--lang=en-US",
];

/// Maximum time of a test script, which is high because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(600);

/// JavaScript helpers for all test scripts: waiting for a condition and reporting results.
const WAYS: &str = r"
const $ = (id) => document.getElementById(id);
const until = async (what) => { while (!what()) await new Promise((then) => setTimeout(then, 20)); };
const shown = (id) => !$(id).hidden && !$(id).closest('[hidden]');
const tell = (told) => fetch('/test/told', { method: 'POST', body: JSON.stringify({ told, page: document.documentElement.outerHTML }) });
addEventListener('unhandledrejection', (event) => tell({ failed: String(event.reason?.stack ?? event.reason) }));
";

/// Page that shows the dashboard in a frame as narrow as a phone. Chromium's own windows are at least 500 pixels wide.
const TELEPHONE: &str = r#"<!doctype html><html lang="en"><title>A telephone</title><body style="margin: 0">
<iframe id="page" title="The page" style="border: 0; width: 390px; height: 3600px"></iframe>
<script>document.getElementById('page').src = location.search.slice(1) + location.hash;</script></body></html>"#;

/// Dashboard server on a local port, whose page runs a test script.
pub(crate) struct BrowserSite {
    pub(crate) site: Site,
    pub(crate) origin: String,
    told: Mutex<mpsc::Receiver<Value>>,
    profile: tempfile::TempDir,
}

/// Chromium process that is killed at the end of the test.
struct Chromium(Child);

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn has_chromium() -> bool {
    let ran = Command::new("chromium")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if ran.is_ok_and(|status| status.success()) {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "Chromium is absent");
    println!("skipped: Chromium does not run here");
    false
}

/// Returns the folder of a third-party npm package, if the test environment has it.
pub(crate) fn peer(package: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("TEST_BROWSER_PEERS").map(PathBuf::from);
    let package = folder
        .map(|folder| folder.join("node_modules").join(package))
        .filter(|path| path.is_dir());
    assert!(
        package.is_some() || std::env::var_os("CI").is_none(),
        "TEST_BROWSER_PEERS names no folder with the package"
    );
    if package.is_none() {
        println!("skipped: TEST_BROWSER_PEERS names no folder with the package");
    }
    package
}

impl BrowserSite {
    /// Serves a dashboard whose page runs `script`. `configured` gets the origin and returns the configuration.
    pub(crate) async fn start(script: &str, configured: impl FnOnce(&str) -> DashboardConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let state = State::open(&StateTarget::Memory).await.unwrap();
        let site = Site::on(state, configured(&origin), OpenRouter::default());
        let (telling, told) = mpsc::channel(1);
        let router = driven(&site.router, script, telling);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            site,
            origin,
            told: told.into(),
            profile: tempfile::tempdir().unwrap(),
        }
    }

    /// Opens `path` in Chromium. Returns the final HTML of the page and the result that the script reports.
    pub(crate) async fn open(&self, path: &str, more: &[&str]) -> (String, Value) {
        let mut command = Command::new("chromium");
        command.args(FLAGS).args(more);
        command.arg(format!("--user-data-dir={}", self.profile.path().display()));
        command.arg(format!("{}{path}", self.origin));
        command.env("TZ", "UTC").stdout(Stdio::null()).stderr(Stdio::null());
        let _chromium = Chromium(command.spawn().unwrap());
        let mut telling = self.told.lock().await;
        let told = tokio::time::timeout(PATIENCE, telling.recv()).await;
        let mut told = told.unwrap_or_else(|_| panic!("the script told nothing")).unwrap();
        let page = told["page"].as_str().unwrap().to_owned();
        (page, told["told"].take())
    }
}

/// Wraps the server so that its page loads the test script. The page's content security policy allows the script, which
/// has the same origin.
fn driven(edge: &EdgeRouter, script: &str, telling: mpsc::Sender<Value>) -> Router {
    let script = format!("{WAYS}\n{script}");
    let javascript = || [(header::CONTENT_TYPE, "text/javascript")];
    let axe = peer_text("axe-core/axe.min.js");
    let edge = edge.clone();
    // If the script uses `/test/back`, the API is not available until the script calls that path.
    let back = Arc::new(AtomicBool::new(!script.contains("/test/back")));
    let is_back = Arc::clone(&back);
    Router::new()
        .route("/test/drive.js", get(async move || (javascript(), script)))
        .route("/test/back", post(async move || is_back.store(true, Ordering::SeqCst)))
        .route(
            "/test/told",
            post(async move |body: String| {
                let told = serde_json::from_str(&body).unwrap();
                let _ = telling.send(told).await;
            }),
        )
        .route("/test/telephone", get(async || axum::response::Html(TELEPHONE)))
        .route("/test/axe.js", get(async move || (javascript(), axe)))
        .fallback(async move |request: Request| {
            let gone = !back.load(Ordering::SeqCst) && request.uri().path().starts_with("/dashboard/api/");
            if gone {
                return api::Problem::new(data_model::ErrorCode::NotReady).into_response();
            }
            with_script(&edge, request).await
        })
}

fn peer_text(path: &str) -> String {
    let folder = std::env::var_os("TEST_BROWSER_PEERS")
        .map(PathBuf::from)
        .unwrap_or_default();
    std::fs::read_to_string(folder.join("node_modules").join(path)).unwrap_or_default()
}

async fn with_script(edge: &EdgeRouter, mut request: Request) -> Response {
    request.headers_mut().remove(header::ACCEPT_ENCODING);
    let answer = edge.answer(request).await;
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    if answer.headers().get(header::CONTENT_TYPE) != Some(&html) {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let text = String::from_utf8(to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
    let driver = "<script type=\"module\" src=\"/test/drive.js\"></script></body>";
    parts.headers.remove(header::CONTENT_LENGTH);
    // The phone page shows the dashboard in a frame, which the normal policy forbids.
    if let Some(policy) = parts.headers.get_mut(header::CONTENT_SECURITY_POLICY) {
        let framed = policy
            .to_str()
            .unwrap()
            .replace("frame-ancestors 'none'", "frame-ancestors 'self'");
        *policy = HeaderValue::try_from(framed).unwrap();
    }
    (parts, Body::from(text.replace("</body>", driver))).into_response()
}

pub(crate) fn here(origin: &str) -> DashboardConfig {
    DashboardConfig {
        public_url: origin.to_owned(),
        ..DashboardConfig::default()
    }
}

/// Script of a user who creates, renames, rotates and revokes keys, and signs out.
const PERSON: &str = r"
const seen = {};
const press = (label) => {
  const button = document.querySelector(`button[aria-label='${label}']`);
  button.focus();
  button.click();
};
const answer = async () => { await until(() => $('ask').open); $('ask-yes').click(); await until(() => !$('ask').open); };
await until(() => shown('door'));
seen.door = [$('door-text').textContent, $('door-button').textContent, location.hash];
$('door-button').click();
await until(() => shown('inside') && document.querySelector('#keys .none'));
seen.who = $('who-name').textContent;
seen.path = location.pathname;
$('create-name').value = 'Mobile app';
$('create').requestSubmit();
await until(() => shown('fresh') && document.querySelector('.key'));
seen.key = $('fresh-key').textContent;
seen.focus = document.activeElement.id;
press('Rename Mobile app');
await until(() => $('ask').open);
seen.field = [document.activeElement.id, $('ask-name').value];
$('ask-name').value = 'Shop <b>window</b>';
await answer();
await until(() => document.querySelector('.key h3').textContent.startsWith('Shop'));
seen.focusBack = document.activeElement.getAttribute('aria-label');
press('Rotate Shop <b>window</b>');
await answer();
await until(() => document.querySelectorAll('.key').length === 2 && $('fresh-key').textContent !== seen.key);
seen.rotated = $('fresh-key').textContent;
seen.focusRotated = document.activeElement.id;
seen.states = [...document.querySelectorAll('.key .state')].map((one) => one.textContent).sort();
press('Revoke Shop <b>window</b>');
await answer();
await until(() => document.querySelector('.past'));
seen.past = document.querySelector('.past summary').textContent;
await until(() => document.activeElement !== document.body);
seen.focusRevoked = document.activeElement.id;
await until(() => $('audit').children.length === 7);
seen.audit = [...$('audit').querySelectorAll('li > p:first-child')].map((one) => one.textContent);
localStorage.setItem('pincode', '560001');
sessionStorage.setItem('cart-address', '{}');
$('sign-out').click();
await until(() => shown('door'));
seen.kept = localStorage.length + sessionStorage.length;
seen.after = [$('door-wrong').textContent, $('keys').children.length, $('fresh-key').textContent, document.activeElement.id];
tell(seen);
";

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_with_a_link_goes_on_to_this_site_alone() {
    if !has_chromium() {
        return;
    }
    let script = "await until(() => shown('door')); $('door-button').click(); await until(() => shown('inside')); tell(location.href);";
    for elsewhere in [
        "/%09/evil.example",
        "/%5Cevil.example",
        "//evil.example",
        "/%0A//evil.example",
        "/.//evil.example",
    ] {
        let served = BrowserSite::start(script, here).await;
        let (link, _) = served.site.link("asha").await;
        let path = format!("/dashboard/link?return_to={elsewhere}#{}", link.text());
        let (_, told) = served.open(&path, &[]).await;
        assert_eq!(told, format!("{}/dashboard/", served.origin), "{elsewhere}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_with_a_link_works_on_keys_and_signs_out() {
    if !has_chromium() {
        return;
    }
    let served = BrowserSite::start(PERSON, here).await;
    let (link, _) = served.site.link("asha").await;
    let (page, mut told) = served.open(&format!("/dashboard/link#{}", link.text()), &[]).await;
    for key in [told["key"].take(), told["rotated"].take()] {
        let key: state::ApiKey = key.as_str().unwrap().parse().unwrap();
        assert!(served.site.state.find_key(&key.hash()).await.unwrap().is_some());
        assert!(
            !page.contains(&key.expose()[10..37]),
            "a key stays on the page after the sign-out"
        );
    }
    insta::assert_snapshot!(without_ids(&format!("{told:#}")), @r#"
    {
      "after": [
        "You are signed out.",
        0,
        "",
        "door-title"
      ],
      "audit": [
        "You revoked the key Shop <b>window</b> KEY",
        "You rotated the key Shop <b>window</b>; the old one ends Nov 22, 2026, 12:00 PM KEY",
        "You renamed the key Mobile app to Shop <b>window</b> KEY",
        "You made the key Mobile app KEY",
        "You signed in with a link",
        "The operator made a link to sign in with, until Nov 21, 2026, 12:15 PM",
        "Your account was made"
      ],
      "door": [
        "You opened a link that signs you in once. Go on if you asked for it.",
        "Sign in with this link",
        ""
      ],
      "field": [
        "ask-name",
        "Mobile app"
      ],
      "focus": "fresh-title",
      "focusBack": "Rename Shop <b>window</b>",
      "focusRevoked": "keys-title",
      "focusRotated": "fresh-title",
      "kept": 0,
      "key": null,
      "past": "Keys that are over (1)",
      "path": "/dashboard/",
      "rotated": null,
      "states": [
        "Active",
        "Ending"
      ],
      "who": "asha"
    }
    "#);
}

/// Removes ids and timestamps, which differ between runs.
fn without_ids(text: &str) -> String {
    let mut told = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("key_") {
        told.push_str(&rest[..at]);
        told.push_str("KEY");
        rest = &rest[at + "key_".len() + 12..];
    }
    told + rest
}

/// Script that reports the accessibility findings of axe for the current page.
const AXE: &str = r"
const look = async () => {
  const found = await axe.run(document, { resultTypes: ['violations'] });
  return found.violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(' | ')}`);
};
await import('/test/axe.js');
const found = {};
await until(() => shown('door'));
found.door = await look();
$('door-button').click();
await until(() => shown('inside') && $('keys').children.length && $('usage').children.length && $('quota').children.length && $('audit').children.length);
found.inside = await look();
document.querySelector('.figures').open = true;
document.querySelector('.past')?.setAttribute('open', '');
$('create-name').value = 'Another';
$('create').requestSubmit();
await until(() => shown('fresh'));
found.fresh = await look();
found.overflows = document.documentElement.scrollWidth > document.documentElement.clientWidth;
document.querySelector('.key-acts button:nth-child(2)').click();
await until(() => $('ask').open);
found.dialog = await look();
tell(found);
";

/// Creates the keys and usage of an account that has existed for some time.
pub(crate) async fn lived_in(site: &Site, account: &state::AccountId) {
    let actor = state::Actor::Account(account.clone());
    let now = data_model::Clock::now(&*site.clock);
    let mut entries = Vec::new();
    for (nth, name) in ["Mobile app", "Price watch", "Старый ключ", "Trial"]
        .into_iter()
        .enumerate()
    {
        let new = state::NewKey {
            name: name.parse().unwrap(),
            plan: if nth == 1 {
                state::Plan::Granted
            } else {
                state::Plan::Free
            },
            account: Some(account.clone()),
        };
        let at = now.plus_millis(i64::try_from(nth).unwrap() * 1000);
        let key = site.state.create_key(new, &actor, at).await.unwrap().record.id;
        let today = Day::of(now, "Asia/Kolkata".parse().unwrap());
        let routes = [
            "/v1/search",
            "/v1/products/{ident}",
            "/v1/prices",
            "/v1/suggest",
            "/v1/browse",
            "/v1/coupons",
            "/v1/me",
        ];
        for back in 0..26 {
            for (at, route) in routes.iter().enumerate() {
                let requests = (7919 * (back + 3) * (at + 2) * (nth + 1)) % (4000 / (at + 1));
                entries.push(UsageEntry {
                    key: key.clone(),
                    day: today.plus(-i64::try_from(back).unwrap()),
                    route: (*route).to_owned(),
                    requests: requests as u64,
                });
            }
        }
        if nth == 2 {
            site.state.revoke_key(&key, &actor, at).await.unwrap();
        }
        if nth == 3 {
            let day = std::time::Duration::from_secs(86_400);
            site.state.rotate_key(&key, day, &actor, at).await.unwrap();
        }
    }
    site.state.add_usage(&UsageBatch::new(entries)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn axe_finds_nothing_serious_on_the_page_light_or_dark_wide_or_narrow() {
    if !has_chromium() || peer("axe-core").is_none() {
        return;
    }
    for (scheme, place) in [("1", "/dashboard/link"), ("0", "/test/telephone?/dashboard/link")] {
        let served = BrowserSite::start(AXE, here).await;
        let (link, account) = served.site.link("asha").await;
        lived_in(&served.site, &account).await;
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
        let path = format!("{place}#{}", link.text());
        let (_, told) = served.open(&path, &[&scheme, "--window-size=1280,900"]).await;
        assert_eq!(told["overflows"], false, "{place} is wider than its window");
        let states = ["door", "inside", "fresh", "dialog"];
        let found = states.iter().flat_map(|state| {
            let found = told[state].as_array().unwrap_or_else(|| panic!("{told}"));
            found
                .iter()
                .map(move |one| format!("{state}: {}", one.as_str().unwrap()))
        });
        let serious = found.filter(|one| one.contains(": serious ") || one.contains(": critical "));
        let serious: Vec<_> = serious.collect();
        assert!(serious.is_empty(), "{place}: {}", serious.join("\n"));
    }
}

/// Script of a visitor who arrives while the state database is not available, and waits.
const WAITING: &str = r"
await until(() => shown('banner'));
const seen = { said: $('banner').textContent, door: shown('door'), inside: shown('inside') };
await fetch('/test/back', { method: 'POST' });
await until(() => shown('door'));
tell({ ...seen, banner: shown('banner'), text: $('door-text').textContent });
";

#[tokio::test(flavor = "multi_thread")]
async fn the_page_says_that_the_state_is_gone_and_goes_on_by_itself() {
    if !has_chromium() {
        return;
    }
    let served = BrowserSite::start(WAITING, here).await;
    let (_, told) = served.open("/dashboard/", &[]).await;
    insta::assert_snapshot!(format!("{told:#}"), @r#"
    {
      "banner": false,
      "door": false,
      "inside": false,
      "said": "Keys and sessions cannot be read at the moment. Try again shortly.",
      "text": "Ask the operator of this server for a link to sign in with: the command haat keys dashboard prints one."
    }
    "#);
}
