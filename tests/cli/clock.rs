//! Test of a machine's clock that is a year ahead during one command and is then corrected. After that, no command may
//! wait for a year.

use std::process::Command;

use serde_json::Value;

use crate::kill::copy;
use crate::support::{Haat, ServerProcess, has_program};

const AHEAD: &str = "+366d";
const STORES: &str = "4";
const ANY_PORT: &str = "127.0.0.1:0";

/// Home that is used normally and by a machine whose clock is ahead.
struct Home {
    right: Haat,
    ahead: Haat,
    /// Listen address of the stores.
    listen: String,
}

impl Home {
    fn new(right: Haat, listen: String) -> Self {
        let library = Command::new("faketime")
            .args(["-f", AHEAD, "printenv", "LD_PRELOAD"])
            .output()
            .unwrap();
        let library = String::from_utf8(library.stdout).unwrap();
        let ahead = Haat::new()
            .with("LD_PRELOAD", library.trim())
            .with("FAKETIME", AHEAD)
            .with("DONT_FAKE_MONOTONIC", "1")
            .at(right.path().to_str().unwrap());
        Self { right, ahead, listen }
    }

    /// Starts the stores of this epoch, and registers them unless they have their previous address.
    fn stores(&mut self, epoch: &str) -> ServerProcess {
        let stores = [
            "emulate",
            "--products",
            "40",
            "--stores",
            STORES,
            "--seed",
            "5",
            "--epoch",
            epoch,
        ];
        let (serving, told) = self.right.serve(&[&stores[..], &["--listen", &self.listen]].concat());
        if self.listen == ANY_PORT {
            self.right.register(&told);
        }
        let url = told["stores"][0]["base_url"].as_str().unwrap();
        self.listen = format!("127.0.0.1:{}", url.rsplit(':').next().unwrap());
        serving
    }
}

/// Returns the stores' offers in the lake and in the release.
fn offers(haat: &Haat) -> [Vec<Value>; 2] {
    let statement = |from: &str| {
        format!("select count(*) n, sum(price_minor) price, count(distinct product_id) products from {from}")
    };
    let released = ["sql", "--release", &statement("variants")];
    let released = haat.run(&released).json().as_array().unwrap().clone();
    [haat.sql(&statement("variants")), released]
}

/// Runs each command that reads from stores, asserts that none skips its work, and returns the crawl's report.
fn read_all(haat: &Haat) -> Value {
    let crawled = haat.run(&["crawl", "--release"]).json();
    let read = crawled["stores"].as_array().unwrap().len();
    assert_eq!((read, &crawled["totals"]["failed"]), (4, &0.into()), "{crawled}");
    let shipping = haat.run(&["shipping", "refresh", "--after-hours", "0"]).json();
    assert_eq!(shipping["brands"], 4, "{shipping}");
    let probed = haat.run(&["delivery", "probe", "--budget", "150"]).json();
    assert!(probed["asked"].as_u64().unwrap() > 0, "{probed}");
    let reviews = haat.run(&["reviews", "refresh"]).json();
    assert!(reviews["due"].as_u64().unwrap() > 0, "{reviews}");
    haat.run(&["release", "build"]).json();
    crawled
}

#[test]
fn whatever_ran_under_a_clock_that_was_a_year_ahead_the_next_run_of_each_command_does_its_work() {
    if !has_program("faketime", &["-f", "+1d", "true"]) {
        return;
    }
    // Every command starts from a copy of a home that was crawled once.
    let mut crawled = Home::new(Haat::new(), ANY_PORT.to_owned());
    let stores = crawled.stores("0");
    crawled.right.run(&["crawl", "--release"]).json();
    drop(stores);
    let mut fresh = Home::new(Haat::new(), ANY_PORT.to_owned());
    let stores = fresh.stores("2");
    read_all(&fresh.right);
    let expected = offers(&fresh.right);
    drop(stores);
    let commands: [&[&[&str]]; 8] = [
        &[&["crawl", "--release"]],
        &[&["crawl", "--queue"], &["worker", "--until-empty"]],
        &[&["jobs", "trigger", "refresh-catalogue"]],
        &[&["shipping", "refresh"]],
        &[&["delivery", "probe", "--budget", "150"]],
        &[&["reviews", "refresh"]],
        &[&["release", "build"]],
        &[&["up", "--listen", "127.0.0.1:0"]],
    ];
    for wrong in commands {
        let mut home = Home::new(copy(&crawled.right), crawled.listen.clone());
        let stores = home.stores("1");
        for command in wrong {
            if command[0] == "up" {
                let (_serving, _) = home.ahead.serve(command);
            } else {
                let ran = home.ahead.run(command);
                assert_eq!(ran.code, 0, "{command:?}: {ran:?}");
            }
        }
        drop(stores);
        let _stores = home.stores("2");
        let told = home.right.run(&["doctor"]).stdout;
        let is_told = wrong
            .iter()
            .any(|command| ["crawl", "worker", "jobs"].contains(&command[0]));
        assert!(!is_told || told.contains("a clock was ahead"), "{wrong:?}: {told}");
        read_all(&home.right);
        assert_eq!(offers(&home.right), expected, "{wrong:?}");
        let mended = home.right.run(&["doctor"]).document();
        let mut findings = mended["findings"].as_array().unwrap().iter();
        let clock = findings.find(|finding| finding["subject"] == "clock");
        assert!(
            clock.is_none_or(|clock| clock["severity"] == "ok"),
            "{wrong:?}: {mended}"
        );
    }
}
