//! Tests of jobs on a home: triggered jobs, due jobs and lost jobs.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Haat, ServerProcess};

/// Schedule that never comes during a test, for all jobs that the test does not schedule.
const NEVER: &str = "0 0 29 2 *";
const JOBS: [&str; 9] = [
    "REFRESH_CATALOGUE",
    "REFRESH_SHIPPING",
    "REFRESH_REVIEWS",
    "BUILD_RELEASE",
    "COMPACT",
    "VACUUM",
    "COLLECT_GARBAGE",
    "CHECK_QUALITY",
    "PROBE_DELIVERY",
];

fn haat() -> Haat {
    JOBS.iter().fold(Haat::new(), |haat, job| {
        haat.with(&format!("HAAT_JOBS__{job}__CRON"), NEVER)
    })
}

fn history(haat: &Haat, job: &str) -> Vec<Value> {
    let told = haat.run(&["jobs", "history", job]).json();
    told["runs"].as_array().unwrap().clone()
}

fn listed(haat: &Haat, job: &str) -> Value {
    let told = haat.run(&["jobs", "list"]).json();
    let jobs = told["jobs"].as_array().unwrap();
    jobs.iter().find(|listed| listed["name"] == job).unwrap().clone()
}

/// Waits until `wanted` returns a value, while another process works.
fn until<T>(what: &str, wanted: impl Fn() -> Option<T>) -> T {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(100) {
        if let Some(found) = wanted() {
            return found;
        }
    }
    panic!("{what}");
}

fn scheduler(haat: &Haat) -> (ServerProcess, String) {
    let (serving, told) = haat.serve(&["jobs", "run", "--ops-listen", "127.0.0.1:0"]);
    (serving, told["ops_address"].as_str().unwrap().to_owned())
}

fn metric(address: &str, line: &str) -> Option<f64> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let text = runtime.block_on(async {
        let answer = reqwest::get(format!("{address}/metrics")).await.unwrap();
        answer.text().await.unwrap()
    });
    text.lines()
        .find_map(|found| found.strip_prefix(line)?.trim().parse().ok())
}

#[test]
fn each_job_does_what_its_command_does_and_tells_what_it_did() {
    let haat = haat();
    let (_stores, _) = haat.with_stores(&["--products", "60", "--stores", "3", "--seed", "5"]);
    let crawl = haat.run(&["jobs", "trigger", "refresh-catalogue"]).json();
    assert_eq!(
        (
            &crawl["outcome"],
            &crawl["cause"],
            &crawl["counts"]["changed"],
            &crawl["counts"]["products"]
        ),
        (&"done".into(), &"trigger".into(), &3.into(), &60.into())
    );
    // The job is not due again so soon.
    let again = haat.run(&["jobs", "trigger", "refresh-catalogue"]).json();
    assert_eq!(
        (&again["counts"]["due"], &again["counts"]["brands"]),
        (&0.into(), &3.into())
    );
    let build = haat.run(&["jobs", "trigger", "build-release"]).json();
    assert_eq!(
        (&build["counts"]["published"], &build["counts"]["products"]),
        (&1.into(), &60.into())
    );
    assert_eq!(haat.run(&["release", "show"]).json()["counts"]["products"], 60);
    for job in ["compact", "vacuum", "collect-garbage", "check-quality"] {
        let run = haat.run(&["jobs", "trigger", job]).json();
        assert_eq!(run["outcome"], "done", "{run}");
    }
    let quality = &history(&haat, "check-quality")[0];
    assert_eq!(
        (&quality["counts"]["products"], &quality["counts"]["stale"]),
        (&60.into(), &0.into())
    );
    let told = haat.told(&["jobs", "history", "refresh-catalogue"]);
    assert!(told.contains("refresh-catalogue #1 done, triggered in "), "{told}");
    assert!(told.ends_with("2 runs\n"), "{told}");
    let listed = listed(&haat, "build-release");
    assert!(
        listed["good_age_s"].as_i64().is_some_and(|age| (0..900).contains(&age)),
        "{listed}"
    );
    assert_eq!(listed["last_run"]["number"], 1);
}

#[test]
fn what_fails_in_part_exits_with_three_and_what_is_no_job_with_two() {
    let haat = haat();
    let (stores, _) = haat.with_stores(&["--products", "20", "--stores", "2"]);
    drop(stores);
    let run = haat.run(&["jobs", "trigger", "refresh-catalogue"]);
    assert_eq!(
        (run.code, &run.document()["outcome"]),
        (3, &"partial".into()),
        "{run:?}"
    );
    let build = haat.run(&["jobs", "trigger", "build-release"]);
    assert_eq!(build.code, 1, "{build:?}");
    assert!(
        build.stderr.contains("run 1 of build-release failed: "),
        "{}",
        build.stderr
    );
    assert_eq!(history(&haat, "build-release")[0]["outcome"], "failed");
    let unknown = haat.run(&["jobs", "trigger", "crawl"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("refresh-catalogue, refresh-shipping"),
        "{}",
        unknown.stderr
    );
    let cron = haat.with("HAAT_JOBS__COMPACT__CRON", "daily").run(&["jobs", "list"]);
    assert_eq!(cron.code, 2);
    assert!(cron.stderr.contains("jobs.compact.cron"), "{}", cron.stderr);
}

#[test]
fn a_job_rests_between_pause_and_resume_and_the_list_says_so() {
    let haat = haat().with("HAAT_JOBS__COMPACT__CRON", "* * * * *");
    assert_eq!(haat.run(&["jobs", "list"]).json()["jobs"].as_array().unwrap().len(), 9);
    // Listing jobs creates no state.
    assert!(!haat.path().join("state").exists());
    assert_eq!(haat.run(&["jobs", "pause", "compact"]).json()["changed"], true);
    assert_eq!(haat.run(&["jobs", "pause", "compact"]).json()["changed"], false);
    let rests = listed(&haat, "compact");
    assert!(
        rests["next_at"].is_null() && rests["paused"]["at"].is_string(),
        "{rests}"
    );
    assert!(haat.told(&["jobs", "list"]).contains("paused since "));
    assert_eq!(haat.run(&["jobs", "resume", "compact"]).json()["changed"], true);
    assert!(listed(&haat, "compact")["next_at"].is_string());
    assert_eq!(history(&haat, "compact"), Vec::<Value>::new());
}

#[test]
fn a_second_scheduler_and_a_trigger_leave_a_run_to_the_process_that_is_at_work_on_it() {
    // The store is so slow that the crawl runs as long as the test needs.
    let haat = haat();
    let (_stores, _) = haat.with_stores(&["--products", "600", "--stores", "1"]);
    let haat = haat.with("HAAT_STOREFRONT__RATE_START_PER_S", "0.02");
    let (first, address) = scheduler(&haat);
    let (second, _) = scheduler(&haat);
    assert_eq!(
        haat.run(&["jobs", "trigger", "refresh-catalogue", "--queue"]).json()["queued"],
        true
    );
    until("the run begins", || {
        let runs = history(&haat, "refresh-catalogue");
        runs.iter().any(|run| run["outcome"] == "running").then_some(())
    });
    let busy = haat.run(&["jobs", "trigger", "refresh-catalogue"]);
    assert_eq!(busy.code, 4, "{busy:?}");
    assert!(busy.stderr.contains("within 60 s it shows"), "{}", busy.stderr);
    assert!(
        busy.stderr.contains("is already running refresh-catalogue (run 1)"),
        "{}",
        busy.stderr
    );
    let runs = history(&haat, "refresh-catalogue");
    assert_eq!((runs.len(), &runs[0]["outcome"]), (1, &"running".into()));
    until("the metric tells", || {
        metric(&address, "job_running{job=\"refresh-catalogue\"}").filter(|value| *value > 0.5)
    });
    let worker = format!("process {} ", first.child.id());
    let by_first = runs[0]["worker"].as_str().unwrap().starts_with(&worker);
    // Either process may run the crawl. That process finishes the crawl when it is stopped, and the other one
    // continues.
    let (at_work, _other) = if by_first { (first, second) } else { (second, first) };
    let pid = at_work.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    until("the other goes on", || {
        let runs = history(&haat, "refresh-catalogue");
        (runs.len() > 1).then_some(())
    });
    let runs = history(&haat, "refresh-catalogue");
    assert_eq!(
        (&runs[1]["outcome"], &runs[0]["cause"], &runs[0]["outcome"]),
        (&"interrupted".into(), &"retry".into(), &"running".into())
    );
}

#[test]
fn a_run_whose_process_was_killed_is_told_as_lost_and_caught_up_once() {
    let haat = haat();
    let (_stores, _) = haat.with_stores(&["--products", "600", "--stores", "1"]);
    let slow = haat.with("HAAT_STOREFRONT__RATE_START_PER_S", "0.02");
    let (mut killed, _) = scheduler(&slow);
    slow.run(&["jobs", "trigger", "refresh-catalogue", "--queue"]).json();
    until("the run begins", || {
        let runs = history(&slow, "refresh-catalogue");
        runs.iter().any(|run| run["outcome"] == "running").then_some(())
    });
    killed.child.kill().unwrap();
    killed.child.wait().unwrap();
    let haat = slow.with("HAAT_STOREFRONT__RATE_START_PER_S", "1e9");
    let (_next, address) = scheduler(&haat);
    until("the run is made up for", || {
        let runs = history(&haat, "refresh-catalogue");
        (runs[0]["outcome"] == "done").then_some(())
    });
    let runs = history(&haat, "refresh-catalogue");
    let told: Vec<_> = runs
        .iter()
        .map(|run| (run["cause"].as_str().unwrap(), run["outcome"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("retry", "done"), ("trigger", "lost")]);
    assert_eq!(runs[0]["counts"]["products"], 600);
    let good = until("the metric tells", || {
        metric(&address, "job_last_good_timestamp_seconds{job=\"refresh-catalogue\"}")
    });
    assert!(good > 1.7e9, "{good}");
    let (status, ready) = crate::support::get(&format!("{address}/readyz"));
    assert_eq!((status, &ready["status"]), (200, &"ready".into()));
}

#[test]
fn the_scheduler_is_served_on_an_address_of_its_own_and_says_when_that_is_taken() {
    let haat = haat();
    let (_stores, _) = haat.with_stores(&["--products", "6", "--stores", "1"]);
    let (_serving, address) = scheduler(&haat);
    let taken = address.strip_prefix("http://").unwrap();
    let mut refused = haat.command(&["jobs", "run", "--ops-listen", taken]);
    let output = refused.stdout(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("another program listens there"), "{told}");
}
