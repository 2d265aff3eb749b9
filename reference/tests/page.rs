//! Tests of the page and its files through the crate's public API.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use api::{EdgeConfig, EdgeRouter};
use axum::body::Body;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt;

const FILES: [(&str, &str); 5] = [
    ("", "text/html; charset=utf-8"),
    ("reference.css", "text/css; charset=utf-8"),
    ("reference.js", "text/javascript; charset=utf-8"),
    ("swagger-ui.css", "text/css; charset=utf-8"),
    ("swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
];

fn site() -> EdgeRouter {
    reference::open_router().edge(EdgeConfig::default())
}

async fn ask(site: &EdgeRouter, path: &str, more: &[(&str, &str)]) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut request = Request::builder().uri(path);
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    let (parts, body) = site.answer(request.body(Body::empty()).unwrap()).await.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes().to_vec();
    (parts.status, parts.headers, bytes)
}

#[tokio::test]
async fn every_part_of_the_page_allows_nothing_but_its_own_server() {
    let site = site();
    for (name, media_type) in FILES {
        let (status, headers, body) = ask(&site, &format!("/docs/{name}"), &[]).await;
        assert_eq!(
            (status, &headers[header::CONTENT_TYPE]),
            (StatusCode::OK, &media_type.parse().unwrap())
        );
        assert!(body.len() > 500, "{name}");
        let told = ["content-security-policy", "referrer-policy", "x-content-type-options"];
        let told = told.map(|name| format!("{name}: {}", headers[name].to_str().unwrap()));
        insta::allow_duplicates! {
            insta::assert_snapshot!(told.join("\n"), @r"
            content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            referrer-policy: no-referrer
            x-content-type-options: nosniff
            ");
        }
    }
}

#[tokio::test]
async fn the_page_holds_no_script_or_style_of_its_own_and_nothing_from_elsewhere() {
    let site = site();
    let (_, _, page) = ask(&site, "/docs/", &[]).await;
    let page = String::from_utf8(page).unwrap();
    for inline in [
        " style=",
        "<style",
        " onclick=",
        "javascript:",
        "<script>",
        "src=\"http",
        "href=\"http",
    ] {
        assert!(!page.contains(inline), "{inline}");
    }
    for (name, _) in FILES {
        assert!(name.is_empty() || page.contains(&format!("\"{name}\"")), "{name}");
    }
    assert!(page.contains("<a href=\"../v1/changelog\">"), "{page}");
}

#[tokio::test]
async fn files_are_compressed_once_and_known_ones_are_not_sent_again() {
    let site = site();
    let (_, _, plain) = ask(&site, "/docs/swagger-ui-bundle.js", &[]).await;
    let (_, headers, short) = ask(&site, "/docs/swagger-ui-bundle.js", &[("accept-encoding", "br")]).await;
    assert_eq!(headers[header::CONTENT_ENCODING], "br");
    assert!(short.len() * 2 < plain.len(), "{} of {}", short.len(), plain.len());
    let tag = headers[header::ETAG].to_str().unwrap();
    let (status, _, body) = ask(&site, "/docs/swagger-ui-bundle.js", &[("if-none-match", tag)]).await;
    assert_eq!((status, body.len()), (StatusCode::NOT_MODIFIED, 0));
}

#[tokio::test]
async fn the_page_without_its_last_slash_leads_to_it_and_other_files_are_absent() {
    let site = site();
    let (status, headers, _) = ask(&site, "/docs", &[]).await;
    assert_eq!(
        (status, &headers[header::LOCATION]),
        (StatusCode::PERMANENT_REDIRECT, &"docs/".parse().unwrap())
    );
    for absent in ["/docs/swagger-ui.js", "/docs/../Cargo.toml", "/docs/index.html"] {
        assert_eq!(ask(&site, absent, &[]).await.0, StatusCode::NOT_FOUND, "{absent}");
    }
}
