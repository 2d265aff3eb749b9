//! Tests of searches whose words are counted.

use data_searches::{SearchLog, SearchesConfig, TopOrder, load, top};
use data_storage::Storage;
use kit::SetClock;
use query_server::{QueryConfig, QueryServer};
use tokio_util::sync::CancellationToken;

use crate::catalogue::small;
use crate::support::{Market, send};

#[tokio::test]
async fn searches_by_words_alone_are_counted_with_what_they_found() {
    let market = Market::of(&small()).await;
    let (counts, stop) = (Storage::memory(), CancellationToken::new());
    let (log, writer) = SearchLog::start(&counts, SetClock::noon(), &SearchesConfig::default(), stop.clone());
    let config = QueryConfig {
        search_log: Some(log),
        ..QueryConfig::new("INR".parse().unwrap())
    };
    let cache = market.dir.path().join("counting");
    let server = QueryServer::new(market.store(), cache, SetClock::noon(), config);
    server.refresh().await.unwrap();
    for query in [
        "q=coffee",
        "q=Coffee&limit=2",
        "q=COFFEE&pincode=560001",
        // A search with filters is not counted, because a filter may cause an empty result.
        "q=coffee&in_stock=true",
        "q=coffee&price_max=1",
        "q=coffee&brand=kissaten",
        "q=coffee&pincode=560001&deliver_by=2026-12-24",
        "q=zzqqxv&mode=lexical",
        "q=zzqqxv&mode=lexical",
        "q=zzqqxv&mode=lexical",
        "q=shirt+under+2000",
        "q=shirt+under+2000",
        "q=shirt+under+2000",
        // Rare words are not counted.
        "q=kettle",
        "q=kettle",
        "q=",
    ] {
        let request = http::Request::get(format!("/v1/search?{query}"));
        let answered = send(server.router(None), request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!(answered.status, 200, "{query}");
    }
    for query in ["q=COFFEE", "q=nothing+of+the+kind", ""] {
        let request = http::Request::post(format!("/clicks?{query}"));
        let answered = send(server.router(None), request.body(axum::body::Body::empty()).unwrap()).await;
        assert_eq!((answered.status.as_u16(), answered.body.len()), (204, 0), "{query}");
    }
    stop.cancel();
    writer.await;
    let days = load(&counts, "").await.unwrap();
    let told = top(days, TopOrder::Searches, 10);
    let told: Vec<_> = told
        .iter()
        .map(|one| {
            (
                one.words.as_str(),
                one.count,
                one.without_hits,
                one.understood,
                one.clicks,
                one.hits > 0,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("coffee", 3, 0, 0, 1, true),
            ("shirt under 2000", 3, 0, 3, 0, true),
            ("zzqqxv", 3, 3, 0, 0, false),
        ]
    );
}
