use axum::body::Body;
use http::header;

use crate::support::{Browser, Site};

/// Paths of all files of the page.
const PARTS: [&str; 13] = [
    "",
    "link",
    "app.css",
    "app.js",
    "audit.js",
    "base.css",
    "chart.js",
    "dom.js",
    "keys.js",
    "mails.js",
    "server.js",
    "sessions.js",
    "sign_in.js",
];

#[tokio::test]
async fn every_part_of_the_page_allows_nothing_but_the_page_itself() {
    let site = Site::new().await;
    for part in PARTS {
        let mut browser = Browser::new(&site);
        let request = browser.plain("GET", &format!("/dashboard/{part}"));
        let answer = browser.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, 200, "{part}");
        let told = ["content-security-policy", "referrer-policy", "x-content-type-options"];
        let told = told.map(|name| format!("{name}: {}", answer.header(name)));
        insta::allow_duplicates! {
            insta::assert_snapshot!(told.join("\n"), @r#"
            content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
            referrer-policy: no-referrer
            x-content-type-options: nosniff
            "#);
        }
        assert_eq!(answer.cookies(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_page_holds_no_script_or_style_of_its_own_and_nothing_from_elsewhere() {
    let site = Site::new().await;
    let page = Browser::new(&site).get("/dashboard/").await.text();
    for part in page
        .split('<')
        .filter(|part| part.starts_with("script") || part.starts_with("link"))
    {
        assert!(part.contains("\"/dashboard/") || part.contains("data:image"), "{part}");
    }
    let inline = |text: &str| page.contains(text);
    assert!(!inline(" style=") && !inline("<style") && !inline(" onclick=") && !inline("javascript:"));
    for part in PARTS {
        let text = Browser::new(&site).get(&format!("/dashboard/{part}")).await.text();
        for (at, _) in text.match_indices("http") {
            let address = &text[at..];
            let named = ["http://www.w3.org/", "http-equiv", "https://www.w3.org/"];
            assert!(
                named.iter().any(|known| address.starts_with(known)),
                "{part}: {address:.60}"
            );
        }
    }
}

#[tokio::test]
async fn the_page_without_its_last_slash_leads_to_it_and_other_paths_are_problems() {
    let site = Site::new().await;
    let mut browser = Browser::new(&site);
    let moved = browser.get("/dashboard").await;
    assert_eq!((moved.status.as_u16(), moved.header("location")), (308, "/dashboard/"));
    browser.get("/dashboard/none").await.refused(404, "route_not_found");
    browser.get("/dashboard/api/none").await.refused(404, "route_not_found");
    let wrong = browser.delete("/dashboard/api/keys").await;
    wrong.refused(405, "method_not_allowed");
    assert!(wrong.headers.contains_key(header::ALLOW));
    let unsent = browser.get("/dashboard/callback?code=a&state=b").await;
    unsent.refused(404, "route_not_found");
}
