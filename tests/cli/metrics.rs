use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Haat, LoggedProgram};

fn server(haat: &Haat) -> LoggedProgram {
    haat.serve_logged(&["query-server", "--listen", "127.0.0.1:0"])
}

/// Waits until the metrics contain `wanted`, and returns them.
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
        assert!(begun.elapsed() < Duration::from_secs(120), "no {wanted:?} in {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn status(url: &str) -> (u16, String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let answer = reqwest::get(url).await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    })
}

/// Returns the loopback address of a server that listens on all addresses.
fn local(address: &Value) -> String {
    address.as_str().unwrap().replace("0.0.0.0", "127.0.0.1")
}

#[test]
fn metrics_are_not_shown_on_a_public_address_unless_it_is_wanted() {
    let public = &["query-server", "--listen", "0.0.0.0:0"];
    let haat = Haat::new();
    let (_server, served) = haat.serve(public);
    let address = local(&served["address"]);
    let (code, body) = status(&format!("{address}/metrics"));
    assert_eq!(code, 404, "{body}");
    // The response is the same as for any unknown path.
    let (_, other) = status(&format!("{address}/nowhere"));
    let kind = |body: &str| serde_json::from_str::<Value>(body).unwrap()["code"].clone();
    assert_eq!(
        (kind(&body), kind(&other)),
        ("route_not_found".into(), "route_not_found".into())
    );
    assert_eq!(status(&format!("{address}/healthz")).0, 200);

    let wanted = Haat::new().with("HAAT_QUERY_SERVER__METRICS_PUBLIC", "true");
    let (_server, served) = wanted.serve(public);
    assert_eq!(status(&format!("{}/metrics", local(&served["address"]))).0, 200);
}

#[test]
fn probes_and_metrics_have_a_listener_of_their_own() {
    let haat = Haat::new().with("HAAT_QUERY_SERVER__OPS_LISTEN", "127.0.0.1:0");
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let (main, ops) = (
        served["address"].as_str().unwrap(),
        served["ops_address"].as_str().unwrap(),
    );
    let codes =
        |base: &str| ["/healthz", "/readyz", "/metrics", "/v1/stats"].map(|path| status(&format!("{base}{path}")).0);
    // There is no release yet, so the server is not ready.
    assert_eq!(codes(ops), [200, 503, 200, 404]);
    // A proxy on this machine forwards external requests, so a loopback address does not protect these paths.
    assert_eq!(codes(main), [200, 503, 404, 503]);
}

#[test]
fn one_address_has_its_share_of_connections_and_others_are_served() {
    let haat = Haat::new()
        .with("HAAT_QUERY_SERVER__CONNECTIONS_PER_ADDRESS_MAX", "5")
        .with("HAAT_QUERY_SERVER__TRUSTED_PROXIES", "")
        .with("HAAT_QUERY_SERVER__OPS_LISTEN", "127.0.0.1:0");
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let address = served["address"].as_str().unwrap().strip_prefix("http://").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut held = Vec::new();
        for place in 0..5 {
            let stream = asked_from([127, 0, 0, 1], address).await;
            held.push(stream.unwrap_or_else(|| panic!("connection {place}")));
        }
        let beyond = (0..7).map(|_| asked_from([127, 0, 0, 1], address));
        assert!(futures::future::join_all(beyond).await.iter().all(Option::is_none));
        assert!(asked_from([127, 0, 0, 2], address).await.is_some());
    });
    let ops = served["ops_address"].as_str().unwrap();
    metrics(ops, "http_connections_refused_total 7");
}

/// Opens a connection from this address and sends a probe. Returns the connection, or `None` if the server closed it
/// without a response.
async fn asked_from(from: [u8; 4], to: &str) -> Option<tokio::net::TcpStream> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(to.parse().unwrap()).await.unwrap();
    // On a closed connection, this step or the next one fails.
    let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let mut answer = Vec::new();
    while !answer.ends_with(b"}") {
        match stream.read_buf(&mut answer).await {
            Ok(read) if read > 0 => {}
            _ => return None,
        }
    }
    Some(stream)
}

#[test]
fn a_server_counts_from_nothing_and_says_what_each_number_means() {
    let haat = Haat::new();
    let server = server(&haat);
    let address = server.document["address"].as_str().unwrap();
    metrics(address, "query_releases_failed_total 0");
    metrics(address, "process_cpu_seconds_total ");
    let version = env!("CARGO_PKG_VERSION");
    metrics(address, &format!("haat_build_info{{version=\"{version}\"}} 1"));
    let text = metrics(address, "http_requests_total{");
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
    let server = server(&haat);
    let line = server.log.recv_timeout(Duration::from_secs(120)).unwrap();
    let release = released["release"]["release"].as_str().unwrap();
    assert!(line.contains("a release is served") && line.contains(release), "{line}");
    let address = server.document["address"].as_str().unwrap();
    let text = metrics(address, "query_release_built_timestamp_seconds ");
    let told = text
        .lines()
        .find_map(|line| line.strip_prefix("query_release_built_timestamp_seconds "));
    let built: data_model::Timestamp = built_at.as_str().unwrap().parse().unwrap();
    let difference = told.unwrap().parse::<f64>().unwrap() - built.micros() as f64 / 1e6;
    assert!(difference.abs() < 0.001, "{built_at}: {told:?}");
}

fn value(text: &str, line: &str) -> f64 {
    let told = text.lines().find_map(|found| found.strip_prefix(line));
    told.unwrap_or_else(|| panic!("no {line:?} in {text}"))
        .trim()
        .parse()
        .unwrap()
}

#[test]
fn servers_tell_the_room_on_their_disks_and_the_newest_backup() {
    const BACKUP: &str = "backup_newest_timestamp_seconds ";
    let haat = Haat::new().with("HAAT_JOBS__OPS_LISTEN", "127.0.0.1:0");
    let (_stores, _) = haat.with_stores(&["--products", "6", "--stores", "1"]);
    // The processes share the home, but each has its own disks.
    let asked = |args: &[&str], key: &str| {
        let (_server, served) = haat.serve(args);
        metrics(served[key].as_str().unwrap(), BACKUP)
    };
    let query = || asked(&["query-server", "--listen", "127.0.0.1:0"], "address");
    let jobs = || asked(&["jobs", "run"], "ops_address");
    let worker = || asked(&["worker", "--ops-listen", "127.0.0.1:0"], "ops_address");
    for text in [query(), jobs(), worker()] {
        assert_eq!(value(&text, BACKUP) as i64, 0);
        assert!(value(&text, "disk_free_bytes{place=\"home\"} ") > 0.0);
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    haat.run(&["backup", "create", place, "--dry-run"]).json();
    assert_eq!(value(&query(), BACKUP) as i64, 0, "nothing was copied");
    for _ in 0..2 {
        haat.run(&["backup", "create", place]).json();
    }
    let listed = haat.run(&["backup", "list", place]).json();
    let began = listed["backups"].as_array().unwrap().iter().map(|backup| {
        let began_at: data_model::Timestamp = backup["began_at"].as_str().unwrap().parse().unwrap();
        began_at.micros() / 1_000_000
    });
    let newest = began.max().unwrap();
    for text in [query(), jobs(), worker()] {
        assert_eq!(value(&text, BACKUP) as i64, newest);
    }
}
