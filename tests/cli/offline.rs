use crate::support::{Haat, files};

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
    // The command fails but creates the lake, which an SQL statement would not do.
    assert_eq!(haat.run(&["release", "build"]).code, 1);
    let answer = haat.with("HAAT_LAKE__BUCKETS", "8").run(&["sql", "select 1 one"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("lake.buckets"), "{}", answer.stderr);
    let haat = Haat::new().with("HAAT_NO_SUCH_KEY", "7");
    let answer = haat.run(&["config"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("no_such_key"), "{}", answer.stderr);
}

#[test]
fn a_time_zone_that_nobody_knows_is_refused() {
    let haat = Haat::new().with("HAAT_MARKET_TIME_ZONE", "IST");
    let answer = haat.run(&["config"]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(
        answer.stderr.contains("unknown time zone \\\"IST\\\""),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_home_in_memory_is_refused_in_plain_words() {
    for command in [["brands", "add", "kith.example"], ["jobs", "trigger", "compact"]] {
        let answer = Haat::new().at("memory:///").run(&command);
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(
            answer.stderr.contains("is lost when the command ends"),
            "{}",
            answer.stderr
        );
    }
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
        .with("HAAT_S3__RETRY_TIMEOUT_S", "0")
        .with("HAAT_S3__ACCESS_KEY_ID", "key")
        .with("HAAT_S3__SECRET_ACCESS_KEY", "secret");
    assert_eq!(broken.run(&["doctor"]).code, 1);
    // The client's error message appears once, without the details of its parts.
    let told = broken.run(&["brands", "list"]);
    assert_eq!(told.code, 1, "{told:?}");
    for once in ["GET http://127.0.0.1:9", "Connection refused", "error sending request"] {
        assert_eq!(told.stderr.matches(once).count(), 1, "{once}: {}", told.stderr);
    }
    for never in ["Generic S3", "retry_timeout", "HTTP error", "Error performing"] {
        assert!(!told.stderr.contains(never), "{}", told.stderr);
    }
}

#[test]
fn sql_only_reads() {
    let haat = Haat::new();
    for (statement, told) in [
        ("drop table products", "haat sql is read-only: DROP is refused"),
        (
            "insert into brands values (1)",
            "haat sql is read-only: INSERT is refused",
        ),
        (
            "set datafusion.execution.batch_size = 1",
            "haat sql is read-only: SET is refused",
        ),
        ("selec 1", "selec"),
        (
            "select * from product",
            "there is no table product; the lake has brands, ",
        ),
        ("describe nothing", "there is no table nothing; the lake has brands, "),
    ] {
        let answer = haat.run(&["sql", statement]);
        assert_eq!(answer.code, 2, "{statement}: {answer:?}");
        assert!(answer.stderr.contains(told), "{statement}: {}", answer.stderr);
    }
    assert!(!haat.path().join("lake").exists(), "a command that reads made a lake");
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
fn sql_prints_all_rows_as_json_and_says_how_many_a_table_leaves_out() {
    let haat = Haat::new();
    let all = haat.run(&["sql", "select value from generate_series(1, 30000)"]);
    let rows = all.json();
    let rows = rows.as_array().unwrap();
    assert_eq!((rows.len(), &rows[29_999]["value"]), (30_000, &30_000.into()));
    assert_eq!(all.stderr, "");
    assert_eq!(haat.run(&["sql", "select 1 one where false"]).stdout, "[]\n");
    let output = haat
        .plain(&["sql", "select value from generate_series(1, 30000)"])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "haat: 29000 rows left out after the first 1000; --limit N prints more, --json prints all\n"
    );
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("| 1000 ") && !table.contains("| 1001 "), "{table}");
}

#[test]
fn a_command_that_reads_or_serves_makes_no_home_and_says_what_does() {
    let haat = Haat::new();
    let absent = haat.path().join("typo");
    let other = haat.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("letter.txt"), "").unwrap();
    for (home, told) in [
        (
            &absent,
            "does not exist: `haat brands add DOMAIN` creates it, `haat crawl --release` fills it",
        ),
        (
            &other,
            "contains other files, and no registry/, lake/ or releases/: `haat brands add",
        ),
    ] {
        let home = home.to_str().unwrap();
        for args in [
            ["query-server", "--listen", "127.0.0.1:0"].as_slice(),
            &["sql", "select 1 one"],
            &["doctor"],
            &["release", "list"],
            &["release", "show"],
            &["release", "build"],
            &["brands", "list"],
            &["lake", "tables"],
            &["crawl"],
        ] {
            let haat = Haat::new().at(home);
            let answer = haat.run(args);
            assert_eq!(answer.code, 2, "{args:?}: {answer:?}");
            let all = format!("{}{}", answer.stdout, answer.stderr);
            assert!(all.contains(told), "{args:?}: {all}");
        }
    }
    assert!(!absent.exists());
    assert_eq!(std::fs::read_dir(&other).unwrap().count(), 1);
}

#[test]
fn reading_an_empty_home_leaves_it_empty() {
    let haat = Haat::new();
    for args in [
        ["sql", "select count(*) n from products"].as_slice(),
        &["lake", "tables"],
        &["brands", "list"],
        &["release", "list"],
        &["doctor"],
    ] {
        assert_eq!(haat.run(args).code, 0, "{args:?}");
        // The doctor's folder stays, because it writes a temporary object there before renaming it.
        let left = std::fs::read_dir(haat.path()).unwrap().flatten();
        let left: Vec<_> = left
            .map(|entry| entry.file_name())
            .filter(|name| name != ".staging")
            .collect();
        assert!(left.is_empty(), "{args:?}: {left:?}");
    }
}

#[test]
fn a_bucket_without_a_key_or_by_plain_http_is_refused_before_anybody_is_asked() {
    let bucket = || Haat::new().at("s3://market/haat");
    for (haat, told) in [
        (bucket(), "s3.access_key_id is not set"),
        (
            bucket().with("HAAT_S3__ACCESS_KEY_ID", "key"),
            "s3.access_key_id is set, but s3.secret_access_key is not",
        ),
        (
            bucket().with("HAAT_S3__ENDPOINT", "http://127.0.0.1:9"),
            "s3.endpoint begins with http://: use https://, or set s3.allow_http",
        ),
        (
            bucket().with("HAAT_S3__ENDPOINT", "127.0.0.1"),
            "s3.endpoint must be a URL",
        ),
    ] {
        let answer = haat.run(&["brands", "list"]);
        assert_eq!(answer.code, 2, "{answer:?}");
        assert!(answer.stderr.contains(told), "{}", answer.stderr);
        let checked = haat.run(&["doctor"]);
        assert!(checked.code == 2 && checked.stdout.contains(told), "{checked:?}");
    }
}

#[test]
fn a_level_that_is_none_is_refused_and_the_levels_are_listed() {
    let refused = Haat::new().run(&["brands", "list", "--log", "debugg"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("use one of error, warn, info, debug, trace, off"),
        "{refused:?}"
    );
}

#[test]
fn a_home_below_the_users_own_folder_is_found_there() {
    let haat = Haat::new();
    let own = haat.path().to_str().unwrap();
    std::fs::create_dir(haat.path().join("market")).unwrap();
    let told = Haat::new().at("~/market").with("HOME", own).run(&["doctor"]);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(told.stdout.contains(&format!("{own}/market")), "{}", told.stdout);
}

#[test]
fn a_port_in_use_is_told_with_one_that_is_free_and_a_name_can_be_listened_on() {
    let haat = Haat::new();
    let (_server, served) = haat.serve(&["query-server", "--listen", "localhost:0"]);
    let taken = served["address"]
        .as_str()
        .unwrap()
        .strip_prefix("http://")
        .unwrap()
        .to_owned();
    for args in [["query-server", "--listen", &taken], ["demo", "--listen", &taken]] {
        let refused = haat.run(&args);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(
            refused.stderr.contains("127.0.0.1:0 picks a free port"),
            "{}",
            refused.stderr
        );
    }
    let wrong = haat.run(&["query-server", "--listen", "8080"]);
    assert!(
        wrong.code == 2 && wrong.stderr.contains("is not HOST:PORT"),
        "{wrong:?}"
    );
}

#[test]
fn recorded_stores_that_state_no_currency_are_said_to_be_in_an_assumed_one() {
    let haat = Haat::new();
    let recorded = haat.path().join("recorded");
    std::fs::create_dir_all(recorded.join("tea")).unwrap();
    std::fs::write(recorded.join("tea/products.json"), "{\"products\": []}").unwrap();
    let emulated = |args: &[&str]| {
        let recorded = recorded.to_str().unwrap();
        let mut command = haat.command(&[&["emulate", "--recorded", recorded], args].concat());
        let stderr = haat.path().join("stderr");
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::fs::File::create(&stderr).unwrap());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut stdout, &mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        (line, std::fs::read_to_string(stderr).unwrap())
    };
    let (stores, told) = emulated(&[]);
    assert!(stores.contains("\"currency\":\"INR\""), "{stores}");
    assert!(
        told.contains(
            "1 recorded store without a currency in a meta.json, among them tea: their prices are assumed to be in INR"
        ),
        "{told}"
    );
    let (stores, told) = emulated(&["--currency", "USD"]);
    assert!(
        stores.contains("\"currency\":\"USD\"") && told.is_empty(),
        "{stores} {told}"
    );
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

#[test]
fn a_dry_run_of_a_first_crawl_leaves_the_home_as_it_is() {
    let haat = Haat::new();
    let _stores = haat.with_stores(&["--products", "20", "--stores", "2", "--seed", "3"]);
    let before = files(haat.path(), "");
    for args in [
        ["crawl", "--dry-run"].as_slice(),
        &["delivery", "probe", "--dry-run"],
        &["shipping", "refresh", "--dry-run"],
        &["reviews", "refresh", "--dry-run"],
    ] {
        let told = haat.run(args);
        assert_eq!(told.code, 0, "{told:?}");
        assert_eq!(files(haat.path(), ""), before, "{args:?}");
    }
    assert_eq!(haat.run(&["crawl"]).json()["totals"]["changed"], 2);
}
