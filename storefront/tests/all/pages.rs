//! Tests of the interpretation of stores' responses, and of the URLs of pages.

use crate::support::{Reply, clock, ok, page, pages, redirect, status, store, store_at, storefront, unpaced};
use data_model::{Classify, ErrorCode};
use rstest::rstest;
use storefront::address::Refusal;
use storefront::{Accept, RedirectFault, StoreError, Storefront, StorefrontConfig};

fn html(status: u16) -> Reply {
    Reply::Answer(
        status,
        vec![("content-type", "text/html; charset=utf-8".to_owned())],
        "<!doctype html><title>Hi</title>",
    )
}

async fn catalogue(reply: impl Fn() -> Reply + Send + Sync + 'static) -> StoreError {
    let config = StorefrontConfig {
        retries_max: 0,
        ..unpaced()
    };
    store(config, &pages(move |_, _| reply()))
        .products_page(1, 250, None)
        .await
        .unwrap_err()
}

/// Every refusal of platform.md 1.4 as a caller gets it: (error, code, transient).
#[tokio::test(start_paused = true)]
async fn each_refusal_has_its_own_name() {
    type Case = (&'static str, fn() -> Reply);
    let cases: [Case; 21] = [
        ("429", || status(429)),
        ("430", || html(430)),
        ("503 later", || {
            Reply::Answer(503, vec![("retry-after", "9".to_owned())], "")
        }),
        ("503", || status(503)),
        ("500", || html(500)),
        ("challenge 403", || {
            Reply::Answer(403, vec![("cf-mitigated", "challenge".to_owned())], "Just a moment...")
        }),
        ("challenge 503", || {
            Reply::Answer(503, vec![("cf-mitigated", "challenge".to_owned())], "")
        }),
        ("challenge page", || redirect(302, "/challenge")),
        ("password", || redirect(302, "/password")),
        ("password elsewhere", || {
            redirect(302, "https://www.brand.example/en-in/password?x=1")
        }),
        ("401", || status(401)),
        ("403", || html(403)),
        ("404", || html(404)),
        ("410", || status(410)),
        ("402", || status(402)),
        ("423", || status(423)),
        ("html", || html(200)),
        ("empty", || ok("")),
        ("cap", || {
            Reply::Answer(400, vec![], "Page * Limit exceeds the 25000 limit.")
        }),
        ("400", || status(400)),
        ("encoding", || {
            Reply::Answer(200, vec![("content-encoding", "zstd".to_owned())], "{}")
        }),
    ];
    let mut lines = Vec::new();
    for (name, reply) in cases {
        let error = catalogue(reply).await;
        let line = format!(
            "{name}: {error:?} {} {}",
            error.code(),
            if error.is_transient() { "transient" } else { "final" }
        );
        lines.push(line);
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    429: Throttled { retry_after: None } store_throttled transient
    430: Throttled { retry_after: None } store_throttled transient
    503 later: Throttled { retry_after: Some(9s) } store_throttled transient
    503: Status { status: 503 } store_unavailable transient
    500: Status { status: 500 } store_unavailable transient
    challenge 403: Challenged { status: 403 } store_unavailable transient
    challenge 503: Challenged { status: 503 } store_unavailable transient
    challenge page: Challenged { status: 302 } store_unavailable transient
    password: PasswordPage store_unavailable final
    password elsewhere: PasswordPage store_unavailable final
    401: CatalogueClosed { status: 401 } store_unavailable final
    403: CatalogueClosed { status: 403 } store_unavailable final
    404: CatalogueClosed { status: 404 } store_unavailable final
    410: CatalogueClosed { status: 410 } store_unavailable final
    402: Suspended { status: 402 } store_unavailable final
    423: Suspended { status: 423 } store_unavailable final
    html: NotJson { content_type: Some("text/html; charset=utf-8") } store_unavailable final
    empty: NotJson { content_type: None } store_unavailable final
    cap: PageCap store_unavailable final
    400: Status { status: 400 } store_unavailable final
    encoding: Encoding store_unavailable transient
    "#);
}

#[tokio::test]
async fn only_the_catalogue_is_closed_by_a_404() {
    let script = pages(|_, _| html(404));
    let store = store(unpaced(), &script);
    assert!(matches!(
        store.product_js("gone").await,
        Err(StoreError::Status { status: 404 })
    ));
    assert!(matches!(
        store.collection_products_page("gone", 1, 250, None).await,
        Err(StoreError::Status { status: 404 })
    ));
    assert!(matches!(store.meta().await, Err(StoreError::Status { status: 404 })));
}

#[tokio::test]
async fn json_is_known_by_its_first_octet() {
    for body in ["{}", " \n[1]", "\u{feff}{\"products\":[]}"] {
        let script = pages(move |_, _| Reply::Answer(200, vec![("content-type", "text/html".to_owned())], body));
        assert_eq!(page(store(unpaced(), &script).meta().await.unwrap()).bytes, body);
    }
    for body in ["", "\u{feff}", "<html>", "null", "true", "\"x\""] {
        let script = pages(move |_, _| Reply::Answer(200, vec![("content-type", "application/json".to_owned())], body));
        assert!(
            matches!(store(unpaced(), &script).meta().await, Err(StoreError::NotJson { .. })),
            "{body}"
        );
    }
}

#[tokio::test]
async fn pages_have_these_addresses() {
    let script = pages(|_, _| ok("{}"));
    let store = store_at("https://brand.example/en-in/", unpaced(), &script);
    store.meta().await.unwrap();
    store.products_page(3, 250, None).await.unwrap();
    store.collections_page(1, 30, None).await.unwrap();
    store.collection_products_page("a b/c?d#e", 2, 50, None).await.unwrap();
    store.product_js("चाय-100%").await.unwrap();
    store.product_html("tea").await.unwrap();
    store.get("/pages/shipping", Accept::Html).await.unwrap();
    insta::assert_snapshot!(script.urls().join("\n"), @r#"
    https://brand.example/robots.txt
    https://brand.example/en-in/meta.json
    https://brand.example/en-in/products.json?limit=250&page=3
    https://brand.example/en-in/collections.json?limit=30&page=1
    https://brand.example/en-in/collections/a%20b%2Fc%3Fd%23e/products.json?limit=50&page=2
    https://brand.example/en-in/products/%E0%A4%9A%E0%A4%BE%E0%A4%AF-100%25.js
    https://brand.example/en-in/products/tea
    https://brand.example/en-in/pages/shipping
    "#);
}

#[tokio::test]
async fn a_path_cannot_lead_to_another_host_or_out_of_its_place() {
    let script = pages(|_, _| ok("{}"));
    let root = store(unpaced(), &script);
    for path in [
        "",
        "x",
        "//evil.example/x",
        "/\\evil.example/x",
        "\\\\evil.example",
        "https://evil.example/",
        "@evil.example",
        "/\t/evil.example/",
    ] {
        assert!(
            matches!(root.get(path, Accept::Any).await, Err(StoreError::Url { .. })),
            "{path}"
        );
    }
    for handle in ["", ".", "..", "..\t", "a\nb"] {
        assert!(
            matches!(root.product_html(handle).await, Err(StoreError::Url { .. })),
            "{handle}"
        );
        assert!(
            matches!(
                root.collection_products_page(handle, 1, 1, None).await,
                Err(StoreError::Url { .. })
            ),
            "{handle}"
        );
    }
    assert_eq!(script.urls(), Vec::<String>::new());
}

#[rstest]
#[case("http://169.254.169.254/latest/meta-data/", "refused")]
#[case("https://2852039166/", "refused")]
#[case("https://[fd00:ec2::254]/", "refused")]
#[case("https://metadata.google.internal/", "refused")]
#[case("https://user@other.example/", "refused")]
#[case("https://other.example:8443/", "refused")]
#[case("file:///etc/passwd", "refused")]
#[case("//10.0.0.1/x", "refused")]
#[case("http://other.example/", "downgrade")]
#[case("https://127.0.0.1/", "refused")]
#[case("http://brand-0001.localhost:8080/", "refused")]
#[case("http://exa mple/", "location")]
#[tokio::test]
async fn a_redirect_leads_to_public_stores_only(#[case] location: &'static str, #[case] expected: &str) {
    let script = pages(move |_, _| redirect(302, location));
    let error = store(unpaced(), &script).meta().await.unwrap_err();
    let got = match &error {
        StoreError::AddressRefused { .. } => "refused",
        StoreError::Redirect {
            fault: RedirectFault::Downgrade,
            ..
        } => "downgrade",
        StoreError::Redirect {
            fault: RedirectFault::Location,
            ..
        } => "location",
        _ => "?",
    };
    assert_eq!(got, expected, "{error:?}");
    assert!(!error.is_transient());
    assert_eq!(error.code(), ErrorCode::StoreUnavailable);
    assert_eq!(script.page_times().len(), 1, "nothing else is asked");
}

#[tokio::test]
async fn a_public_store_does_not_lead_to_this_machine_even_where_loopback_is_allowed() {
    let script = pages(|_, _| redirect(302, "http://127.0.0.1:9200/"));
    let config = StorefrontConfig {
        allow_loopback: true,
        ..unpaced()
    };
    let error = store(config, &script).meta().await.unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Redirect {
                fault: RedirectFault::Inward,
                ..
            }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let script = pages(|url, _| redirect(307, if url.path() == "/a" { "/b" } else { "/a" }));
    let error = store(unpaced(), &script).get("/a", Accept::Any).await.unwrap_err();
    assert!(matches!(
        error,
        StoreError::Redirect {
            fault: RedirectFault::TooMany,
            ..
        }
    ));
    assert_eq!(script.page_times().len(), 6, "the page and five redirects");
}

#[tokio::test]
async fn redirects_are_followed_and_the_last_address_is_told() {
    let script = pages(|url, _| match url.path() {
        "/products/old" => redirect(301, "/products/new?variant=1#frag"),
        "/products/new" => redirect(308, "https://www.brand.example/products/new"),
        _ => ok("<html>"),
    });
    let config = StorefrontConfig {
        redirects_max: 2,
        ..unpaced()
    };
    let script2 = pages(|_, _| Reply::Answer(302, vec![], ""));
    assert!(matches!(
        store(config.clone(), &script2).meta().await,
        Err(StoreError::Redirect {
            fault: RedirectFault::Location,
            ..
        })
    ));
    let error = store(config, &script).product_html("old").await.unwrap_err();
    assert!(matches!(
        error,
        StoreError::Redirect {
            fault: RedirectFault::TooMany,
            ..
        }
    ));
}

#[tokio::test]
async fn a_store_is_made_from_a_public_address_only() {
    let front = storefront(StorefrontConfig::default(), &pages(|_, _| ok("{}")));
    let make = |url: &str| front.store(&url.parse().unwrap());
    assert_eq!(
        make("https://Brand.Example./").unwrap().base_url().as_str(),
        "https://brand.example/"
    );
    assert!(matches!(
        make("http://127.0.0.1:8080/"),
        Err(StoreError::AddressRefused {
            reason: Refusal::Loopback,
            ..
        })
    ));
    assert!(matches!(
        make("https://10.0.0.1/"),
        Err(StoreError::AddressRefused {
            reason: Refusal::NotPublic(_),
            ..
        })
    ));
    assert!(matches!(make("https://brand.example/?x"), Err(StoreError::Url { .. })));
    assert!(matches!(
        make("ftp://brand.example/"),
        Err(StoreError::AddressRefused {
            reason: Refusal::Scheme,
            ..
        })
    ));
}

#[test]
fn a_wrong_configuration_is_named_by_its_key() {
    let wrong = [
        StorefrontConfig {
            user_agent: String::new(),
            ..unpaced()
        },
        StorefrontConfig {
            user_agent: "haat/1 \n".to_owned(),
            ..unpaced()
        },
        StorefrontConfig {
            country: Some("India".to_owned()),
            ..unpaced()
        },
        StorefrontConfig {
            rate_start_per_s: 0.0,
            ..unpaced()
        },
        StorefrontConfig {
            rate_max_per_s: f64::NAN,
            ..unpaced()
        },
        StorefrontConfig {
            concurrency: 0,
            ..unpaced()
        },
        StorefrontConfig {
            robots_ttl_ms: 90_000_000,
            ..unpaced()
        },
    ];
    let keys: Vec<String> = wrong
        .into_iter()
        .map(|config| Storefront::new(config, clock()).unwrap_err().to_string())
        .map(|text| text.split(':').next().unwrap().to_owned())
        .collect();
    insta::assert_snapshot!(keys.join(" "), @"storefront.user_agent storefront.user_agent storefront.country storefront.rate_start_per_s storefront.rate_max_per_s storefront.concurrency storefront.robots_ttl_ms");
}

#[tokio::test(start_paused = true)]
async fn json_that_ends_with_its_connection_too_early_is_fetched_again() {
    for (cut, whole) in [
        ("{\"products\":[{\"id\":1", "{\"products\":[]}"),
        ("{\"products\":[{\"id\":1}", "{\"products\":[{\"a\":\"{[\\\"{\"}]}"),
        ("[1,", "[1]\n"),
    ] {
        let script = pages(move |_, nth| if nth == 0 { ok(cut) } else { ok(whole) });
        assert_eq!(page(store(unpaced(), &script).meta().await.unwrap()).bytes, whole);
    }
}

#[tokio::test]
async fn what_a_page_says_that_its_amounts_are_in_is_told() {
    let currency = |cookies: &[&'static str]| {
        let fields: Vec<_> = cookies
            .iter()
            .map(|cookie| ("set-cookie", (*cookie).to_owned()))
            .collect();
        let script = pages(move |_, _| Reply::Answer(200, fields.clone(), r#"{"products":[]}"#));
        async move {
            let fetched = store(unpaced(), &script).products_page(1, 250, None).await;
            page(fetched.unwrap()).cart_currency.map(|code| code.as_str())
        }
    };
    assert_eq!(
        currency(&["localization=IN; path=/", "cart_currency=INR; path=/; SameSite=Lax"]).await,
        Some("INR")
    );
    assert_eq!(currency(&["cart_currency=usd"]).await, Some("USD"));
    assert_eq!(
        currency(&["cart_currency=INR", "cart_currency=JPY; path=/"]).await,
        Some("JPY")
    );
    for nothing in [
        "cart=INR",
        "cart_currency",
        "cart_currency=",
        "cart_currency=Rupees",
        "x=1; cart_currency=INR",
    ] {
        assert_eq!(currency(&[nothing]).await, None, "{nothing}");
    }
}

#[tokio::test]
async fn a_redirect_that_is_not_followed_tells_from_where_to_where() {
    for (location, told) in [
        (
            "http://169.254.169.254/",
            "169.254.169.254:80, to which brand.example:443 redirects, is refused",
        ),
        (
            "file:///etc/passwd",
            "a file: address, to which brand.example:443 redirects, is refused",
        ),
        (
            "javascript:alert(1)",
            "a javascript: address, to which brand.example:443 redirects, is refused",
        ),
        (
            "http://other.example/x?key=1",
            "a redirect from brand.example:443 to other.example:80 is not followed: it changes from https to http",
        ),
    ] {
        let script = pages(move |_, _| redirect(302, location));
        let error = store(unpaced(), &script).meta().await.unwrap_err();
        assert_eq!(error.to_string(), told);
    }
}

#[tokio::test]
async fn a_part_of_a_page_is_no_page() {
    let script = pages(|_, _| Reply::Answer(206, vec![], r#"{"products":[]}"#));
    let store = store(unpaced(), &script);
    let partial = |answer: Result<_, StoreError>| matches!(answer, Err(StoreError::Status { status: 206 }));
    assert!(partial(store.products_page(1, 250, None).await));
    assert!(partial(store.product_html("tea").await) && partial(store.meta().await));
}
