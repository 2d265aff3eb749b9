use proptest::prelude::*;

use super::*;

fn context(base_url: &str) -> StoreContext {
    StoreContext {
        store: "stall.myshopify.com".parse().unwrap(),
        currency: "INR".parse().unwrap(),
        base_url: base_url.into(),
    }
}

fn of(stated: &str) -> Option<String> {
    address(stated, &context("https://stall.example"))
}

#[test]
fn addresses_are_passed_on_as_a_parser_writes_them() {
    for (stated, passed_on) in [
        ("https://cdn.example/a.jpg?v=1", "https://cdn.example/a.jpg?v=1"),
        (" http://cdn.example:80/a b.jpg\n", "https://cdn.example/a%20b.jpg"),
        ("//cdn.example/a.jpg", "https://cdn.example/a.jpg"),
        ("/files/a.jpg", "https://stall.example/files/a.jpg"),
        ("HTTPS://CDN.Example:443/A.jpg", "https://cdn.example/A.jpg"),
        ("https://cdn.example", "https://cdn.example/"),
        ("https://cdn.example/a/../b/./c", "https://cdn.example/b/c"),
        (
            "https://cdn.example/चाय™.jpg",
            "https://cdn.example/%E0%A4%9A%E0%A4%BE%E0%A4%AF%E2%84%A2.jpg",
        ),
        ("https://चाय.example/a?b=é", "https://xn--61b6b2b.example/a?b=%C3%A9"),
        ("https://93.184.216.34/a.jpg", "https://93.184.216.34/a.jpg"),
        ("https://[2606:4700::1111]/a.jpg", "https://[2606:4700::1111]/a.jpg"),
    ] {
        assert_eq!(of(stated).as_deref(), Some(passed_on), "{stated}");
    }
}

#[test]
fn what_no_browser_should_be_pointed_at_is_left_out() {
    let long = format!("https://cdn.example/{}", "é".repeat(400));
    assert!(long.len() < URL_BYTES_MAX, "before it is encoded");
    for stated in [
        "",
        "a.jpg",
        "data:image/png;base64,AAAA",
        "javascript:alert(1)//é",
        "ftp://cdn.example/a.jpg",
        "https://",
        "https://é\"><script>alert(1)</script>",
        "https://cdn.example/é\" onerror=\"alert(1)",
        "https://cdn.example/é'><svg>",
        "https://cdn.example/é`.jpg",
        "https://cdn.example/a\u{202e}gpj.jpg",
        "https://cdn.example/a\u{a0}b.jpg",
        "https://cdn.example/a\nb.jpg",
        "https://cdn.example\\é",
        "https://user:pw@cdn.example/é.jpg",
        "https://user@cdn.example/a.jpg",
        "//user:pw@cdn.example/a.jpg",
        "https://cdn.example@evil.example/a.jpg",
        "https://a b.example/",
        "https://cdn.example%22/a.jpg",
        "https://cdn.example:99999/a.jpg",
        "https://localhost/a.jpg",
        "https://a.LOCALHOST./a.jpg",
        "https://router/é.jpg",
        "https://printer.local/a.jpg",
        "https://db.internal/a.jpg",
        "https://127.0.0.1/a.jpg",
        "https://127.1/a.jpg",
        "https://2130706433/a.jpg",
        "https://0x7f000001/a.jpg",
        "https://0177.0.0.1/a.jpg",
        "https://%31%32%37.0.0.1/a.jpg",
        "https://１２７.0.0.1/a.jpg",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/a.jpg",
        "https://172.16.3.4/a.jpg",
        "https://192.168.1.1/a.jpg",
        "https://100.64.0.1/a.jpg",
        "https://0.0.0.0/a.jpg",
        "https://[::1]/é.jpg",
        "https://[::]/a.jpg",
        "https://[::ffff:127.0.0.1]/a.jpg",
        "https://[::ffff:a9fe:a9fe]/a.jpg",
        "https://[64:ff9b::a00:1]/a.jpg",
        "https://[2002:7f00:1::]/a.jpg",
        "https://[fe80::1]/a.jpg",
        "https://[fd00::1]/a.jpg",
        "https://[::127.0.0.1]/a.jpg",
        &long,
        &format!("https://cdn.example/{}", "a".repeat(URL_BYTES_MAX)),
    ] {
        assert_eq!(of(stated), None, "{stated}");
    }
}

#[test]
fn a_store_on_this_machine_may_state_its_own_address() {
    let store = context("http://127.0.0.1:8080/shop");
    let of = |stated: &str| address(stated, &store);
    for (stated, passed_on) in [
        ("/files/a.jpg", "http://127.0.0.1:8080/shop/files/a.jpg"),
        ("http://127.0.0.1:8080/shop/a.jpg", "http://127.0.0.1:8080/shop/a.jpg"),
        ("http://127.0.0.1:8080/é", "http://127.0.0.1:8080/%C3%A9"),
        ("//cdn.example/a.jpg", "http://cdn.example/a.jpg"),
        ("http://cdn.example/a.jpg", "http://cdn.example/a.jpg"),
        ("https://cdn.example/a.jpg", "https://cdn.example/a.jpg"),
    ] {
        assert_eq!(of(stated).as_deref(), Some(passed_on), "{stated}");
    }
    assert_eq!(of("http://127.0.0.2/a.jpg"), None);
    assert_eq!(of("http://127.0.0.1:8080@evil.example/shop/a.jpg"), None);
}

/// Generates parts of URLs, including some that URL parsers interpret differently.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z0-9]{1,4}",
        3 => prop::sample::select(vec![
            ".", "/", "?", "-", "--", "_", "..", "/.", "/..", "%", "%2e", "%2E", "/%2e%2e", "%20", "=", "&", "+", ":", "@", "#", ";",
            "!", "$", "(", ")", "*", ",", "~", "'", "|", "^", "[", "]", "{", "}", " ", "\\", "\"", "<", "é", "A", "xn--", "0x7f",
            "127", "localhost", "local", "arpa", "com", ":443", ":80", "//", "\t",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_short_cut_comes_to_what_the_parser_comes_to(
        start in prop::sample::select(vec![
            "https://", "https://cdn.example", "https://cdn.example/", "http://", "//", "/", "https://stall.example/",
            "http://127.0.0.1:8080/shop", "http://127.0.0.1:8080/shop/", "",
        ]),
        rest in pieces(),
        base in prop::sample::select(vec!["https://stall.example", "http://127.0.0.1:8080/shop"]),
    ) {
        let (stated, context) = (format!("{start}{rest}"), context(base));
        let stated = stated.trim();
        if is_normal(stated, base) {
            prop_assert_eq!(normalised(stated, &context), Some(stated.to_owned()));
        }
    }

    #[test]
    fn what_is_passed_on_is_passed_on_as_it_is(start in "(https://cdn\\.example|//|/|http://)", rest in pieces()) {
        if let Some(once) = of(&format!("{start}{rest}")) {
            prop_assert_eq!(of(&once), Some(once.clone()));
            let url = Url::parse(&once).unwrap();
            prop_assert!(url.scheme() == "https" && url.username().is_empty() && once.is_ascii());
        }
    }
}
