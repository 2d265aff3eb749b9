//! Test of sign-in at a third-party provider in Chromium.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use dashboard::{DashboardConfig, OidcConfig};
use data_model::Secret;
use serde_json::{Value, json};

use crate::browser::{BrowserSite, has_chromium, here, peer};

const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/peers/browser/provider.mjs");
const SECRET: &str = "a client: secret/of 32+ characters";

/// Process of the provider, which ends when its standard input closes, even if the test process crashes.
struct Provider {
    issuer: String,
    process: Child,
}

impl Provider {
    fn start(origin: &str, modules: &std::path::Path) -> Self {
        let mut process = Command::new("node")
            .arg(PROGRAM)
            .arg(modules)
            .args([&format!("{origin}/dashboard/callback"), SECRET])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let told = lines.by_ref().find(|line| line.as_ref().unwrap().starts_with('{'));
        let told: Value = serde_json::from_str(&told.unwrap().unwrap()).unwrap();
        // The rest of the output must be read too, or the process would block.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            issuer: told["issuer"].as_str().unwrap().to_owned(),
            process,
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// Script that signs in at the provider, creates a key and signs out.
const PERSON: &str = r"
await until(() => shown('door') || shown('inside'));
if (shown('door') && sessionStorage.getItem('door')) {
  tell({ refused: $('door-wrong').textContent });
} else if (shown('door')) {
  sessionStorage.setItem('door', $('door-button').textContent);
  $('door-button').click();
} else {
  const seen = { door: sessionStorage.getItem('door'), who: $('who-name').textContent, address: location.pathname + location.search };
  await until(() => $('sessions').children.length && $('audit').children.length);
  seen.audit = [...$('audit').querySelectorAll('li > p:first-child')].map((one) => one.textContent);
  $('create-name').value = 'App';
  $('create').requestSubmit();
  await until(() => shown('fresh'));
  $('sign-out').click();
  await until(() => shown('door'));
  seen.after = $('door-wrong').textContent;
  seen.cookies = document.cookie;
  tell(seen);
}
";

#[tokio::test(flavor = "multi_thread")]
async fn a_person_signs_in_at_a_real_provider() {
    let Some(package) = peer("oidc-provider").filter(|_| has_chromium()) else {
        return;
    };
    let mut provider = None;
    let served = BrowserSite::start(PERSON, |origin| {
        let started = Provider::start(origin, package.parent().unwrap());
        let oidc = OidcConfig {
            issuer: started.issuer.clone(),
            client_id: "haat".to_owned(),
            client_secret: Secret::new(SECRET),
            ..OidcConfig::default()
        };
        provider = Some(started);
        DashboardConfig { oidc, ..here(origin) }
    })
    .await;
    // The provider's tokens contain the system time, so the site's clock must match it.
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let shown = data_model::Clock::now(&*served.site.clock).micros() / 1000;
    served.site.clock.advance_ms(i64::try_from(now).unwrap() - shown);
    let (_, told) = served.open("/dashboard/", &[]).await;
    assert_eq!(
        told,
        json!({
            "door": "Sign in with 127.0.0.1",
            "who": "asha@shop.example",
            "address": "/dashboard/",
            "audit": ["You signed in at the provider", "Your account was made"],
            "after": "You are signed out.",
            "cookies": "",
        })
    );
}
