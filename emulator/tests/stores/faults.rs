use std::time::{Duration, Instant};

use emulator::{Fault, FaultRule};

use super::*;

const LISTING: &str = "/products.json?limit=10";

/// Starts an emulated store with 40 products and a fault.
async fn faulty(rule: impl Into<FaultRule>) -> (RunningStores, StoreAddress) {
    let (running, store) = store(40).await;
    running.set_faults(&store.slug, [rule.into()]).unwrap();
    (running, store)
}

#[tokio::test]
async fn refusals_have_their_status_and_the_time_to_wait() {
    for (status, retry_after_s) in [
        (429, Some(60)),
        (429, None),
        (430, None),
        (503, Some(1)),
        (402, None),
        (423, None),
    ] {
        let (_running, store) = faulty(Fault::Status { status, retry_after_s }).await;
        let answer = get(&store, LISTING).await;
        assert_eq!(answer.status, status);
        assert_eq!(
            answer.header("retry-after"),
            retry_after_s.map_or(String::new(), |seconds| seconds.to_string())
        );
        assert_eq!(get(&store, "/robots.txt").await.status, 200);
    }
}

#[tokio::test]
async fn a_fault_can_be_over_after_some_requests_or_concern_one_page() {
    let refusal = || {
        FaultRule::from(Fault::Status {
            status: 503,
            retry_after_s: None,
        })
    };
    let (running, store) = faulty(refusal().first(2)).await;
    assert_eq!(
        [get(&store, LISTING).await.status, get(&store, LISTING).await.status],
        [503, 503]
    );
    assert_eq!(get(&store, LISTING).await.status, 200);
    running
        .set_faults(&store.slug, [refusal().on_page(2).on_path("/products.json")])
        .unwrap();
    assert_eq!(get(&store, "/products.json?limit=10&page=2").await.status, 503);
    assert_eq!(get(&store, "/products.json?limit=10&page=3").await.status, 200);
    running.set_fault(&store.slug, None).unwrap();
    assert_eq!(get(&store, "/products.json?limit=10&page=2").await.status, 200);
}

#[tokio::test]
async fn clients_above_the_rate_are_throttled() {
    let (running, store) = faulty(Fault::Throttle {
        per_second: 1,
        retry_after_s: Some(1),
    })
    .await;
    for _ in 0..8 {
        get(&store, "/meta.json").await;
    }
    let requests = running.requests(&store.slug).unwrap();
    assert!(
        requests.answered(200) >= 1 && requests.answered(429) >= 1,
        "{requests:?}"
    );
}

#[tokio::test]
async fn slow_and_dripping_stores_take_their_time() {
    let (running, store) = faulty(Fault::Slow { delay_ms: 80 }).await;
    let start = Instant::now();
    assert_eq!(get(&store, LISTING).await.status, 200);
    assert!(start.elapsed() >= Duration::from_millis(80));
    running
        .set_fault(
            &store.slug,
            Fault::Drip {
                chunk_bytes: 8_000,
                delay_ms: 10,
            },
        )
        .unwrap();
    let start = Instant::now();
    let answer = get(&store, LISTING).await;
    assert_eq!(answer.json()["products"].as_array().unwrap().len(), 10);
    assert!(start.elapsed() >= Duration::from_millis(10 * answer.body.len() as u64 / 8_000));
}

#[tokio::test]
async fn connections_break_before_and_within_answers() {
    let (running, store) = faulty(Fault::Reset).await;
    let url = format!("{}{LISTING}", store.base_url);
    let error = client().get(&url).send().await.unwrap_err();
    assert!(format!("{error:?}").contains("ConnectionReset"), "{error:?}");
    assert_eq!(running.requests(&store.slug).unwrap().latest[0].status, None);
    running
        .set_fault(&store.slug, Fault::Truncated { after_bytes: 1_000 })
        .unwrap();
    let response = client().get(&url).send().await.unwrap();
    assert!(response.content_length().unwrap() > 1_000);
    assert!(response.bytes().await.is_err());
}

#[tokio::test]
async fn html_stands_where_json_should() {
    let (running, store) = faulty(Fault::HtmlForJson).await;
    let answer = get(&store, LISTING).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/html; charset=utf-8")
    );
    running.set_fault(&store.slug, Fault::Challenge).unwrap();
    let answer = get(&store, LISTING).await;
    assert_eq!((answer.status, answer.header("cf-mitigated")), (403, "challenge"));
    running.set_fault(&store.slug, Fault::BrokenJson).unwrap();
    assert!(serde_json::from_slice::<Value>(&get(&store, LISTING).await.body).is_err());
}

#[tokio::test]
async fn closed_stores_and_catalogues_say_so_in_their_ways() {
    let (running, store) = faulty(Fault::PasswordPage).await;
    for path in [LISTING, "/robots.txt", "/"] {
        let answer = get(&store, path).await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (302, format!("{}/password", store.base_url).as_str())
        );
    }
    let password = get(&store, "/password").await;
    assert!(password.status == 200 && password.text().contains("Opening soon"));
    for status in [401, 403, 404] {
        running
            .set_fault(&store.slug, Fault::CatalogueClosed { status })
            .unwrap();
        assert_eq!(
            [get(&store, LISTING).await.status, get(&store, "/").await.status],
            [status, 200]
        );
    }
    running.set_fault(&store.slug, Fault::NoMeta).unwrap();
    assert_eq!(
        [
            get(&store, "/meta.json").await.status,
            get(&store, LISTING).await.status
        ],
        [404, 200]
    );
}

#[tokio::test]
async fn a_gzip_bomb_is_small_on_the_wire() {
    let (_running, store) = faulty(Fault::GzipBomb {
        decoded_bytes: 64 << 20,
    })
    .await;
    let answer = get(&store, LISTING).await;
    assert_eq!((answer.status, answer.header("content-encoding")), (200, "gzip"));
    assert!(answer.body.len() < 1 << 20);
    let unpacked = std::io::copy(
        &mut flate2::read::GzDecoder::new(answer.body.as_slice()),
        &mut std::io::sink(),
    )
    .unwrap();
    assert_eq!(unpacked, (64 << 20) + 15);
}

#[tokio::test]
async fn listings_without_end_hold_ever_new_products() {
    let (_running, store) = faulty(Fault::EndlessPages).await;
    let mut ids = std::collections::HashSet::new();
    for page in [1, 2, 3, 99, 100, 101, 5_000] {
        let answer = get(&store, &format!("/products.json?limit=250&page={page}"))
            .await
            .json();
        ids.extend(
            answer["products"]
                .as_array()
                .unwrap()
                .iter()
                .map(|product| product["id"].as_u64().unwrap()),
        );
    }
    assert_eq!(ids.len(), 7 * 250);
}

#[tokio::test]
async fn shifting_listings_repeat_and_miss_products() {
    let (running, store) = faulty(Fault::ShiftingPages { by: 3 }).await;
    let ids = |products: &[Value]| products.iter().map(|it| it["id"].as_u64().unwrap()).collect::<Vec<_>>();
    let grown = ids(&crawl(&store, 10).await);
    let unique: std::collections::HashSet<_> = grown.iter().collect();
    assert!(unique.len() < grown.len());
    running.set_fault(&store.slug, Fault::ShiftingPages { by: -3 }).unwrap();
    assert!(crawl(&store, 10).await.len() < 40);
    running.set_fault(&store.slug, Fault::Collapsed { keep: 4 }).unwrap();
    assert_eq!(crawl(&store, 10).await.len(), 4);
}

#[tokio::test]
async fn redirects_lead_nowhere_good() {
    let (running, store) = faulty(Fault::RedirectLoop).await;
    let answer = get(&store, "/products.json").await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (302, format!("{}/products.json", store.base_url).as_str())
    );
    let location = "http://169.254.169.254/latest/meta-data/".to_owned();
    running
        .set_fault(
            &store.slug,
            Fault::RedirectTo {
                location: location.clone(),
            },
        )
        .unwrap();
    assert_eq!(get(&store, LISTING).await.header("location"), location);
}

#[tokio::test]
async fn nonsense_stands_between_real_products() {
    let (running, store) = store(40).await;
    let sound = crawl(&store, 250).await;
    running.set_fault(&store.slug, Fault::InvalidUtf8).unwrap();
    let bytes = get(&store, "/products.json?limit=250").await.body;
    assert!(std::str::from_utf8(&bytes).is_err());
    let text = String::from_utf8_lossy(&bytes);
    assert!(
        sound
            .iter()
            .all(|product| text.contains(product["handle"].as_str().unwrap()))
    );
    running
        .set_fault(&store.slug, Fault::HugeRecord { bytes: 3 << 20 })
        .unwrap();
    let huge = get(&store, "/products.json?limit=250").await;
    assert!(huge.body.len() > 3 << 20 && huge.json()["products"].as_array().unwrap().len() == 41);
    running
        .set_fault(&store.slug, Fault::NonsenseRecords { every: 1 })
        .unwrap();
    let text = get(&store, "/products.json?limit=250").await.text();
    for nonsense in [",null,", "\"price\":\"free\"", "not-a-number", "[[[[[["] {
        assert!(text.contains(nonsense), "{nonsense}");
    }
    assert!(
        sound
            .iter()
            .all(|product| text.contains(product["handle"].as_str().unwrap()))
    );
}

#[tokio::test]
async fn validators_can_be_missing_or_forgotten() {
    let (running, store) = faulty(Fault::NoValidators).await;
    assert_eq!(get(&store, LISTING).await.header("etag"), "");
    running.set_fault(&store.slug, Fault::ForgetsValidators).unwrap();
    let etag = get(&store, LISTING).await.header("etag").to_owned();
    assert_eq!(get_with(&store, LISTING, &[("if-none-match", &etag)]).await.status, 200);
}

#[tokio::test]
async fn robots_files_forbid_fail_and_never_end() {
    let (running, store) = faulty(Fault::RobotsDisallow).await;
    assert!(
        get(&store, "/robots.txt")
            .await
            .text()
            .contains("Disallow: /products.json\n")
    );
    running.set_fault(&store.slug, Fault::RobotsUnavailable).unwrap();
    assert_eq!(
        [
            get(&store, "/robots.txt").await.status,
            get(&store, LISTING).await.status
        ],
        [503, 200]
    );
    running.set_fault(&store.slug, Fault::RobotsEndless).unwrap();
    let mut response = client()
        .get(format!("{}/robots.txt", store.base_url))
        .send()
        .await
        .unwrap();
    let mut read = 0;
    while read < 4 << 20 {
        read += response.chunk().await.unwrap().unwrap().len();
    }
}

#[tokio::test]
async fn every_fault_survives_being_written_down() {
    let faults = r#"[{"kind":"throttle","per_second":2,"retry_after_s":null},{"kind":"slow","delay_ms":1},
        {"kind":"redirect-to","location":"http://10.0.0.1/"},{"kind":"gzip-bomb","decoded_bytes":1}]"#;
    let faults: Vec<Fault> = serde_json::from_str(faults).unwrap();
    assert_eq!(
        serde_json::from_str::<Vec<Fault>>(&serde_json::to_string(&faults).unwrap()).unwrap(),
        faults
    );
}
