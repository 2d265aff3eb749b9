use std::process::Command;

use serde_json::json;

use crate::support::{Haat, get};

#[test]
fn words_that_shoppers_did_not_find_are_told_unless_they_are_not_counted() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "30", "--stores", "2", "--seed", "5"]);
    haat.run(&["crawl", "--release"]).json();
    let unfound = "zzqqxv wwqqzk";
    for (count, words) in [("false", vec![]), ("true", vec![unfound])] {
        let server = Haat::new()
            .at(haat.path().to_str().unwrap())
            .with("HAAT_QUERY_SERVER__COUNT_SEARCHES", count);
        let (mut server, served) = server.serve(&["query-server", "--listen", "127.0.0.1:0"]);
        let base = served["address"].as_str().unwrap();
        for asked in [
            "mode=lexical",
            "mode=lexical",
            "mode=lexical&pincode=560001",
            "mode=lexical&in_stock=true",
        ] {
            let path = format!("{base}/v1/search?q=ZZqqxv%20wwqqzk&{asked}");
            let (status, answer) = get(&path);
            assert_eq!((status, &answer["data"]), (200, &json!([])), "{answer}");
        }
        let told = Command::new("kill")
            .args(["-TERM", &server.child.id().to_string()])
            .status();
        assert!(told.unwrap().success() && server.child.wait().unwrap().success());
        let told = haat.run(&["searches", "top", "--without-hits"]).json();
        let found = told["words"].as_array().unwrap().iter();
        let found: Vec<_> = found.map(|one| one["words"].as_str().unwrap()).collect();
        assert_eq!(found, words, "{told}");
    }
    // The search with a filter is not counted, because the filter may cause an empty result.
    let told = haat.run(&["searches", "top"]).json();
    assert_eq!(told["words"][0]["count"], 3, "{told}");
    assert_eq!(
        haat.told(&["searches", "top"]),
        format!("{unfound}: searched for 3 times, 3 found nothing\n")
    );
    let report = haat.run(&["quality"]).json();
    assert_eq!(report["unfound"][0]["words"], unfound);
    assert!(
        haat.told(&["quality"])
            .contains(&format!("searches without results: {unfound} (3)"))
    );
    assert!(haat.told(&["quality", "--html", "-"]).contains(unfound));

    // A crawl moves the counts of past days into the lake, where they are still found.
    let folder = haat.path().join("searches");
    let today = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let days_ago = Command::new("date").args(["-u", "-d", "3 days ago", "+%F"]).output();
    let days_ago = String::from_utf8(days_ago.unwrap().stdout).unwrap();
    std::fs::rename(today, folder.join(days_ago.trim())).unwrap();
    let before = haat.run(&["searches", "top"]).json();
    haat.run(&["crawl"]).json();
    assert!(!folder.join(days_ago.trim()).exists());
    let rows = haat.sql("select day, words, count, without_hits, clicks from searches");
    assert_eq!(
        rows,
        [json!({ "day": days_ago.trim(), "words": unfound, "count": 3, "without_hits": 3, "clicks": 0 })]
    );
    assert_eq!(haat.run(&["searches", "top"]).json(), before);
}
