//! Tests of pages in other encodings than UTF-8.

use axum::Router;
use axum::body::Body;
use axum::http::Response;
use axum::routing::get;
use storefront::{FetchOutcome, StoreError};

use crate::served::{config, serve, store};
use crate::support::page;

#[tokio::test]
async fn a_page_in_latin_1_is_read_as_one_and_a_label_alone_makes_none() {
    let latin: &[u8] = b"{\"title\":\"Caf\xe9 \x80 5\"}";
    for (charset, body, expected) in [
        ("iso-8859-1", latin, "{\"title\":\"Caf\u{e9} \u{20ac} 5\"}".as_bytes()),
        (
            "\"Windows-1252\"",
            latin,
            "{\"title\":\"Caf\u{e9} \u{20ac} 5\"}".as_bytes(),
        ),
        ("utf-8", latin, latin),
        // Browsers support these encodings too.
        (
            "Shift_JIS",
            &b"{\"title\":\"\x83R\x81[\x83q\x81[\"}"[..],
            "{\"title\":\"\u{30b3}\u{30fc}\u{30d2}\u{30fc}\"}".as_bytes(),
        ),
        ("no-such", latin, latin),
        (
            "iso-8859-1",
            "{\"title\":\"Caf\u{e9}\"}".as_bytes(),
            "{\"title\":\"Caf\u{e9}\"}".as_bytes(),
        ),
    ] {
        let content_type = format!("application/json; charset={charset}");
        let router = Router::new().route(
            "/{kind}",
            get(move || async move {
                Response::builder()
                    .header("content-type", content_type)
                    .body(Body::from(body))
                    .unwrap()
            }),
        );
        let fetched = store(config(), serve(router).await).meta().await.unwrap();
        assert_eq!(page(fetched).bytes, expected, "{charset}");
    }
}

#[tokio::test]
async fn a_page_without_a_label_is_in_latin_1_where_nothing_of_it_is_a_letter_of_utf_8() {
    let latin = b"{\"title\":\"Caf\xe9 \x80 5\"}".to_vec();
    let fetched = told("application/json", latin).await.unwrap();
    assert_eq!(page(fetched).bytes, "{\"title\":\"Caf\u{e9} \u{20ac} 5\"}".as_bytes());
    let damaged = b"{\"title\":\"Caf\xc3\xa9 \xe9\"}".to_vec();
    let fetched = told("application/json", damaged.clone()).await.unwrap();
    assert_eq!(page(fetched).bytes, damaged);
}

fn utf16(text: &str, is_low_first: bool) -> Vec<u8> {
    let bytes = |unit: u16| match is_low_first {
        true => unit.to_le_bytes(),
        false => unit.to_be_bytes(),
    };
    text.encode_utf16().flat_map(bytes).collect()
}

async fn told(content_type: &str, body: Vec<u8>) -> Result<FetchOutcome, StoreError> {
    let content_type = content_type.to_owned();
    let router = Router::new().route(
        "/{kind}",
        get(move || async move {
            Response::builder()
                .header("content-type", content_type)
                .body(Body::from(body))
                .unwrap()
        }),
    );
    store(config(), serve(router).await).meta().await
}

#[tokio::test]
async fn a_page_in_utf_16_is_read_as_one_by_its_mark_or_its_label() {
    let text = "{\"title\":\"Caf\u{e9} \u{1f375} \u{91a}\"}";
    let marked = format!("\u{feff}{text}");
    for (content_type, body) in [
        ("application/json; charset=utf-16", utf16(&marked, true)),
        ("application/json; charset=utf-16", utf16(&marked, false)),
        ("application/json; charset=UTF-16", utf16(text, true)),
        ("application/json; charset=utf-16", utf16(text, false)),
        ("application/json; charset=utf-16le", utf16(text, true)),
        ("application/json; charset=utf-16be", utf16(text, false)),
        // The byte order mark suffices to identify the encoding.
        ("application/json", utf16(&marked, true)),
        ("application/json; charset=utf-8", utf16(&marked, false)),
        // A UTF-16 label does not suffice to treat the text as UTF-16.
        ("application/json; charset=utf-16", text.as_bytes().to_vec()),
    ] {
        let read = page(told(content_type, body).await.unwrap());
        assert_eq!(String::from_utf8_lossy(&read.bytes), text, "{content_type}");
    }
}

#[tokio::test]
async fn a_page_in_utf_16_that_ends_early_or_is_no_json_is_judged_as_any_other() {
    let mut torn = utf16("{\"products\":[{\"id\":1}]}", true);
    torn.pop();
    let content_type = "application/json; charset=utf-16le";
    for (body, is_torn) in [(torn, true), (utf16("<html></html>", true), false)] {
        let refused = told(content_type, body).await.unwrap_err();
        let as_expected = match is_torn {
            true => matches!(refused, StoreError::Truncated),
            false => matches!(refused, StoreError::NotJson { .. }),
        };
        assert!(as_expected, "{refused:?}");
    }
}
