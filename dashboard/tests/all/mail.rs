use dashboard::DashboardConfig;
use mailer::MailConfig;
use serde_json::{Value, json};
use state::AuditQuery;

use crate::browser::{BrowserSite, has_chromium};
use crate::guests::{carts, guest, put};
use crate::support::{Answer, Browser, Site, config};

/// Configures a site that shows its mails, like the demo.
pub(crate) fn shown() -> DashboardConfig {
    let mail = MailConfig {
        outbox: true,
        ..MailConfig::default()
    };
    DashboardConfig { mail, ..config() }
}

pub(crate) async fn ask(browser: &mut Browser<'_>, email: &str) -> Answer {
    browser.post("/dashboard/api/mail", &json!({ "email": email })).await
}

pub(crate) fn token(text: &str) -> String {
    let (_, link) = text.split_once("https://market.example/dashboard/link#").unwrap();
    link.split_whitespace().next().unwrap().to_owned()
}

/// Returns the mails that the site shows, the newest first.
async fn mails(site: &Site) -> Vec<Value> {
    let told = Browser::new(site).get("/dashboard/api/mails").await.data();
    told.as_array().unwrap().clone()
}

/// Requests a sign-in link and signs in with the link of the newest mail.
async fn sign_in(browser: &mut Browser<'_>, email: &str) {
    assert_eq!(ask(browser, email).await.status, 202);
    let mail = mails(browser.site).await.remove(0);
    let told = use_link(browser, &token(mail["text"].as_str().unwrap())).await;
    assert_eq!(told.data(), json!({ "signed_in": true }));
}

async fn use_link(browser: &mut Browser<'_>, token: &str) -> Answer {
    browser.post("/dashboard/api/link", &json!({ "token": token })).await
}

#[tokio::test]
async fn a_mailed_link_signs_in_once_within_its_time_and_its_account_makes_keys() {
    let site = Site::with(shown()).await;
    let mut browser = Browser::new(&site);
    let here = browser.get("/dashboard/api/session").await.data();
    assert_eq!(
        (&here["mail"], &here["mails_page"]),
        (&json!(true), &json!("/demo/mail"))
    );
    let told = ask(&mut browser, "Asha@Mail.Example").await;
    assert_eq!((told.status.as_u16(), told.data()), (202, json!({ "minutes": 15 })));
    let mail = mails(&site).await.remove(0);
    let token = token(mail["text"].as_str().unwrap());
    let text = mail["text"].as_str().unwrap().replace(&token, "TOKEN");
    assert_eq!(
        (&mail["to"], &mail["subject"]),
        (&json!("asha@mail.example"), &json!("Sign in at market.example"))
    );
    insta::assert_snapshot!(text, @r"
    Open this link to sign in at https://market.example:

    https://market.example/dashboard/link#TOKEN

    The link works once, within 15 minutes. If you did not request it, ignore this e-mail: without the link nobody can sign in as you.
    ");
    assert_eq!(
        use_link(&mut browser, &token).await.data(),
        json!({ "signed_in": true })
    );
    let here = browser.get("/dashboard/api/session").await.data();
    assert_eq!(here["account"]["name"], "asha@mail.example");
    let made = browser.post("/dashboard/api/keys", &json!({ "name": "App" })).await;
    assert_eq!(made.data()["plan"], "free");
    let again = use_link(&mut Browser::new(&site), &token).await;
    again.refused(403, "forbidden");
    assert_eq!(again.json()["why"], "used");

    ask(&mut browser, "asha@mail.example").await;
    let late = mails(&site).await.remove(0);
    site.clock.advance_ms(900_000);
    let late = use_link(&mut Browser::new(&site), &self::token(late["text"].as_str().unwrap())).await;
    late.refused(403, "forbidden");
    assert_eq!(late.json()["why"], "late");
}

/// Requests a sign-in link that continues at `return_to`.
async fn ask_from(browser: &mut Browser<'_>, return_to: &str) -> Answer {
    let body = json!({ "email": "asha@mail.example", "return_to": return_to });
    browser.post("/dashboard/api/mail", &body).await
}

#[tokio::test]
async fn a_mailed_link_leads_on_to_the_page_that_its_person_came_from_and_to_no_other_site() {
    let site = Site::with(shown()).await;
    let mut browser = Browser::new(&site);
    for elsewhere in [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "/.//evil.example",
        "javascript:alert(1)",
        "/a b",
    ] {
        let refused = ask_from(&mut browser, elsewhere).await;
        refused.refused(422, "validation");
        assert_eq!(refused.json()["detail"][0]["loc"], json!(["body", "return_to"]));
    }
    assert_eq!(mails(&site).await, Vec::<Value>::new());
    let told = ask_from(&mut browser, "/?q=tea%20pot&in_stock=true#cart").await;
    assert_eq!(told.status, 202);
    let mail = mails(&site).await.remove(0);
    let mut words = mail["text"].as_str().unwrap().split_whitespace();
    let link = words.find(|word| word.contains("/dashboard/link")).unwrap();
    let link = url::Url::parse(link).unwrap();
    let query = link.query_pairs().map(|(name, value)| format!("{name}={value}"));
    assert_eq!(
        query.collect::<Vec<_>>(),
        ["return_to=/?q=tea%20pot&in_stock=true#cart"]
    );
    let told = use_link(&mut browser, link.fragment().unwrap()).await;
    assert_eq!(told.data(), json!({ "signed_in": true }));
}

#[tokio::test]
async fn signing_in_by_mail_takes_the_guests_cart_along_and_a_second_session_has_it_too() {
    let site = Site::with(shown()).await;
    let mut browser = guest(&site).await;
    let cart = "0".repeat(32);
    put(&browser, &cart).await;
    sign_in(&mut browser, "asha@mail.example").await;
    assert_eq!(carts(&mut browser).await, [json!(cart)]);
    let (mut second, mut other) = (Browser::new(&site), Browser::new(&site));
    sign_in(&mut second, "asha@mail.example").await;
    assert_eq!(carts(&mut second).await, [json!(cart)]);
    sign_in(&mut other, "other@mail.example").await;
    assert_eq!(carts(&mut other).await, Vec::<Value>::new());
}

#[tokio::test]
async fn whether_an_address_is_known_is_not_told_and_the_audit_masks_it() {
    let site = Site::with(shown()).await;
    sign_in(&mut Browser::new(&site), "asha@mail.example").await;
    let mut browser = Browser::new(&site);
    let known = ask(&mut browser, "asha@mail.example").await;
    let unknown = ask(&mut browser, "ravi@mail.example").await;
    let told = |answer: &Answer| (answer.status, answer.data(), answer.cookies());
    assert_eq!(told(&known), told(&unknown));
    let audit = site.state.audit(&AuditQuery::default(), 100).await.unwrap();
    let links = audit.iter().filter(|event| event.action.as_str() == "link.created");
    let mailed: Vec<_> = links.map(|event| event.detail["mailed_to"].clone()).collect();
    assert_eq!(mailed, ["r***@mail.example", "a***@mail.example", "a***@mail.example"]);
    let audit = format!("{audit:?}");
    assert!(!audit.contains("asha") && !audit.contains("ravi"), "{audit}");
}

#[tokio::test]
async fn mails_are_counted_by_address_by_network_and_together() {
    let site = Site::with(shown()).await;
    let from = |address: &str| {
        let mut browser = Browser::new(&site);
        browser.from = address.parse().ok();
        browser
    };
    for nth in 0..5 {
        let told = ask(&mut from(&format!("192.0.2.{nth}")), "asha@mail.example").await;
        assert_eq!(told.status, 202);
    }
    let refused = ask(&mut from("198.51.100.1"), "ASHA@mail.example").await;
    refused.refused(429, "rate_limit");
    assert_eq!(refused.header("retry-after"), "3600");
    let mut one = from("203.0.113.1");
    for nth in 0..20 {
        assert_eq!(ask(&mut one, &format!("a{nth}@mail.example")).await.status, 202);
    }
    ask(&mut one, "a20@mail.example").await.refused(429, "rate_limit");
    assert_eq!(ask(&mut from("198.51.100.1"), "a20@mail.example").await.status, 202);
    // The site keeps only the newest 20 mails.
    assert_eq!(mails(&site).await.len(), 20);
    site.clock.advance_ms(3_600_000);
    assert_eq!(ask(&mut one, "asha@mail.example").await.status, 202);

    let mut few = shown();
    few.mail.per_hour_max = 1;
    let site = Site::with(few).await;
    assert_eq!(ask(&mut Browser::new(&site), "a@mail.example").await.status, 202);
    let refused = ask(&mut Browser::new(&site), "b@mail.example").await;
    refused.refused(429, "rate_limit");
}

#[tokio::test]
async fn an_address_that_ends_a_line_or_names_another_is_refused_by_name_and_nothing_is_mailed() {
    let site = Site::with(shown()).await;
    let mut browser = Browser::new(&site);
    for email in [
        json!("asha@mail.example\r\nBcc: b@mail.example"),
        json!("asha@mail.example\nSubject: x"),
        json!("asha@mail.example, b@mail.example"),
        json!("<asha@mail.example>"),
        json!("asha"),
        json!(""),
        json!(7),
        Value::Null,
    ] {
        let refused = browser.post("/dashboard/api/mail", &json!({ "email": email })).await;
        refused.refused(422, "validation");
        assert_eq!(refused.json()["detail"][0]["loc"], json!(["body", "email"]), "{email}");
    }
    assert_eq!(mails(&site).await, Vec::<Value>::new());
    assert_eq!(site.state.audit(&AuditQuery::default(), 1).await.unwrap(), []);
    let foreign = browser.plain("POST", "/dashboard/api/mail");
    let foreign = foreign.header("content-type", "application/json");
    let body = axum::body::Body::from(r#"{"email":"asha@mail.example"}"#);
    browser
        .send(foreign.body(body).unwrap())
        .await
        .refused(403, "forbidden");
}

#[tokio::test]
async fn a_site_without_mail_says_so_and_shows_none() {
    let site = Site::new().await;
    let mut browser = Browser::new(&site);
    let here = browser.get("/dashboard/api/session").await.data();
    assert_eq!((&here["mail"], &here["mails_page"]), (&json!(false), &Value::Null));
    let refused = ask(&mut browser, "asha@mail.example").await;
    refused.refused(404, "route_not_found");
    assert_eq!(
        refused.json()["detail"],
        "This server sends no e-mails: dashboard.mail is not set."
    );
    for path in ["/dashboard/api/mails", "/demo/mail"] {
        browser.get(path).await.refused(404, "route_not_found");
    }
}

/// Script of a user who requests a link by mail, finds the mail on the demo's page, and follows the link.
const PERSON: &str = r"
const keep = (name, value) => sessionStorage.setItem(name, JSON.stringify(value));
const kept = (name) => JSON.parse(sessionStorage.getItem(name));
const look = async () => {
  await import('/test/axe.js');
  const found = window.axe ? await axe.run(document, { resultTypes: ['violations'] }) : { violations: [] };
  return found.violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id }) => id);
};
if (location.pathname === '/demo/mail') {
  await until(() => document.querySelector('.mail a'));
  keep('mails', await look());
  document.querySelector('.mail a').click();
} else if (location.pathname === '/dashboard/link') {
  await until(() => shown('door'));
  const form = shown('door-mail');
  $('door-button').click();
  await until(() => shown('inside') && $('audit').children.length === 3);
  const audit = [...$('audit').querySelectorAll('li > p:first-child')].map((one) => one.textContent);
  tell({ said: kept('said'), door: kept('door'), mails: kept('mails'), form, who: $('who-name').textContent, audit });
} else {
  await until(() => shown('door-mail'));
  $('door-email').value = 'Asha@Mail.Example';
  $('door-mail').requestSubmit();
  await until(() => $('door-said').querySelector('a'));
  keep('said', $('door-said').textContent);
  keep('door', await look());
  $('door-said').querySelector('a').click();
}
";

#[tokio::test(flavor = "multi_thread")]
async fn a_person_has_a_link_mailed_and_signs_in_with_it_in_the_browser_alone() {
    if !has_chromium() {
        return;
    }
    let served = BrowserSite::start(PERSON, |origin| DashboardConfig {
        public_url: origin.to_owned(),
        ..shown()
    })
    .await;
    let (_, told) = served.open("/dashboard/", &[]).await;
    insta::assert_snapshot!(format!("{told:#}"), @r#"
    {
      "audit": [
        "You signed in with a link",
        "Somebody had a link to sign in with mailed, until Nov 21, 2026, 12:15 PM",
        "Your account was made"
      ],
      "door": [],
      "form": false,
      "mails": [],
      "said": "A link is on its way to Asha@Mail.Example. It works once, within 15 minutes. This demo sends no mail, and shows it here",
      "who": "asha@mail.example"
    }
    "#);
}
