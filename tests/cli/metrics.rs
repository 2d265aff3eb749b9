use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Haat, Serving};

/// A query server: its address, and the lines of its log.
fn server(haat: &Haat) -> (Serving, String, mpsc::Receiver<String>) {
    let mut command = haat.command(&["query-server", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let served: Value = serde_json::from_str(&line).unwrap();
    let (sender, lines) = mpsc::channel();
    let log = BufReader::new(child.stderr.take().unwrap());
    std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    (Serving { child }, served["address"].as_str().unwrap().to_owned(), lines)
}

/// The metrics, as soon as `wanted` is among them.
fn metrics(address: &str, wanted: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begun = Instant::now();
    loop {
        let url = format!("{address}/metrics");
        let text = runtime.block_on(async { reqwest::get(&url).await.unwrap().text().await.unwrap() });
        if text.contains(wanted) {
            return text;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "no {wanted:?} in {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_counts_from_nothing_and_says_what_each_number_means() {
    let haat = Haat::new();
    let (_server, address, _) = server(&haat);
    metrics(&address, "query_releases_failed_total 0");
    metrics(&address, "process_cpu_seconds_total ");
    metrics(&address, "haat_build_info{version=\"0.0.0\"} 1");
    let text = metrics(&address, "http_requests_total{");
    let measured = text
        .lines()
        .find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    assert!(measured.unwrap().parse::<f64>().unwrap() > 1e6, "{text}");
    for kind in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = kind.split(' ').next().unwrap();
        assert!(text.contains(&format!("# HELP {name} ")), "{name}: {text}");
    }
}

#[test]
fn the_release_that_is_served_is_in_the_log_and_its_age_in_the_metrics() {
    let haat = Haat::new();
    let (_stores, _) = haat.with_stores(&["--products", "20", "--stores", "1"]);
    let released = haat.run(&["crawl", "--release"]).json();
    let built_at = haat.run(&["release", "show"]).json()["built_at"].clone();
    let (_server, address, log) = server(&haat);
    let line = log.recv_timeout(Duration::from_secs(30)).unwrap();
    let release = released["release"]["release"].as_str().unwrap();
    assert!(line.contains("a release is served") && line.contains(release), "{line}");
    let text = metrics(&address, "query_release_built_timestamp_seconds ");
    let told = text
        .lines()
        .find_map(|line| line.strip_prefix("query_release_built_timestamp_seconds "));
    let built: data_model::Timestamp = built_at.as_str().unwrap().parse().unwrap();
    let difference = told.unwrap().parse::<f64>().unwrap() - built.micros() as f64 / 1e6;
    assert!(difference.abs() < 0.001, "{built_at}: {told:?}");
}
