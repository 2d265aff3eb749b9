use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::support::{Haat, get};

/// Starts the demo with a temporary folder of its own.
fn demo(temporary: &std::path::Path, args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_haat"))
        .args(["demo", "--seed", "5", "--listen", "127.0.0.1:0"])
        .args(args)
        .env("TMPDIR", temporary)
        .current_dir(temporary)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Sends Ctrl-C and returns the exit code and the standard error output.
fn interrupted(mut child: Child) -> (i32, String) {
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(told.unwrap().success());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), stderr)
}

#[test]
fn a_demo_that_ends_says_what_was_removed_and_how_to_keep_it() {
    let folder = tempfile::tempdir().unwrap();
    let open = |args: &[&str]| {
        let mut child = demo(folder.path(), args);
        let mut lines = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map_while(Result::ok);
        assert!(lines.any(|line| line.contains("Ctrl-C")));
        child
    };
    let (code, told) = interrupted(open(&["--products", "40", "--stores", "2"]));
    assert_eq!(code, 0, "{told}");
    assert!(told.contains("haat: the demo has ended; its folder /"), "{told}");
    assert!(told.contains("was removed (`haat demo --home DIR` keeps it)"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{told}");
    let kept = folder.path().join("kept");
    let (code, told) = interrupted(open(&[
        "--products",
        "40",
        "--stores",
        "2",
        "--home",
        kept.to_str().unwrap(),
    ]));
    assert_eq!(code, 0, "{told}");
    assert!(
        told.contains(&format!("its data is kept under {}", kept.display())),
        "{told}"
    );
    assert!(kept.join("lake").exists());
}

#[test]
fn a_demo_that_is_stopped_before_it_is_open_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    // The signal is sent as soon as the home exists, and so many products keep the demo busy.
    let child = demo(folder.path(), &["--products", "20000", "--stores", "40"]);
    while std::fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .all(|home| !home.path().join("runs").exists())
    {
        std::thread::yield_now();
    }
    let (code, told) = interrupted(child);
    assert_eq!(code, 3, "{told}");
    assert!(
        told.contains("the demo was stopped before its server had started; its folder /"),
        "{told}"
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{told}");
}

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
    let (_, plans) = get(&format!("{base}/v1/plans"));
    assert_eq!(
        (&ready["mails"], &plans["data"]["get_a_key"]["ways"]),
        (
            &format!("{base}/demo/mail").into(),
            &serde_json::json!(["mail", "operator"])
        )
    );
    let examples = ready["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 4);
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

/// Returns the days of these timestamps.
fn days<'a>(moments: impl Iterator<Item = &'a serde_json::Value>) -> BTreeSet<String> {
    moments
        .map(|moment| moment.as_str().unwrap()[..10].to_owned())
        .collect()
}

#[test]
fn a_demo_of_many_days_has_a_history() {
    let haat = Haat::new();
    for days in ["0", "91", "many"] {
        assert_eq!(haat.run(&["demo", "--days", days]).code, 2, "{days}");
    }
    let size = ["--products", "80", "--stores", "2", "--seed", "7"];
    let (_demo, ready) = haat.serve(&[&["demo", "--days", "6", "--listen", "127.0.0.1:0"], &size[..]].concat());
    let rows = haat.sql("select product_id, event, observed_at from price_history where source = 'crawl'");
    let observed = days(rows.iter().map(|row| &row["observed_at"]));
    assert_eq!(observed.len(), 6, "{observed:?}");
    let changed = rows.iter().filter(|row| row["event"] == "changed");
    assert!(days(changed.map(|row| &row["observed_at"])).len() >= 4, "{rows:?}");
    for event in ["first_seen", "changed", "gone"] {
        assert!(rows.iter().any(|row| row["event"] == event), "{event}");
    }
    let runs = haat.sql("select committed_at from crawl_runs where kind = 'refresh'");
    assert_eq!(days(runs.iter().map(|run| &run["committed_at"])), observed);
    // The API's price history has the days on which the product was observed.
    let mut by_product = BTreeMap::<&str, BTreeSet<String>>::new();
    for row in rows.iter().filter(|row| row["event"] != "gone") {
        let product = by_product.entry(row["product_id"].as_str().unwrap()).or_default();
        product.extend(days([&row["observed_at"]].into_iter()));
    }
    let sold = haat.sql("select product_id from products");
    let sold: BTreeSet<&str> = sold.iter().map(|row| row["product_id"].as_str().unwrap()).collect();
    by_product.retain(|product, _| sold.contains(product));
    let (product, observed) = by_product.iter().max_by_key(|(_, days)| days.len()).unwrap();
    assert!(observed.len() >= 2, "{by_product:?}");
    let base = ready["address"].as_str().unwrap();
    let (status, history) = get(&format!("{base}/v1/products/{product}/price-history"));
    assert_eq!(status, 200, "{history}");
    let told = history["data"].as_array().unwrap();
    assert_eq!(
        &days(told.iter().map(|point| &point["observed_at"])),
        observed,
        "{history}"
    );
    // No past can be created for a market that already has one.
    let again = haat.run(&["demo", "--days", "2", "--listen", "127.0.0.1:0"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.stderr.contains("already contains a market"), "{}", again.stderr);
}
