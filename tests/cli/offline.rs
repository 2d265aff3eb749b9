use crate::support::Haat;

#[test]
fn wrong_usage_exits_with_two_and_names_the_key() {
    for (key, value) in [
        ("refresh.collapse.share_min", "7"),
        ("refresh.crawl.page_limit", "0"),
        ("lake.retention_hours", "721"),
    ] {
        let variable = format!("HAAT_{}", key.replace('.', "__").to_uppercase());
        let answer = Haat::new().with(&variable, value).run(&["brands", "list"]);
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(answer.stderr.contains(key), "{}", answer.stderr);
    }
    let haat = Haat::new();
    haat.sql("select 1 one");
    let answer = haat.with("HAAT_LAKE__BUCKETS", "8").run(&["sql", "select 1 one"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("lake.buckets"), "{}", answer.stderr);
    let haat = Haat::new().with("HAAT_NO_SUCH_KEY", "7");
    let answer = haat.run(&["config"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("no_such_key"), "{}", answer.stderr);
}

#[test]
fn the_configuration_says_who_set_what_and_hides_secrets() {
    let haat = Haat::new().with("HAAT_S3__SECRET_ACCESS_KEY", "hunter2").with(
        "HAAT_TRACES__ENDPOINT",
        "http://me:hunter2@collector.test/v1/traces?key=hunter2",
    );
    std::fs::write(haat.path().join("haat.toml"), "[query_server]\npoll_ms = 77\n").unwrap();
    let answer = haat.run(&["config"]);
    let document = answer.json();
    let setting = |key: &str| {
        document["settings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|setting| setting["key"] == key)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (
            &setting("query_server.poll_ms")["value"],
            &setting("query_server.poll_ms")["from"]
        ),
        (&77.into(), &"file".into())
    );
    assert_eq!(setting("s3.secret_access_key")["from"], "environment");
    assert_eq!(setting("home")["from"], "flag");
    assert_eq!(
        setting("traces.endpoint")["value"],
        "http://not-shown@collector.test/v1/traces?not-shown"
    );
    assert!(!answer.stdout.contains("hunter2"));
}

#[test]
fn every_key_is_explained_and_what_is_printed_is_a_configuration_that_says_the_same() {
    let haat = Haat::new();
    let shown = haat.run(&["config"]).json();
    let settings = shown["settings"].as_array().unwrap();
    assert!(settings.len() > 80);
    for setting in settings {
        let meaning = setting["meaning"].as_str().unwrap();
        assert!(meaning.ends_with(['.', '…']), "{}: {meaning:?}", setting["key"]);
    }
    let explained = include_str!("../../src/config/keys.tsv").lines().count();
    assert_eq!(explained, settings.len(), "a key that is explained is gone");
    let mut plain = std::process::Command::new(env!("CARGO_BIN_EXE_haat"));
    let printed = plain
        .current_dir(haat.path())
        .args(["config", "--explain"])
        .output()
        .unwrap();
    assert!(printed.status.success());
    std::fs::write(haat.path().join("haat.toml"), &printed.stdout).unwrap();
    let again = haat.run(&["config"]).json();
    let value = |setting: &serde_json::Value| (setting["key"].clone(), setting["value"].clone());
    let both = settings.iter().zip(again["settings"].as_array().unwrap());
    both.for_each(|(one, other)| assert_eq!(value(one), value(other)));
}

#[test]
fn an_empty_home_is_told_apart_from_a_broken_one() {
    let haat = Haat::new();
    assert_eq!(haat.run(&["brands", "list"]).json()["brands"], serde_json::json!([]));
    assert_eq!(haat.run(&["release", "list"]).json()["releases"], serde_json::json!([]));
    assert_eq!(haat.sql("select count(*) n from products")[0]["n"], 0);
    let answer = haat.run(&["release", "rollback"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let broken = Haat::new()
        .at("s3://no-such-bucket/x")
        .with("HAAT_S3__ENDPOINT", "http://127.0.0.1:9")
        .with("HAAT_S3__ALLOW_HTTP", "true")
        .with("HAAT_S3__RETRY_TIMEOUT_S", "0");
    assert_eq!(broken.run(&["doctor"]).code, 1);
}

#[test]
fn sql_only_reads() {
    let haat = Haat::new();
    for statement in [
        "drop table products",
        "insert into brands select * from brands",
        "set datafusion.execution.batch_size = 1",
        "selec 1",
    ] {
        let answer = haat.run(&["sql", statement]);
        assert_eq!(answer.code, 2, "{statement}: {answer:?}");
    }
}

#[test]
fn sql_prints_every_column_of_every_row_and_says_what_it_left_out() {
    let haat = Haat::new();
    let rows = haat.run(&[
        "sql",
        "select * from (values (1, null), (2, 'b'), (3, 'c')) t(x, y)",
        "--limit",
        "2",
    ]);
    assert_eq!(
        rows.json(),
        serde_json::json!([{"x": 1, "y": null}, {"x": 2, "y": "b"}])
    );
    assert!(rows.stderr.contains("--limit"), "{}", rows.stderr);
}

#[test]
fn sql_describes_each_column_of_the_lake_in_words() {
    let haat = Haat::new();
    for table in ["products", "price_history"] {
        let columns = haat.sql(&format!("DESCRIBE {table};"));
        assert!(columns.len() > 8, "{columns:?}");
        for column in columns {
            assert!(
                column["comment"].as_str().is_some_and(|text| text.len() > 5),
                "{column}"
            );
        }
    }
    assert_eq!(haat.run(&["sql", "describe nothing"]).code, 2);
}

#[test]
fn a_dry_run_confirms_nothing() {
    let refused = Haat::new().run(&["crawl", "--dry-run", "--confirm", "any"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}

#[test]
fn wrong_arguments_are_told_as_json_where_json_is_asked_for() {
    for args in [["crawl", "--nope"], ["nonsense", "--home"], ["lake", "vacuum"]] {
        let haat = Haat::new();
        let answer = match args {
            ["lake", "vacuum"] => haat.run(&["lake", "vacuum", "--retention-hours", "721"]),
            args => haat.run(&args),
        };
        assert_eq!(answer.code, 2, "{answer:?}");
        let told: serde_json::Value = serde_json::from_str(&answer.stderr).unwrap();
        assert_eq!(told["error"]["exit_code"], 2, "{told}");
    }
}

#[test]
fn texts_of_the_environment_that_look_like_numbers_stay_texts() {
    let haat = Haat::new()
        .with("HAAT_S3__ACCESS_KEY_ID", "00123")
        .with("HAAT_QUERY_SERVER__POLL_MS", "77")
        .with("HAAT_EMBEDDING__ENDPOINT__MODEL", "1e3");
    let document = haat.run(&["config"]).json();
    let value = |key: &str| {
        let settings = document["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["key"] == key).unwrap()["value"].clone()
    };
    assert_eq!(value("s3.access_key_id"), "00123");
    assert_eq!(value("embedding.endpoint.model"), "1e3");
    assert_eq!(value("query_server.poll_ms"), 77);
}

#[test]
fn a_home_that_is_not_there_is_told_however_it_is_written() {
    for home in ["/nowhere/at/all", "file:///nowhere/at/all", ""] {
        let answer = Haat::new().at(home).run(&["brands", "list"]);
        assert_eq!(answer.code, 2, "{home:?}: {answer:?}");
        assert!(answer.stderr.contains("home"), "{}", answer.stderr);
    }
}

#[test]
fn who_closes_standard_output_has_read_enough() {
    let haat = Haat::new();
    let mut command = haat.command(&[
        "sql",
        "select value from generate_series(1, 300000)",
        "--limit",
        "300000",
    ]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
