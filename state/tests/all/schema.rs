use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use state::{MasterKeys, State, StateError, StateTarget};

use crate::support::{Place, at, create, on_both};

async fn run(target: &StateTarget, sql: &'static str) {
    match target {
        StateTarget::Folder(folder) => {
            let options = SqliteConnectOptions::new().filename(folder.join("state.sqlite3"));
            let mut connection = options.connect().await.unwrap();
            connection.execute(sql).await.unwrap();
            connection.close().await.unwrap();
        }
        #[cfg(feature = "postgres")]
        StateTarget::Postgres(url) => {
            let options: sqlx::postgres::PgConnectOptions = url.expose().parse().unwrap();
            options.connect().await.unwrap().execute(sql).await.unwrap();
        }
        StateTarget::Memory => panic!("nobody else can open it"),
    }
}

#[test]
fn what_was_written_is_there_when_the_state_is_opened_again() {
    on_both(async |place| {
        let state = place.open().await;
        let key = create(&state, "One", at(0)).await;
        state.close().await;
        let again = place.open().await;
        assert_eq!(again.find_key(&key.key.hash()).await.unwrap(), Some(key.record));
        again.ping().await.unwrap();
    });
}

#[test]
fn programs_that_start_together_make_one_schema() {
    on_both(async |place| {
        let opening = (0..6).map(|_| {
            let target = place.target.clone();
            tokio::spawn(async move { State::open(&target).await.map(|_| ()) })
        });
        for opened in opening.collect::<Vec<_>>() {
            opened.await.unwrap().unwrap();
        }
        create(&place.open().await, "One", at(0)).await;
    });
}

#[test]
fn the_state_of_a_newer_program_is_refused_in_plain_words() {
    on_both(async |place| {
        place.open().await.close().await;
        run(
            &place.target,
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (7000, 'later', TRUE, 'x', 0)",
        )
        .await;
        let refused = State::open(&place.target).await.unwrap_err();
        let StateError::NewerSchema { found: 7000, known } = &refused else {
            panic!("{refused:?}");
        };
        let told = refused
            .to_string()
            .replace(&format!("at most {known}"), "at most KNOWN");
        // The result is the same on both databases.
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @"the state has schema version 7000, but this program supports at most KNOWN: use the newer program");
        }
    });
}

#[test]
fn a_schema_that_somebody_changed_is_refused() {
    on_both(async |place| {
        place.open().await.close().await;
        run(&place.target, "UPDATE _sqlx_migrations SET checksum = 'x'").await;
        let refused = State::open(&place.target).await.unwrap_err();
        assert!(matches!(refused, StateError::Schema(_)), "{refused:?}");
    });
}

#[test]
fn a_server_without_a_master_key_that_was_used_is_refused() {
    on_both(async |place| {
        let state = place.open().await;
        let keys = |bytes: &[&str]| {
            let keys: Vec<_> = bytes.iter().map(|byte| byte.repeat(32)).collect();
            MasterKeys::parse(&keys.join(",")).unwrap()
        };
        state.use_master_keys(&keys(&["01"]), at(0)).await.unwrap();
        state.use_master_keys(&keys(&["01"]), at(1)).await.unwrap();
        let other = state.use_master_keys(&keys(&["02"]), at(2)).await.unwrap_err();
        let id = keys(&["01"]).ids().next().unwrap().to_string();
        assert!(
            matches!(&other, StateError::MasterKeyMissing { id: told } if *told == id),
            "{other}"
        );
        state.use_master_keys(&keys(&["02", "01"]), at(3)).await.unwrap();
        assert!(state.use_master_keys(&keys(&["01"]), at(4)).await.is_err());
    });
}

#[tokio::test]
#[cfg(unix)]
async fn the_folder_and_the_files_of_sqlite_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::sqlite();
    let state = place.open().await;
    create(&state, "One", at(0)).await;
    let StateTarget::Folder(folder) = &place.target else {
        panic!("{:?}", place.target);
    };
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder), 0o700);
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let target = StateTarget::Folder(file.join("state"));
    let refused = State::open(&target).await.unwrap_err();
    assert!(matches!(refused, StateError::Folder { .. }), "{refused:?}");
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_server_that_is_not_there_is_told_without_its_address() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let target = StateTarget::postgres(&format!("postgres://haat:pass-word@127.0.0.1:{port}/haat")).unwrap();
    let refused = State::open(&target).await.unwrap_err();
    assert!(refused.is_transient(), "{refused:?}");
    let all = format!("{refused:?} {refused} {target:?}");
    assert!(!all.contains("pass-word"), "{all}");
}

#[tokio::test]
async fn a_server_that_dropped_every_connection_is_reached_again_without_a_restart() {
    let Some(place) = Place::postgres().await else {
        return;
    };
    let state = place.open().await;
    let key = create(&state, "One", at(0)).await;
    for nth in 1..4 {
        run(
            &place.target,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .await;
        assert!(state.find_key(&key.key.hash()).await.unwrap().is_some());
        create(&state, "Another", at(nth)).await;
    }
    assert_eq!(state.keys(None).await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_state_in_memory_works_as_any_other() {
    let state = State::open(&StateTarget::Memory).await.unwrap();
    let key = create(&state, "One", at(0)).await;
    assert!(state.find_key(&key.key.hash()).await.unwrap().is_some());
}
