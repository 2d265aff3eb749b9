//! Pages in other alphabets than UTF-8.

use axum::Router;
use axum::body::Body;
use axum::http::Response;
use axum::routing::get;

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
