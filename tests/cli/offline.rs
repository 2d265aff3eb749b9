use crate::support::Haat;

#[test]
fn wrong_usage_exits_with_two_and_names_the_key() {
    let haat = Haat::new().with("HAAT_REFRESH__COLLAPSE__SHARE_MIN", "7");
    let answer = haat.run(&["brands", "list"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(
        answer.stderr.contains("refresh.collapse.share_min"),
        "{}",
        answer.stderr
    );
    let haat = Haat::new().with("HAAT_NO_SUCH_KEY", "7");
    let answer = haat.run(&["config"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("no_such_key"), "{}", answer.stderr);
}

#[test]
fn the_configuration_says_who_set_what_and_hides_secrets() {
    let haat = Haat::new().with("HAAT_S3__SECRET_ACCESS_KEY", "hunter2");
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
