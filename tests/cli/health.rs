//! Tests of `haat doctor` and `haat brands list` on an unhealthy market: their findings and exit codes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_checks::{CheckOutcome, CheckReport, LastRun, RunEnd};
use data_model::Timestamp;
use data_storage::Storage;
use serde_json::Value;

use crate::support::{Answer, Haat, files};

/// Returns a home whose stores were crawled and released.
fn market(stores: &str) -> Haat {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "300", "--stores", stores, "--seed", "17"]);
    haat.run(&["crawl", "--release"]).json();
    haat
}

/// Returns the doctor's findings on `subject` that are not `ok`: severity, and text with advice.
#[track_caller]
fn told(answer: &Answer, subject: &str) -> Vec<(String, String)> {
    let document = answer.document();
    let findings = document["findings"].as_array().unwrap().iter();
    let findings = findings.filter(|finding| finding["subject"] == subject && finding["ok"] == false);
    findings
        .map(|finding| {
            let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            (text("severity"), format!("{} → {}", text("found"), text("advice")))
        })
        .collect()
}

fn ago(hours: u64) -> Timestamp {
    let then = SystemTime::now() - Duration::from_secs(hours * 3600);
    Timestamp::from_micros(i64::try_from(then.duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap())
}

fn brands(haat: &Haat) -> Vec<Value> {
    haat.run(&["brands", "list"]).json()["brands"]
        .as_array()
        .unwrap()
        .clone()
}

/// Records these checks, `(outcome, hours ago)` for each brand, instead of all others.
fn record(haat: &Haat, end: RunEnd, rounds: &[&[(CheckOutcome, u64)]]) {
    let _ = std::fs::remove_dir_all(haat.path().join("checks"));
    let brands = brands(haat);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let storage = Storage::from_path(haat.path()).unwrap();
        for (round, outcomes) in rounds.iter().enumerate() {
            let checked: Vec<_> = brands
                .iter()
                .zip(*outcomes)
                .map(|(brand, (outcome, hours))| CheckReport {
                    store: brand["store"].as_str().unwrap().parse().unwrap(),
                    slug: brand["slug"].as_str().unwrap().parse().unwrap(),
                    checked_at: ago(*hours),
                    outcome: *outcome,
                    code: (*outcome == CheckOutcome::Failed).then(|| "timeout".to_owned()),
                    detail: None,
                    is_incomplete: false,
                })
                .collect();
            // The checks are later than those of the market's own crawl, but within the tolerated clock difference.
            let later = ago(0).plus_millis(60_000 + round as i64 * 1_000).to_string();
            let second = later[..19].replace(['-', ':'], "");
            let run = LastRun {
                run: format!("{second}Z-3f9a01c7").parse().unwrap(),
                ended_at: ago(0),
                end,
                error: (end == RunEnd::Failed).then(|| "the lake could not be written".to_owned()),
            };
            data_checks::record(&storage, &run, &checked, |_| true).await.unwrap();
        }
    });
}

#[test]
fn a_market_whose_stores_failed_is_not_healthy_and_says_since_when() {
    use CheckOutcome::{Failed, HeldBack, Unchanged};
    let haat = market("2");
    assert_eq!(haat.run(&["doctor"]).code, 0);
    record(
        &haat,
        RunEnd::Finished,
        &[&[(Unchanged, 9), (Unchanged, 9)], &[(Failed, 1), (Unchanged, 1)]],
    );
    let some = haat.run(&["doctor"]);
    let slugs: Vec<_> = brands(&haat)
        .iter()
        .map(|brand| brand["slug"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((some.code, &some.document()["healthy"]), (3, &false.into()));
    let stores = told(&some, "stores");
    assert_eq!((stores.len(), stores[0].0.as_str()), (1, "warning"), "{stores:?}");
    let begin = format!(
        "1 of 2 brands failed when last checked: {} (timeout, last success 20",
        slugs[0]
    );
    assert!(stores[0].1.starts_with(&begin), "{stores:?}");
    assert!(stores[0].1.contains("`haat crawl --brand SLUG`"), "{stores:?}");

    record(&haat, RunEnd::Finished, &[&[(Failed, 1), (Failed, 1)]]);
    let all = haat.run(&["doctor"]);
    assert_eq!((all.code, told(&all, "stores")[0].0.as_str()), (1, "broken"), "{all:?}");
    assert!(told(&all, "stores")[0].1.starts_with("every store failed"), "{all:?}");

    record(&haat, RunEnd::Finished, &[&[(Unchanged, 1), (HeldBack, 1)]]);
    let held = haat.run(&["doctor"]);
    let confirm = format!("`haat crawl --brand {0} --confirm {0}`", slugs[1]);
    assert_eq!(held.code, 3, "{held:?}");
    assert!(told(&held, "held back")[0].1.contains(&confirm), "{held:?}");
}

#[test]
fn a_crawl_of_which_every_store_failed_is_not_healthy() {
    let haat = market("2").with("HAAT_STOREFRONT__RETRIES_MAX", "0");
    // The stores no longer respond.
    assert_eq!(haat.run(&["crawl"]).code, 3);
    let failed = haat.run(&["doctor"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stdout.contains("every store failed"), "{failed:?}");
}

#[test]
fn brands_that_no_crawl_asked_for_days_are_named() {
    use CheckOutcome::Unchanged;
    let haat = market("2").with("HAAT_DOCTOR__CHECK_AGE_S_MAX", "86400");
    record(&haat, RunEnd::Finished, &[&[(Unchanged, 1), (Unchanged, 23)]]);
    assert_eq!(haat.run(&["doctor"]).code, 0);
    record(&haat, RunEnd::Finished, &[&[(Unchanged, 1), (Unchanged, 25)]]);
    let one = haat.run(&["doctor"]);
    assert_eq!(one.code, 3, "{one:?}");
    assert!(
        told(&one, "schedule")[0]
            .1
            .starts_with("1 brand not checked for 24 h: "),
        "{one:?}"
    );
    record(&haat, RunEnd::Finished, &[&[(Unchanged, 26), (Unchanged, 25)]]);
    let none = haat.run(&["doctor"]);
    assert_eq!(none.code, 1, "{none:?}");
    assert!(
        told(&none, "schedule")[0]
            .1
            .starts_with("no brand was checked for 24 h: "),
        "{none:?}"
    );
}

#[test]
fn the_list_of_brands_says_when_each_was_checked_and_what_came_of_it() {
    let haat = market("2");
    record(
        &haat,
        RunEnd::Finished,
        &[&[(CheckOutcome::Changed, 2)], &[(CheckOutcome::Failed, 1)]],
    );
    let listed = brands(&haat);
    assert_eq!(
        (&listed[0]["check"]["outcome"], &listed[0]["check"]["code"]),
        (&"failed".into(), &"timeout".into())
    );
    assert!(listed[0]["check"]["good_at"].is_string(), "{listed:?}");
    assert_eq!(listed[1]["check"], Value::Null);
    let lines = haat.told(&["brands", "list"]);
    let lines: Vec<_> = lines.lines().collect();
    assert!(lines[0].contains("Z  failed (timeout), last success 20"), "{lines:?}");
    assert!(lines[1].contains("  never checked  "), "{lines:?}");
}

#[test]
fn a_run_that_failed_or_died_is_told_with_the_command_that_resumes_it() {
    let haat = market("1");
    let fine = haat.run(&["doctor"]);
    assert_eq!((fine.code, told(&fine, "last run").len()), (0, 0), "{fine:?}");
    record(&haat, RunEnd::Failed, &[&[]]);
    let failed = haat.run(&["doctor"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(
        told(&failed, "last run")[0].1.contains("the lake could not be written"),
        "{failed:?}"
    );
    std::fs::remove_dir_all(haat.path().join("checks")).unwrap();

    let path = files(&haat.path().join("runs"), ".json").remove(0);
    let mut report: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (state, begin) in [
        ("running", "is unfinished, without a sign of life since"),
        ("interrupted", "was interrupted"),
    ] {
        report["state"] = state.into();
        report["ended_at"] = ago(1).to_string().into();
        std::fs::write(&path, report.to_string()).unwrap();
        let died = haat.run(&["doctor"]);
        assert_eq!(died.code, 3, "{died:?}");
        let run = told(&died, "last run");
        assert!(run[0].1.contains(begin) && run[0].1.contains("`haat crawl`"), "{run:?}");
    }
    report["state"] = "running".into();
    report["ended_at"] = ago(0).to_string().into();
    std::fs::write(&path, report.to_string()).unwrap();
    assert_eq!(haat.run(&["doctor"]).code, 0, "a run that is at work is healthy");
}

#[test]
fn a_refused_release_and_a_lake_that_is_newer_are_findings() {
    let haat = market("3");
    for brand in &brands(&haat)[1..] {
        haat.run(&["brands", "remove", brand["slug"].as_str().unwrap()]).json();
    }
    let newer = haat.run(&["doctor"]);
    let release = told(&newer, "release");
    assert_eq!(
        (newer.code, release.len(), release[0].0.as_str()),
        (3, 1, "warning"),
        "{newer:?}"
    );
    assert!(
        release[0].1.contains("2 brands were removed, among them "),
        "{release:?}"
    );
    assert!(release[0].1.contains("the release 300 products"), "{release:?}");
    assert_eq!(haat.run(&["release", "build"]).code, 1);
    let refused = haat.run(&["doctor"]);
    let release = told(&refused, "release");
    assert_eq!(
        (refused.code, release.len(), release[0].0.as_str()),
        (1, 1, "broken"),
        "{refused:?}"
    );
    assert!(release[0].1.contains("was not published"), "{release:?}");
    assert!(
        release[0].1.contains("the current release has 300 products"),
        "{release:?}"
    );
    assert!(release[0].1.contains("--accept-collapse"), "{release:?}");
    haat.run(&["release", "build", "--accept-collapse"]).json();
    assert_eq!(haat.run(&["doctor"]).code, 0);
}

#[test]
fn a_lake_that_was_never_released_is_a_finding_and_an_empty_one_is_none() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "1"]);
    assert_eq!(haat.run(&["doctor"]).code, 0);
    haat.run(&["crawl"]).json();
    let told = told(&haat.run(&["doctor"]), "release");
    assert_eq!(
        told,
        [(
            "warning".to_owned(),
            "no release yet, although the lake has 20 products → `haat release build`".to_owned()
        )]
    );
}

#[test]
fn stores_are_not_to_be_asked_in_the_name_of_somebody_else() {
    let haat = market("1").with("HAAT_STOREFRONT__ALLOW_LOOPBACK", "false");
    let doctor = haat.run(&["doctor"]);
    assert_eq!(doctor.code, 3, "{doctor:?}");
    assert!(
        told(&doctor, "storefront")[0].1.contains("storefront.user_agent"),
        "{doctor:?}"
    );
    let crawl = haat.run(&["crawl"]);
    assert_eq!(crawl.stderr.matches("storefront.user_agent").count(), 1, "{crawl:?}");
    let haat = haat.with("HAAT_STOREFRONT__USER_AGENT", "ours/1.0 (+https://market.example/bot)");
    assert!(!haat.run(&["crawl"]).stderr.contains("user_agent"));
    let doctor = haat.run(&["doctor"]);
    assert!(told(&doctor, "storefront").is_empty(), "{doctor:?}");
}

#[test]
fn a_damaged_file_of_live_prices_that_wait_is_named() {
    let haat = market("2");
    assert!(told(&haat.run(&["doctor"]), "live prices").is_empty());
    let folder = haat.path().join("observations/2026-11-23");
    std::fs::create_dir_all(&folder).unwrap();
    let name = format!("{:020}-{:032}.jsonl.zst", 7, 7);
    std::fs::write(folder.join(&name), "no frame").unwrap();
    let answer = haat.run(&["doctor"]);
    let told = told(&answer, "live prices");
    assert_eq!((answer.code, told.len()), (3, 1), "{told:?}");
    assert_eq!(told[0].0, "warning");
    assert!(told[0].1.contains(&name) && told[0].1.contains("delete it"), "{told:?}");
}

#[test]
fn the_state_is_looked_at_and_never_made() {
    let haat = market("1");
    let folder = haat.path().join("state");
    assert_eq!((haat.run(&["doctor"]).code, folder.exists()), (0, false));
    haat.run(&["keys", "create", "agent"]).json();
    let fine = haat.run(&["doctor"]);
    assert!(
        fine.stdout
            .contains("its database is intact, and its master key exists"),
        "{fine:?}"
    );
    let (key, aside) = (folder.join("master.key"), haat.path().join("elsewhere"));
    std::fs::rename(&key, &aside).unwrap();
    let answer = haat.run(&["doctor"]);
    let lost = told(&answer, "state");
    assert_eq!(
        (answer.code, lost.len(), lost[0].0.as_str()),
        (1, 1, "broken"),
        "{lost:?}"
    );
    assert!(lost[0].1.contains("which is not configured"), "{lost:?}");
    assert!(!key.exists(), "a new one would hide that the old one is lost");
    std::fs::rename(&aside, &key).unwrap();
    assert_eq!(haat.run(&["doctor"]).code, 0);

    let file = folder.join("state.sqlite3");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[4_096..].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let answer = haat.run(&["doctor"]);
    let damaged = told(&answer, "state");
    assert_eq!((answer.code, damaged.len()), (1, 1), "{answer:?}");
    assert!(damaged[0].1.contains("haat restore"), "{damaged:?}");

    // The database file is empty or missing, but the master key shows that there was a database.
    for empty in [true, false] {
        std::fs::remove_file(&file).unwrap();
        for log in ["state.sqlite3-wal", "state.sqlite3-shm"] {
            let _ = std::fs::remove_file(folder.join(log));
        }
        if empty {
            std::fs::write(&file, "").unwrap();
        }
        let answer = haat.run(&["doctor"]);
        let lost = told(&answer, "state");
        assert_eq!((answer.code, lost.len()), (1, 1), "{answer:?}");
        assert!(lost[0].1.contains("the database of the state is lost"), "{lost:?}");
    }
    // No command creates an empty database in its place until the operator confirms it.
    for command in [&["keys", "list"][..], &["keys", "create", "another"], &["jobs", "list"]] {
        let refused = haat.run(command);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(
            refused.stderr.contains("the database of the state is lost"),
            "{refused:?}"
        );
        assert!(!file.exists());
    }
    std::fs::rename(&key, &aside).unwrap();
    haat.run(&["keys", "create", "another"]).json();
    assert_eq!(haat.run(&["doctor"]).code, 0);
}

#[test]
fn what_keeps_servers_from_starting_is_said() {
    let shared = || Haat::new().with("HAAT_STATE__URL", "postgres://haat@127.0.0.1:1/haat");
    let said = told(&shared().run(&["doctor"]), "servers");
    assert!(said.len() == 1 && said[0].1.contains("state.master_key"), "{said:?}");
    let keyed = shared().with("HAAT_STATE__MASTER_KEY", &"5a".repeat(32));
    assert_eq!(told(&keyed.run(&["doctor"]), "servers"), []);
}

#[test]
fn a_home_of_emulated_stores_says_what_it_is_where_they_may_not_be_asked() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "2", "--seed", "7"]);
    let mut crawl = haat.command(&["crawl"]);
    let told = crawl.env_remove("HAAT_STOREFRONT__ALLOW_LOOPBACK").output().unwrap();
    assert_eq!(told.status.code(), Some(2), "{told:?}");
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(
        said.contains("haat demo --home") && said.contains("storefront.allow_loopback"),
        "{said}"
    );
}
