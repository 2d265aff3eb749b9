use axum::body::Body;
use dashboard::{DashboardConfig, OidcConfig};
use data_model::Secret;
use http::Request;
use kit::SetClock;
use serde_json::{Value, json};
use state::{State, StateTarget};
use url::Url;

use crate::provider::{CLIENT_ID, CLIENT_SECRET, Provider, ProviderFaults, Signature};
use crate::support::{Answer, Browser, Site, config};

const PENDING: &str = "__Host-haat_sign_in";

/// Creates a dashboard with a fake sign-in provider.
async fn site() -> (Site, Provider) {
    // The site and the provider share one clock.
    let clock = SetClock::noon();
    let provider = Provider::start(&clock).await;
    let with_provider = DashboardConfig {
        oidc: OidcConfig {
            issuer: provider.issuer().to_owned(),
            client_id: CLIENT_ID.to_owned(),
            client_secret: Secret::new(CLIENT_SECRET),
            ..OidcConfig::default()
        },
        ..config()
    };
    let state = State::open(&StateTarget::Memory).await.unwrap();
    let mut site = Site::on(state, with_provider.clone(), api::OpenRouter::default());
    let routes = crate::support::dashboard(&site.state, &clock, with_provider)
        .unwrap()
        .open_router();
    site.router = routes.edge(api::EdgeConfig::default());
    site.clock = clock;
    (site, provider)
}

async fn begin(browser: &mut Browser<'_>, return_to: &str) -> Url {
    let told = browser
        .post("/dashboard/api/sign-in", &json!({ "return_to": return_to }))
        .await;
    told.data()["location"].as_str().unwrap().parse().unwrap()
}

fn parameter(location: &Url, name: &str) -> String {
    let found = location.query_pairs().find(|(own, _)| own == name);
    found.unwrap_or_else(|| panic!("no {name}: {location}")).1.into_owned()
}

/// Follows the provider's redirect back to the site.
async fn come_back(browser: &mut Browser<'_>, query: &[(&str, &str)]) -> Answer {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs(query)
        .finish();
    let request = browser.plain("GET", &format!("/dashboard/callback?{query}"));
    let request: Request<Body> = request
        .header("sec-fetch-site", "cross-site")
        .body(Body::empty())
        .unwrap();
    browser.send(request).await
}

/// Performs a whole sign-in with the current faults of the provider.
async fn sign_in(browser: &mut Browser<'_>, provider: &Provider) -> Answer {
    let location = begin(browser, "/dashboard/").await;
    let code = provider.code_for(&location);
    let state = parameter(&location, "state");
    come_back(
        browser,
        &[("code", &code), ("state", &state), ("iss", provider.issuer())],
    )
    .await
}

#[track_caller]
fn refused(answer: &Answer, why: &str) {
    assert_eq!(answer.status, 303, "{}", answer.text());
    assert_eq!(answer.header("location"), format!("/dashboard/#refused={why}"));
    assert_eq!(answer.cookies(), Vec::<String>::new());
    assert_eq!(answer.header("cache-control"), "no-store");
}

#[tokio::test]
async fn somebody_is_sent_to_the_provider_with_all_that_proves_the_answer() {
    let (site, provider) = site().await;
    let mut browser = Browser::new(&site);
    let told = browser.post("/dashboard/api/sign-in", &json!({})).await;
    let location: Url = told.data()["location"].as_str().unwrap().parse().unwrap();
    assert!(
        location
            .as_str()
            .starts_with(&format!("{}/authorize?", provider.issuer()))
    );
    let given = [
        "response_type",
        "client_id",
        "redirect_uri",
        "scope",
        "code_challenge_method",
    ];
    let given: Vec<_> = given
        .map(|name| format!("{name}={}", parameter(&location, name)))
        .to_vec();
    insta::assert_snapshot!(given.join("\n"), @r#"
    response_type=code
    client_id=haat
    redirect_uri=https://market.example/dashboard/callback
    scope=openid email
    code_challenge_method=S256
    "#);
    for name in ["state", "nonce", "code_challenge"] {
        assert_eq!(parameter(&location, name).len(), 43, "{name}");
    }
    let cookie = told.cookies().remove(0);
    let (pair, rules) = cookie.split_once("; ").unwrap();
    assert!(pair.starts_with(&format!("{PENDING}=haat_pend_")));
    insta::assert_snapshot!(rules, @"Path=/; Max-Age=600; Secure; HttpOnly; SameSite=Lax");
    // Neither the URL nor the response contains the secret of the browser's cookie.
    let secret = pair.split('=').nth(1).unwrap();
    assert!(!told.text().contains(&secret[10..]));
}

#[tokio::test]
async fn somebody_who_signed_in_at_the_provider_is_signed_in_here_as_who_they_are_there() {
    let (site, provider) = site().await;
    let mut browser = Browser::new(&site);
    let location = begin(&mut browser, "/dashboard/?from=mail#keys").await;
    let (code, state) = (provider.code_for(&location), parameter(&location, "state"));
    let back = come_back(
        &mut browser,
        &[("code", &code), ("state", &state), ("iss", provider.issuer())],
    )
    .await;
    assert_eq!(
        (back.status.as_u16(), back.header("location")),
        (303, "/dashboard/?from=mail#keys")
    );
    let names: Vec<_> = browser.cookies.keys().collect();
    assert_eq!(names, ["__Host-haat_session"]);
    let here = browser.get("/dashboard/api/session").await.data();
    assert_eq!(here["account"]["name"], "asha@shop.example");
    assert_eq!(here["session"]["method"], "oidc");
    assert_eq!(here["provider"], "127.0.0.1");

    // First the same person signs in from another browser with another address. Then another person signs in with the
    // first address.
    browser.post("/dashboard/api/keys", &json!({ "name": "App" })).await;
    provider.lie(ProviderFaults {
        claims: json!({ "email": "asha@home.example" }),
        ..ProviderFaults::default()
    });
    let mut again = Browser::new(&site);
    sign_in(&mut again, &provider).await;
    assert_eq!(
        again.get("/dashboard/api/keys").await.data().as_array().unwrap().len(),
        1
    );
    provider.lie(ProviderFaults {
        claims: json!({ "sub": "other" }),
        ..ProviderFaults::default()
    });
    let mut other = Browser::new(&site);
    sign_in(&mut other, &provider).await;
    assert_eq!(other.get("/dashboard/api/keys").await.data(), json!([]));
}

#[tokio::test]
async fn a_token_that_the_provider_did_not_make_for_this_sign_in_is_refused() {
    let (site, provider) = site().await;
    let now = data_model::Clock::now(&*site.clock).micros() / 1_000_000;
    let claims: [(&str, Value); 14] = [
        ("another nonce", json!({ "nonce": "n-0S6_WzA2Mj" })),
        ("no nonce", json!({ "nonce": null })),
        ("another audience", json!({ "aud": "another-client" })),
        ("one audience more", json!({ "aud": [CLIENT_ID, "another-client"] })),
        ("another party", json!({ "azp": "another-client" })),
        ("another issuer", json!({ "iss": "https://evil.example" })),
        ("no issuer", json!({ "iss": null })),
        ("over", json!({ "exp": now })),
        ("no end", json!({ "exp": null })),
        ("made long ago", json!({ "iat": now - 3600 })),
        ("made in the future", json!({ "iat": now + 3600 })),
        ("not valid yet", json!({ "nbf": now + 3600 })),
        ("nobody", json!({ "sub": "" })),
        ("a name that is too long", json!({ "sub": "x".repeat(256) })),
    ];
    for (what, claims) in claims {
        provider.lie(ProviderFaults {
            claims,
            ..ProviderFaults::default()
        });
        let mut browser = Browser::new(&site);
        let answer = sign_in(&mut browser, &provider).await;
        println!("{what}");
        refused(&answer, "invalid");
    }
    for signature in [
        Signature::Other,
        Signature::Embedded,
        Signature::None,
        Signature::Secret,
        Signature::PublicKeyAsSecret,
    ] {
        provider.lie(ProviderFaults {
            signature,
            ..ProviderFaults::default()
        });
        let mut browser = Browser::new(&site);
        println!("{signature:?}");
        refused(&sign_in(&mut browser, &provider).await, "invalid");
    }
    let accounts = site.state.audit(&state::AuditQuery::default(), 10).await.unwrap();
    assert_eq!(accounts, [], "nobody was signed in");
}

#[tokio::test]
async fn an_answer_that_comes_again_or_late_or_from_elsewhere_is_refused() {
    let (site, provider) = site().await;
    let issuer = provider.issuer().to_owned();
    let mut browser = Browser::new(&site);
    let location = begin(&mut browser, "/dashboard/").await;
    let (code, state) = (provider.code_for(&location), parameter(&location, "state"));
    let secret = browser.cookies[PENDING].clone();
    let answer = [
        ("code", code.as_str()),
        ("state", state.as_str()),
        ("iss", issuer.as_str()),
    ];

    // Responses in another browser, or with a wrong, missing or duplicate `state`, do not change the pending sign-in.
    let mut stranger = Browser::new(&site);
    refused(&come_back(&mut stranger, &answer).await, "unknown");
    let other = begin(&mut stranger, "/dashboard/").await;
    refused(&come_back(&mut stranger, &answer).await, "unknown");
    let other_state = parameter(&other, "state");
    for wrong in [
        vec![
            ("code", code.as_str()),
            ("state", other_state.as_str()),
            ("iss", issuer.as_str()),
        ],
        vec![("code", code.as_str()), ("iss", issuer.as_str())],
        vec![
            ("code", code.as_str()),
            ("state", state.as_str()),
            ("state", state.as_str()),
        ],
        vec![],
    ] {
        refused(&come_back(&mut browser, &wrong).await, "unknown");
    }
    assert_eq!(
        provider.asked(),
        ["configuration", "jwks"],
        "the provider was asked for no token"
    );

    assert_eq!(come_back(&mut browser, &answer).await.header("location"), "/dashboard/");
    // A repeated response with the old cookie is rejected without a request to the provider.
    provider.asked();
    browser.cookies.insert(PENDING.to_owned(), secret);
    refused(&come_back(&mut browser, &answer).await, "late");
    assert_eq!(provider.asked(), Vec::<&str>::new());

    let mut late = Browser::new(&site);
    let location = begin(&mut late, "/dashboard/").await;
    let (code, state) = (provider.code_for(&location), parameter(&location, "state"));
    site.clock.advance_ms(600_000);
    let answer = [
        ("code", code.as_str()),
        ("state", state.as_str()),
        ("iss", issuer.as_str()),
    ];
    refused(&come_back(&mut late, &answer).await, "late");
}

#[tokio::test]
async fn an_answer_of_another_provider_is_refused_before_its_code_is_sent_anywhere() {
    let (site, provider) = site().await;
    for (issuer, why) in [
        (Some("https://evil.example"), "mixed-up"),
        (None, "mixed-up"),
        (Some(""), "mixed-up"),
    ] {
        let mut browser = Browser::new(&site);
        let location = begin(&mut browser, "/dashboard/").await;
        let (code, state) = (provider.code_for(&location), parameter(&location, "state"));
        let mut answer = vec![("code", code.as_str()), ("state", state.as_str())];
        answer.extend(issuer.map(|issuer| ("iss", issuer)));
        refused(&come_back(&mut browser, &answer).await, why);
    }
    assert!(!provider.asked().contains(&"token"));
}

#[tokio::test]
async fn a_provider_that_never_names_itself_in_answers_is_taken_too() {
    let (site, provider) = site().await;
    let metadata = json!({ "authorization_response_iss_parameter_supported": null });
    provider.lie(ProviderFaults {
        metadata,
        ..ProviderFaults::default()
    });
    let mut browser = Browser::new(&site);
    let location = begin(&mut browser, "/dashboard/").await;
    let (code, state) = (provider.code_for(&location), parameter(&location, "state"));
    let back = come_back(&mut browser, &[("code", &code), ("state", &state)]).await;
    assert_eq!(back.header("location"), "/dashboard/");
}

#[tokio::test]
async fn what_the_provider_declines_is_told_and_nothing_of_its_words_is_shown() {
    let (site, provider) = site().await;
    let issuer = provider.issuer().to_owned();
    let mut browser = Browser::new(&site);
    let location = begin(&mut browser, "/dashboard/").await;
    let state = parameter(&location, "state");
    let answer = [
        ("error", "access_denied"),
        ("error_description", "<script>alert(1)</script>"),
        ("state", state.as_str()),
        ("iss", issuer.as_str()),
    ];
    refused(&come_back(&mut browser, &answer).await, "declined");
}

#[tokio::test]
async fn nobody_is_sent_on_to_another_site() {
    let (site, _provider) = site().await;
    let mut browser = Browser::new(&site);
    for elsewhere in [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
    ] {
        let answer = browser
            .post("/dashboard/api/sign-in", &json!({ "return_to": elsewhere }))
            .await;
        answer.refused(422, "validation");
    }
}

#[tokio::test]
async fn new_keys_of_the_provider_are_read_when_a_token_names_one_and_not_for_each_such_token() {
    let (site, provider) = site().await;
    let mut browser = Browser::new(&site);
    sign_in(&mut browser, &provider).await;
    provider.asked();
    provider.lie(ProviderFaults {
        signature: Signature::Rotated,
        ..ProviderFaults::default()
    });
    site.clock.advance_ms(60_000);
    let mut other = Browser::new(&site);
    let back = sign_in(&mut other, &provider).await;
    assert_eq!(back.header("location"), "/dashboard/");
    assert_eq!(provider.asked(), ["token", "configuration", "jwks"]);
    // The metadata is an hour old, so it is read again before the user is redirected.
    site.clock.advance_ms(3_600_000);
    sign_in(&mut other, &provider).await;
    assert_eq!(provider.asked(), ["configuration", "jwks", "token"]);
}

#[tokio::test]
async fn a_provider_that_is_gone_is_told_and_found_again() {
    let (site, provider) = site().await;
    provider.lie(ProviderFaults {
        status: Some(503),
        ..ProviderFaults::default()
    });
    let mut browser = Browser::new(&site);
    let gone = browser.post("/dashboard/api/sign-in", &json!({})).await;
    gone.refused(503, "not_ready");
    // A second attempt sends no other request to the provider.
    browser
        .post("/dashboard/api/sign-in", &json!({}))
        .await
        .refused(503, "not_ready");
    assert_eq!(provider.asked(), ["configuration"]);
    provider.lie(ProviderFaults::default());
    site.clock.advance_ms(15_000);
    assert_eq!(sign_in(&mut browser, &provider).await.header("location"), "/dashboard/");
    // Old metadata stays valid for a day while the provider does not respond.
    provider.lie(ProviderFaults {
        status: Some(503),
        ..ProviderFaults::default()
    });
    site.clock.advance_ms(3 * 3_600_000);
    let told = browser.post("/dashboard/api/sign-in", &json!({})).await;
    assert_eq!(told.status, 200);
    // The provider fails after the user was redirected to it.
    let mut late = Browser::new(&site);
    refused(&sign_in(&mut late, &provider).await, "invalid");
}

#[tokio::test]
async fn an_answer_that_is_too_large_or_leads_elsewhere_or_names_another_issuer_is_not_taken() {
    for lies in [
        ProviderFaults {
            padding: 600_000,
            ..ProviderFaults::default()
        },
        ProviderFaults {
            redirect: true,
            ..ProviderFaults::default()
        },
        ProviderFaults {
            metadata: json!({ "issuer": "https://evil.example" }),
            ..ProviderFaults::default()
        },
        ProviderFaults {
            metadata: json!({ "authorization_endpoint": "http://evil.example/authorize" }),
            ..ProviderFaults::default()
        },
        ProviderFaults {
            metadata: json!({ "jwks_uri": "nothing" }),
            ..ProviderFaults::default()
        },
    ] {
        let (site, provider) = site().await;
        provider.lie(lies.clone());
        let mut browser = Browser::new(&site);
        let answer = browser.post("/dashboard/api/sign-in", &json!({})).await;
        answer.refused(503, "not_ready");
        assert!(!provider.asked().is_empty(), "{lies:?}");
    }
}

#[tokio::test]
async fn a_page_of_another_site_begins_no_sign_in() {
    let (site, provider) = site().await;
    let mut browser = Browser::new(&site);
    let request = browser
        .plain("POST", "/dashboard/api/sign-in")
        .header("origin", "https://evil.example");
    let request = request
        .header("content-type", "application/json")
        .body(Body::from("{}"))
        .unwrap();
    browser.send(request).await.refused(403, "forbidden");
    assert_eq!(provider.asked(), Vec::<&str>::new());
}

#[tokio::test]
async fn sign_ins_that_one_network_begins_are_bounded() {
    let (site, _provider) = site().await;
    let mut browser = Browser::new(&site);
    browser.from = "2001:db8::1".parse().ok();
    for _ in 0..20 {
        begin(&mut browser, "/dashboard/").await;
    }
    let body = json!({ "return_to": "/dashboard/" });
    let refused = browser.post("/dashboard/api/sign-in", &body).await;
    refused.refused(429, "rate_limit");
    assert_eq!(refused.header("retry-after"), "600");
    let mut other = Browser::new(&site);
    other.from = "2001:db8:0:1::1".parse().ok();
    begin(&mut other, "/dashboard/").await;
    site.clock.advance_ms(600_000);
    begin(&mut browser, "/dashboard/").await;
}
