//! Tests of the topology in `deploy/`: compose files, proxy, alerts and dashboard. All services run as processes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::deploy::{read, root, succeeds, understands};
use crate::support::{files, has_program};

/// Parses YAML documents as JSON.
fn yaml(path: &str) -> Value {
    let script = "import json, sys, yaml\nprint(json.dumps(yaml.safe_load(open(sys.argv[1]))))";
    let output = succeeds("python3", &["-c", script, path]);
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn alert_rules_and_the_board_are_understood_by_prometheus_and_do_what_their_tests_say() {
    if !has_program("promtool", &["--version"]) {
        return;
    }
    succeeds("promtool", &["check", "config", "deploy/prometheus/prometheus.yml"]);
    succeeds("promtool", &["test", "rules", "deploy/prometheus/alerts.test.yml"]);
    let rules = read("deploy/prometheus/alerts.yml");
    let tests = read("deploy/prometheus/alerts.test.yml");
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(
            tests.contains(&format!("alertname=\"{alert}\"")),
            "no test lets {alert} come"
        );
    }
    // The dashboard's expressions are no rules, but can be checked as rules.
    let rules: Vec<_> = board()
        .iter()
        .enumerate()
        .map(|(at, expression)| {
            let expression = expression.replace("$__rate_interval", "5m");
            serde_json::json!({ "record": format!("board:{at}"), "expr": expression })
        })
        .collect();
    let document = serde_json::json!({ "groups": [{ "name": "board", "rules": rules }] });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), document.to_string()).unwrap();
    succeeds("promtool", &["check", "rules", &file.path().to_string_lossy()]);
}

fn board() -> Vec<String> {
    let board: Value = serde_json::from_str(&read("deploy/grafana/dashboards/haat.json")).unwrap();
    let panels = board["panels"].as_array().unwrap();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let found: Vec<_> = targets
        .map(|target| target["expr"].as_str().unwrap().to_owned())
        .collect();
    assert!(found.len() > 30, "{found:?}");
    found
}

/// Returns the names in an expression that can be metrics: with an underscore, and neither a function nor a label.
fn metrics_in(expression: &str) -> BTreeSet<String> {
    let not_metrics = ["histogram_quantile", "max_over_time", "exported_job", "build_release"];
    let mut outside = String::new();
    let mut quoted = false;
    let mut braces = 0;
    for char in expression.chars() {
        match char {
            '"' => quoted = !quoted,
            '{' if !quoted => braces += 1,
            '}' if !quoted => braces -= 1,
            _ if !quoted && braces == 0 => outside.push(char),
            _ => {}
        }
        if braces > 0 {
            outside.push(' ');
        }
    }
    let words = outside.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    let named = words.filter(|word| word.contains('_') && !word.starts_with('_') && !not_metrics.contains(word));
    named.map(|word| word.trim_end_matches("_bucket").to_owned()).collect()
}

/// Returns the metric names that the code sets. A metric that is only described is never exported.
fn exported(code: &str) -> BTreeSet<&str> {
    let mut constants: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in code.lines() {
        let constant = line
            .split_once("const ")
            .and_then(|(_, rest)| rest.split_once(": &str = \""));
        if let Some((name, value)) = constant {
            constants.entry(name).or_default().extend(value.split('"').next());
        }
    }
    let mut found = BTreeSet::new();
    for kind in ["gauge!(", "counter!(", "histogram!("] {
        for (at, _) in code.match_indices(kind) {
            let named = code[at + kind.len()..].split([',', ')']).next().unwrap().trim();
            match named.strip_prefix('"') {
                _ if code[..at].ends_with("describe_") => {}
                Some(name) => found.extend(name.split('"').next()),
                None => found.extend(constants.get(named.rsplit(':').next().unwrap()).into_iter().flatten()),
            }
        }
    }
    found
}

#[test]
fn every_metric_of_alerts_and_board_is_one_of_this_program() {
    let alerts = read("deploy/prometheus/alerts.yml");
    // An expression continues while its lines are indented further than its key.
    let mut expressions = board();
    let mut lines = alerts.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(mut expression) = line.trim().strip_prefix("expr: ").map(str::to_owned) else {
            continue;
        };
        while let Some(more) = lines.next_if(|next| next.starts_with("          ")) {
            expression.push_str(more);
        }
        expressions.push(expression);
    }
    let named: BTreeSet<_> = expressions
        .iter()
        .flat_map(|expression| metrics_in(expression))
        .collect();
    assert!(named.len() > 25, "{named:?}");
    let own = |name: &str| !name.starts_with('.') && !["target", "tests", "docs"].contains(&name);
    let folders = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let folders = folders.filter(|path| path.is_dir() && own(&path.file_name().unwrap().to_string_lossy()));
    let sources = folders.flat_map(|folder| files(&folder, ".rs"));
    let code: String = sources
        .filter(|path| !path.to_string_lossy().contains("/tests/"))
        .map(read)
        .collect();
    let exported = exported(&code);
    let unknown: Vec<_> = named.iter().filter(|name| !exported.contains(name.as_str())).collect();
    assert_eq!(unknown, Vec::<&String>::new(), "no such metrics");
}

#[test]
fn every_alert_stays_quiet_where_its_metrics_say_that_all_is_well() {
    if !has_program("python3", &["-c", "import yaml"]) {
        return;
    }
    let tests = yaml("deploy/prometheus/alerts.test.yml");
    let tests = tests["tests"].as_array().unwrap();
    let quiet = tests
        .iter()
        .find(|test| test["name"] == "where all is well, none does")
        .unwrap();
    let quiet = quiet["input_series"].to_string();
    let alerts = yaml("deploy/prometheus/alerts.yml");
    let groups = alerts["groups"].as_array().unwrap().iter();
    for rule in groups.flat_map(|group| group["rules"].as_array().unwrap()) {
        let mut metrics = metrics_in(rule["expr"].as_str().unwrap());
        // `up` is the only metric without an underscore.
        metrics.extend(rule["expr"].as_str().unwrap().contains("up{").then(|| "up".to_owned()));
        assert!(!metrics.is_empty(), "{rule}");
        for metric in metrics {
            let is_there = quiet.contains(&format!("\"{metric}{{")) || quiet.contains(&format!("\"{metric}_bucket{{"));
            assert!(
                is_there,
                "{}: {metric} is not there, so nothing could come",
                rule["alert"]
            );
        }
    }
}

#[test]
fn every_service_that_goes_on_is_scraped_where_it_tells_its_metrics() {
    if !has_program("python3", &["-c", "import yaml"]) {
        return;
    }
    let compose = yaml("deploy/compose.yaml");
    let (mut told, mut commands) = (BTreeSet::new(), BTreeSet::new());
    for (name, service) in compose["services"].as_object().unwrap() {
        let is_own = service["image"].as_str().unwrap().contains("haat:latest");
        if !is_own || service["restart"] == "no" {
            continue;
        }
        commands.insert(service["command"][0].as_str().unwrap().to_owned());
        let settings = service["environment"].as_object().unwrap();
        let listens = settings.iter().find(|(key, _)| key.ends_with("OPS_LISTEN"));
        let (_, address) = listens.unwrap_or_else(|| panic!("{name} tells no metrics"));
        let (_, port) = address.as_str().unwrap().rsplit_once(':').unwrap();
        told.insert(format!("{name}:{port}"));
    }
    let kinds = ["jobs", "live-gateway", "query-server", "worker"];
    assert_eq!(commands.iter().map(String::as_str).collect::<Vec<_>>(), kinds);
    let prometheus = yaml("deploy/prometheus/prometheus.yml");
    let scraped = prometheus["scrape_configs"].as_array().unwrap();
    let own = scraped.iter().filter(|config| config["job_name"] != "prometheus");
    let targets = own.flat_map(|config| config["static_configs"][0]["targets"].as_array().unwrap());
    let scraped_at: BTreeSet<_> = targets.map(|target| target.as_str().unwrap().to_owned()).collect();
    assert_eq!(told, scraped_at);
    // Alerts use the names under which the metrics are scraped.
    let alerts = read("deploy/prometheus/alerts.yml");
    for (at, label) in alerts.match_indices("{job=\"") {
        let job = alerts[at + label.len()..].split('"').next().unwrap();
        assert!(scraped.iter().any(|config| config["job_name"] == job), "{job}");
    }
}

#[test]
fn compose_files_are_of_the_specification_and_every_service_is_confined() {
    if !has_program("check-jsonschema", &["--version"]) {
        return;
    }
    let names = ["deploy/compose.yaml", "deploy/compose.emulator.yaml"];
    succeeds(
        "check-jsonschema",
        &[["--builtin-schema", "vendor.compose-spec"].as_slice(), &names].concat(),
    );
    let compose = yaml(names[0]);
    for (name, service) in compose["services"].as_object().unwrap() {
        assert_eq!(service["read_only"], true, "{name}");
        assert_eq!(service["cap_drop"], serde_json::json!(["ALL"]), "{name}");
        assert_eq!(
            service["security_opt"],
            serde_json::json!(["no-new-privileges:true"]),
            "{name}"
        );
        let once = service["restart"] == "no";
        assert!(
            once || service["deploy"]["resources"]["limits"]["memory"].is_string(),
            "{name}"
        );
        let image = service["image"].as_str().unwrap();
        assert!(
            image.contains("haat:latest") || !image.ends_with(":latest"),
            "{name}: {image}"
        );
    }
    // A secret is only referenced by its name.
    let text = read(names[0]);
    for line in text
        .lines()
        .filter(|line| line.contains("PASSWORD") || line.contains("SECRET") || line.contains("KEY"))
    {
        assert!(
            line.contains("${") || line.contains("$$") || line.trim_start().starts_with('#'),
            "{line}"
        );
    }
}

#[test]
fn every_command_of_the_compose_files_is_one_of_this_program() {
    if !has_program("python3", &["-c", "import yaml"]) {
        return;
    }
    for file in ["deploy/compose.yaml", "deploy/compose.emulator.yaml"] {
        let compose = yaml(file);
        let services = compose["services"].as_object().unwrap();
        let own = |service: &&Value| {
            service["image"]
                .as_str()
                .is_none_or(|image| image.contains("haat:latest"))
        };
        for service in services.values().filter(own) {
            let Some(words) = service["command"].as_array() else {
                continue;
            };
            let words: Vec<_> = words.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
            understands(&words, file);
        }
    }
}

#[test]
fn the_proxy_understands_its_file() {
    if !has_program("caddy", &["version"]) {
        return;
    }
    let version = succeeds("caddy", &["version"]).stdout;
    let version = String::from_utf8(version).unwrap();
    let mut caddy = Command::new("caddy");
    caddy.args(["validate", "--adapter", "caddyfile", "--config", "deploy/Caddyfile"]);
    caddy.env("HAAT_SITE", "https://market.example").current_dir(root());
    // The Caddyfile states that older versions need this setting.
    if version.trim_start_matches('v').starts_with("2.6.") {
        caddy.env("HAAT_PROXY_BUFFERS", "buffer_requests");
    }
    let output = caddy.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the check in docs/operations.md: `deploy/local --check`.
#[test]
fn the_services_of_the_compose_files_run_and_restart_without_a_failed_request() {
    // Services of features that the program lacks are left out.
    let (has_postgres, has_valkey) = (cfg!(feature = "postgres"), cfg!(feature = "valkey"));
    let needed = [
        (true, "caddy", ["version"].as_slice()),
        (has_postgres, "moto_server", &["--help"]),
        (true, "prometheus", &["--version"]),
        (
            has_valkey,
            "sh",
            &["-c", "command -v valkey-server || command -v redis-server"],
        ),
        (true, "python3", &["-c", "import yaml"]),
    ];
    let mut needed = needed.iter().filter(|(is_needed, ..)| *is_needed);
    if !needed.all(|(_, program, args)| has_program(program, args)) {
        return;
    }
    let child = Command::new(root().join("deploy/local"))
        .args(["--check", "--binary", env!("CARGO_BIN_EXE_haat")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The check stops its services even if this test fails.
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} {told}",
        String::from_utf8_lossy(&output.stdout)
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    println!("{report}");
    assert_eq!(report["products"], 2000, "{report}");
    assert_eq!(report["live_price_verified"], true, "{report}");
    assert_eq!(report["metrics_are_public"], false, "{report}");
    assert_eq!(report["limits_shared"], has_valkey, "{report}");
    let left_out = report["left_out"].as_array().unwrap();
    let is_left_out = |service: &str| left_out.iter().any(|left_out| left_out == service);
    assert_eq!(is_left_out("postgres"), !has_postgres, "{report}");
    assert_eq!(is_left_out("valkey"), !has_valkey, "{report}");
    assert_eq!(report["job"], "done", "{report}");
    assert_eq!(report["prometheus"]["refused"], serde_json::json!([]), "{report}");
    assert_eq!(report["failed"], 0, "{report}");
    assert!(report["answered"].as_u64().unwrap() > 500, "{report}");
}
