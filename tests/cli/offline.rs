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
        .with("HAAT_S3__ALLOW_HTTP", "true");
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
fn a_dry_run_confirms_nothing() {
    let refused = Haat::new().run(&["crawl", "--dry-run", "--confirm", "any"]);
    assert_eq!(refused.code, 2, "{refused:?}");
}
