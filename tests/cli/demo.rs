use crate::support::{Haat, get};

#[test]
fn the_demo_serves_what_its_stores_sell() {
    let haat = Haat::new();
    let (_demo, ready) = haat.serve(&[
        "demo",
        "--products",
        "300",
        "--stores",
        "6",
        "--seed",
        "7",
        "--listen",
        "127.0.0.1:0",
    ]);
    let base = ready["address"].as_str().unwrap();
    let (status, stats) = get(&format!("{base}/v1/stats"));
    assert_eq!(
        (status, &stats["data"]["products"], &stats["data"]["brands"]),
        (200, &300.into(), &6.into()),
        "{stats}"
    );
    let examples = ready["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let (status, answer) = get(example.as_str().unwrap());
        let data = &answer["data"];
        let empty = data.as_array().is_some_and(Vec::is_empty) || data.is_null();
        assert!(status == 200 && !empty, "{example}: {status} {answer}");
    }
}

#[test]
fn the_same_seed_gives_the_same_products() {
    let ids = |seed: &str| {
        let haat = Haat::new();
        let _stores = haat.with_stores(&["--products", "40", "--stores", "2", "--seed", seed]);
        haat.run(&["crawl"]).json();
        haat.sql("select product_id, title, price_min_minor from products order by 1")
    };
    let first = ids("3");
    assert_eq!(first.len(), 40);
    assert_eq!(first, ids("3"));
    assert_ne!(first, ids("4"));
}
