use axum::body::Body;
use http::{Request, StatusCode};
use query_server::{QueryConfig, QueryServer};

use crate::catalogue::{brand, product, small};
use crate::support::{Market, send};

#[tokio::test]
async fn an_empty_optional_parameter_is_not_given() {
    let market = Market::of(&small()).await;
    for (empty, without) in [
        ("/v1/brands?limit=2&cursor=", "/v1/brands?limit=2"),
        (
            "/v1/search?q=coffee&price_max=&sort=&facets=&limit=",
            "/v1/search?q=coffee",
        ),
        (
            "/v1/browse?brand=blue-tokai&cursor=&in_stock=",
            "/v1/browse?brand=blue-tokai",
        ),
    ] {
        assert_eq!(market.body(empty).await, market.body(without).await, "{empty}");
    }
}

#[tokio::test]
async fn a_parameter_that_nothing_reads_is_named_with_the_one_that_was_meant() {
    let market = Market::of(&small()).await;
    for path in [
        "/v1/search?query=coffee&page=2",
        "/v1/browse?brand=blue-tokai&page=2&query=coffee",
    ] {
        let answer = market.get(path).await.json();
        let meant = if path.starts_with("/v1/search") {
            "q".into()
        } else {
            serde_json::Value::Null
        };
        let page = if path.starts_with("/v1/search") {
            serde_json::Value::Null
        } else {
            "cursor".into()
        };
        assert_eq!(
            answer["provenance"]["ignored"],
            serde_json::json!([{ "name": "page", "meant": page }, { "name": "query", "meant": meant }]),
            "{path}"
        );
        assert!(answer["provenance"]["release"].is_string() && answer["tier"] == "graph");
    }
    let answer = market.get("/v1/brands/blue-tokai?updated_since=1").await.json();
    assert_eq!(
        answer["provenance"]["ignored"],
        serde_json::json!([{ "name": "updated_since", "meant": null }])
    );
    let clean = market.get("/v1/search?q=coffee&limit=2").await.json();
    assert!(clean["provenance"].get("ignored").is_none());
    for path in [
        "/v1/search?price_max=500.00",
        "/v1/browse?brand=blue-tokai&price_min=5.0",
    ] {
        let refused = market.get(path).await;
        assert_eq!(refused.status, 422, "{path}");
        let fault = &refused.json()["detail"][0];
        assert!(fault["msg"].as_str().unwrap().contains("minor units"), "{fault}");
    }
}

#[tokio::test]
async fn every_graph_answer_is_304_to_who_has_it() {
    let market = Market::of(&small()).await;
    let id = market.get("/v1/search?limit=1").await.json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut tags = std::collections::BTreeSet::new();
    for path in [
        "/v1/search?q=coffee",
        "/v1/search?q=coffee&limit=2",
        "/v1/suggest?q=coffee",
        "/v1/brands",
        "/v1/brands/blue-tokai",
        "/v1/stats",
        "/v1/categories",
        &format!("/v1/products/{id}"),
        &format!("/v1/products/{id}/reviews"),
    ] {
        let fresh = market.get(path).await;
        assert_eq!(
            fresh.headers["cache-control"], "public, max-age=30, stale-while-revalidate=300",
            "{path}"
        );
        let tag = fresh.headers["etag"].clone();
        assert!(tags.insert(tag.to_str().unwrap().to_owned()), "{path}");
        for (sent, expected) in [(tag.to_str().unwrap(), 304), ("\"other\"", 200), ("*", 304)] {
            let request = Request::get(path)
                .header("if-none-match", sent)
                .body(Body::empty())
                .unwrap();
            let again = market.send(request).await;
            assert_eq!(
                (again.status.as_u16(), &again.headers["etag"]),
                (expected, &tag),
                "{path} {sent}"
            );
            assert_eq!(again.body.is_empty(), expected == 304);
            // A response without a body has no content type.
            assert_eq!(again.headers.contains_key("content-type"), expected != 304, "{path}");
        }
    }
}

#[tokio::test]
async fn a_faulty_or_vain_request_is_never_304() {
    let market = Market::of(&small()).await;
    for (path, status) in [("/v1/search?limit=0", 422), ("/v1/brands/none", 404), ("/nowhere", 404)] {
        let request = Request::get(path)
            .header("if-none-match", "*")
            .body(Body::empty())
            .unwrap();
        assert_eq!(market.send(request).await.status.as_u16(), status, "{path}");
    }
}

#[tokio::test]
async fn methods_that_are_not_there_are_405_with_allow() {
    let market = Market::of(&small()).await;
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        let request = Request::builder()
            .method(method)
            .uri("/v1/search")
            .body(Body::empty())
            .unwrap();
        let answered = market.send(request).await;
        assert_eq!(
            (answered.status.as_u16(), &answered.json()["code"]),
            (405, &"method_not_allowed".into())
        );
        assert_eq!(answered.headers["allow"], "GET,HEAD");
    }
    let head = market
        .send(Request::head("/v1/stats").body(Body::empty()).unwrap())
        .await;
    let get = market.get("/v1/stats").await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.headers["content-length"], get.headers["content-length"]);
    assert_eq!(head.headers["etag"], get.headers["etag"]);
}

#[tokio::test]
async fn a_request_id_is_echoed_or_made() {
    let market = Market::of(&small()).await;
    assert_eq!(market.get("/v1/stats").await.headers["x-request-id"], "test");
    for path in ["/v1/stats", "/nowhere", "/v1/search?limit=0", "/"] {
        let request = Request::get(path)
            .header("x-request-id", "not valid")
            .body(Body::empty())
            .unwrap();
        let id = market.send(request).await.headers["x-request-id"]
            .to_str()
            .unwrap()
            .to_owned();
        assert_eq!(id.len(), 36, "{path}");
    }
}

#[tokio::test]
async fn the_page_loads_its_own_parts_only() {
    let market = Market::of(&small()).await;
    let page = market.get("/").await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"),
        "{policy}"
    );
    let html = String::from_utf8(page.body).unwrap();
    let named = html.split('"');
    let parts: Vec<&str> = named
        .filter_map(|text| {
            text.strip_prefix("./")
                .filter(|name| name.ends_with(".css") || name.ends_with(".js"))
        })
        .collect();
    assert!(parts.contains(&"app.css") && parts.contains(&"app.js"), "{parts:?}");
    for part in &parts {
        let answered = market.get(&format!("/{part}")).await;
        assert_eq!(answered.status, StatusCode::OK, "{part}");
        assert!(answered.headers.contains_key("etag"), "{part}");
        let text = String::from_utf8(answered.body).unwrap();
        for module in text
            .split(" from './")
            .skip(1)
            .filter_map(|rest| rest.split('\'').next())
        {
            assert!(
                parts.contains(&module),
                "{part} takes {module}, which the page does not name"
            );
        }
        for way in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
        ] {
            assert!(!text.contains(way), "{part}: {way}");
        }
    }
    assert!(!html.contains(" style=") && !html.contains("onclick"));
}

#[tokio::test]
async fn a_long_answer_is_compressed_for_who_asks() {
    let market = Market::of(&small()).await;
    let request = Request::get("/v1/search")
        .header("accept-encoding", "br")
        .body(Body::empty())
        .unwrap();
    let short = market.send(request).await;
    let plain = market.get("/v1/search").await;
    assert_eq!(
        (&short.headers["content-encoding"], &short.headers["vary"]),
        (&"br".parse().unwrap(), &"accept-encoding".parse().unwrap())
    );
    assert_eq!(short.headers["etag"], plain.headers["etag"]);
    assert!(short.body.len() < plain.body.len() / 2);
    assert!(!plain.headers.contains_key("content-encoding"));
}

#[tokio::test]
async fn metrics_are_answered_where_a_recorder_is_given() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let market = Market::of(&small()).await;
    assert_eq!(market.get("/metrics").await.status, StatusCode::NOT_FOUND);
    let router = market.server.router(Some(recorder.handle()));
    let asked = Request::get("/metrics").body(Body::empty()).unwrap();
    let answered = crate::support::send(router, asked).await;
    assert_eq!(
        answered.headers["content-type"],
        "text/plain; version=0.0.4; charset=utf-8"
    );
}

#[tokio::test]
async fn each_route_is_counted_under_its_own_pattern() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let counting = metrics::set_default_local_recorder(&recorder);
    let market = Market::of(&small()).await;
    let document = serde_json::to_value(QueryServer::openapi()).unwrap();
    let operations = document["paths"].as_object().unwrap().keys().map(String::as_str);
    let patterns: Vec<&str> = operations.chain(["/", "/app.js", "/openapi.json"]).collect();
    for pattern in &patterns {
        let filled = pattern
            .split('/')
            .map(|part| if part.starts_with('{') { "x" } else { part });
        market.get(&filled.collect::<Vec<_>>().join("/")).await;
    }
    drop(counting);
    let counted = recorder.handle().render();
    for pattern in patterns {
        let line = format!("http_request_duration_seconds_count{{route=\"{pattern}\"}} 1\n");
        assert!(counted.contains(&line), "{line} in {counted}");
    }
    assert!(!counted.contains("unmatched"), "{counted}");
}

#[tokio::test]
async fn servers_that_answer_the_same_release_otherwise_tag_their_answers_otherwise() {
    let market = Market::of(&small()).await;
    let (same, other) = (market.beside("INR").await, market.beside("USD").await);
    for path in [
        "/v1/search?q=coffee&sort=price_asc",
        "/v1/brands",
        "/v1/browse?brand=blue-tokai",
    ] {
        let request = || Request::get(path).body(Body::empty()).unwrap();
        let tag = market.get(path).await.headers["etag"].clone();
        assert_eq!(send(same.clone(), request()).await.headers["etag"], tag, "{path}");
        assert_ne!(send(other.clone(), request()).await.headers["etag"], tag, "{path}");
    }
}

#[tokio::test]
async fn processes_with_keys_of_their_own_tag_alike_what_holds_no_cursor() {
    let market = Market::of(&small()).await;
    let id = market.get("/v1/search?limit=1").await.json()["data"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let caches = tempfile::tempdir().unwrap();
    let mut processes = Vec::new();
    for name in ["one", "other"] {
        let config = QueryConfig::new("INR".parse().unwrap());
        let cache = caches.path().join(name);
        let server = QueryServer::new(market.store(), cache, kit::SetClock::noon(), config);
        server.refresh().await.unwrap();
        processes.push(server.router(None));
    }
    for (path, alike) in [
        ("/v1/search?q=coffee".to_owned(), true),
        ("/v1/suggest?q=coffee".to_owned(), true),
        (format!("/v1/recommend?product_id={id}"), true),
        ("/v1/brands/blue-tokai".to_owned(), true),
        ("/v1/categories".to_owned(), true),
        ("/v1/stats".to_owned(), true),
        (format!("/v1/products/{id}"), true),
        (format!("/v1/shipping?product={id}&pincode=560001"), true),
        ("/v1/brands".to_owned(), false),
        ("/v1/brands?limit=1".to_owned(), false),
        ("/v1/brands/blue-tokai/products?limit=1".to_owned(), false),
        ("/v1/browse?brand=blue-tokai&limit=1".to_owned(), false),
        (format!("/v1/products/{id}/reviews"), false),
        (format!("/v1/products/{id}/price-history"), false),
        ("/v1/changes?since=2026-01-01T00:00:00Z".to_owned(), false),
    ] {
        let mut answers = Vec::new();
        for process in &processes {
            let request = Request::get(&path).body(Body::empty()).unwrap();
            answers.push(send(process.clone(), request).await);
        }
        let (one, other) = (&answers[0], &answers[1]);
        assert_eq!((one.status, other.status), (StatusCode::OK, StatusCode::OK), "{path}");
        assert_eq!(one.headers["etag"] == other.headers["etag"], alike, "{path}");
        assert!(!alike || one.body == other.body, "{path}");
    }
}

#[tokio::test]
async fn a_release_whose_first_title_is_one_endless_word_is_served() {
    let tea = brand("Tea", "INR");
    let endless = product(&tea, 1, &"\u{8336}".repeat(22));
    let market = Market::of(&vec![(tea.clone(), vec![endless, product(&tea, 2, "Green Tea")])]).await;
    assert_eq!(market.titles("q=green&mode=lexical").await, ["Green Tea"]);
}
