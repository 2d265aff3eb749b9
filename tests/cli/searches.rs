use std::process::Command;

use serde_json::json;

use crate::support::{Haat, get};

/// Words without results are reported to the operator, and no words are reported if counting is turned off.
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
    // The search with a filter is not counted, because the filter may be the reason for no results.
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
}
