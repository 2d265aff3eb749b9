//! A state that an older program made is brought up to date by opening it, and what was in it holds.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, SqlSafeStr};
use state::{
    ApiKey, AuditQuery, Day, KeyId, KeyIndex, KeyRefusal, KeyStatus, LOCAL_ISSUER, MasterKeys, NewSession,
    SessionLimits, SignInMethod, SigningKeyRow, State, StateError, StateTarget, UsageBatch, UsageEntry,
};

use crate::support::{Place, at, cli, create, india, on_both, told};

const MASTER_KEY: &str = "0102030405060708010203040506070801020304050607080102030405060708";
const DAY: Duration = Duration::from_secs(86_400);

/// Keys as the first program made them.
struct OldKeys {
    active: ApiKey,
    revoked: ApiKey,
    ending: ApiKey,
    granted: ApiKey,
}

const ACTIVE: &str = "key_000000000001";
const REVOKED: &str = "key_000000000002";
const ENDING: &str = "key_000000000003";
const GRANTED: &str = "key_000000000004";
/// The columns of the first schema, in its order.
const KEY_COLUMNS: &str =
    "id, hash, hint, name, plan, account, created_at, last_used_day, ends_at, revoked_at, replaced_by, revision";

/// The parts of a migration that the two databases write differently.
enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    fn of(target: &StateTarget) -> Self {
        match target {
            #[cfg(feature = "postgres")]
            StateTarget::Postgres(_) => Self::Postgres,
            StateTarget::Folder(_) | StateTarget::Memory => Self::Sqlite,
        }
    }

    /// The files of the schema, in their order.
    fn steps(&self) -> Vec<Migration> {
        let folder = match self {
            Self::Sqlite => "migrations/sqlite",
            Self::Postgres => "migrations/postgres",
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let step = |file: &std::path::PathBuf| {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let (version, what) = name.split_once('_').unwrap();
            let sql = AssertSqlSafe(std::fs::read_to_string(file).unwrap()).into_sql_str();
            let version = version.parse().unwrap();
            Migration::new(version, what.to_owned().into(), MigrationType::Simple, sql, false)
        };
        files.iter().map(step).collect()
    }

    fn bytes(&self, bytes: &[u8]) -> String {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        match self {
            Self::Sqlite => format!("X'{digits}'"),
            Self::Postgres => format!("'\\x{digits}'::bytea"),
        }
    }
}

/// Makes the state as the program did that knew this many steps of the schema, and puts in what `sql` says.
async fn as_of(target: &StateTarget, steps: usize, sql: String) {
    let known: Vec<_> = Dialect::of(target).steps().into_iter().take(steps).collect();
    assert_eq!(known.len(), steps);
    let migrator = Migrator::with_migrations(known);
    match target {
        StateTarget::Folder(folder) => {
            std::fs::create_dir_all(folder).unwrap();
            let options = SqliteConnectOptions::new().filename(folder.join("state.sqlite3"));
            let options = options.create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
            let mut connection = options.connect().await.unwrap();
            migrator.run(&mut connection).await.unwrap();
            connection.execute(AssertSqlSafe(sql)).await.unwrap();
            connection.close().await.unwrap();
        }
        #[cfg(feature = "postgres")]
        StateTarget::Postgres(url) => {
            let options: sqlx::postgres::PgConnectOptions = url.expose().parse().unwrap();
            let mut connection = options.connect().await.unwrap();
            migrator.run(&mut connection).await.unwrap();
            connection.execute(AssertSqlSafe(sql)).await.unwrap();
            connection.close().await.unwrap();
        }
        StateTarget::Memory => panic!("it does not outlive a program"),
    }
}

/// Rows of the first program: four keys in every condition, of an account and of nobody, their use, the audit,
/// and the master key in use.
fn rows(before: &OldKeys, dialect: &Dialect) -> String {
    let (made, later) = (at(0).micros(), at(60).micros());
    let ends = at(86_400).micros();
    let day = Day::of(at(0), india()).number();
    let hash = |key: &ApiKey| dialect.bytes(key.hash().as_bytes());
    let OldKeys {
        active,
        revoked,
        ending,
        granted,
    } = before;
    let master = MasterKeys::parse(MASTER_KEY).unwrap().ids().next().unwrap();
    [
        format!(
            "INSERT INTO keys ({KEY_COLUMNS}) VALUES ('{GRANTED}', {}, '{}', 'Data team', 'granted', NULL, {later}, NULL, NULL, NULL, \
             NULL, 5)",
            hash(granted),
            granted.hint()
        ),
        format!(
            "INSERT INTO keys ({KEY_COLUMNS}) VALUES ('{ACTIVE}', {}, '{}', 'Mobile app', 'free', 'acme', {made}, {day}, NULL, NULL, \
             NULL, 1)",
            hash(active),
            active.hint()
        ),
        format!(
            "INSERT INTO keys ({KEY_COLUMNS}) VALUES ('{REVOKED}', {}, '{}', 'Leaked', 'free', 'acme', {made}, NULL, NULL, {later}, \
             NULL, 4)",
            hash(revoked),
            revoked.hint()
        ),
        format!(
            "INSERT INTO keys ({KEY_COLUMNS}) VALUES ('{ENDING}', {}, '{}', 'Data team', 'granted', NULL, {made}, NULL, {ends}, NULL, \
             '{GRANTED}', 5)",
            hash(ending),
            ending.hint()
        ),
        "UPDATE key_revision SET value = 5".to_owned(),
        format!("INSERT INTO usage VALUES ('{ACTIVE}', {day}, '/v1/search', 41)"),
        format!("INSERT INTO usage_batches VALUES ('019aa000-0000-7000-8000-000000000001', {day})"),
        format!(
            "INSERT INTO audit (at, actor_kind, actor_name, action, key_id, account, detail) VALUES \
             ({made}, 'account', 'acme', 'key.created', '{ACTIVE}', 'acme', \
             '{{\"name\":\"Mobile app\",\"plan\":\"free\"}}'), \
             ({later}, 'operator', 'cli', 'key.revoked', '{REVOKED}', 'acme', '{{\"name\":\"Leaked\"}}')"
        ),
        format!("INSERT INTO master_keys VALUES ('{master}', {made})"),
    ]
    .join(";\n")
}

async fn made_by_an_older_program(place: &Place, steps: usize) -> OldKeys {
    let key = || ApiKey::generate().unwrap();
    let before = OldKeys {
        active: key(),
        revoked: key(),
        ending: key(),
        granted: key(),
    };
    let sql = rows(&before, &Dialect::of(&place.target));
    as_of(&place.target, steps, sql).await;
    before
}

/// Keys made before identify as they did, and what is done to them is noticed.
async fn keys_hold(state: &State, before: &OldKeys) {
    let index = KeyIndex::load(state.clone()).await.unwrap();
    let known = |key: &ApiKey, second| index.check(key.expose(), at(second)).map(|grant| grant.id.to_string());
    assert_eq!(known(&before.active, 100), Ok(ACTIVE.to_owned()));
    assert_eq!(known(&before.granted, 100), Ok(GRANTED.to_owned()));
    assert_eq!(known(&before.ending, 100), Ok(ENDING.to_owned()));
    assert_eq!(known(&before.ending, 86_400), Err(KeyRefusal::Unknown));
    assert_eq!(known(&before.revoked, 100), Err(KeyRefusal::Unknown));
    // Numbers of changes go on from where they stood, so nothing new looks old.
    let new = create(state, "New", at(101)).await;
    state.revoke_key(&before_id(ENDING), &cli(), at(102)).await.unwrap();
    assert_eq!(index.refresh().await.unwrap(), 2);
    index.check(new.key.expose(), at(103)).unwrap();
    assert_eq!(index.check(before.ending.expose(), at(103)), Err(KeyRefusal::Unknown));
}

fn before_id(id: &str) -> KeyId {
    id.parse().unwrap()
}

#[test]
fn keys_of_the_first_schema_hold_after_every_step_to_todays() {
    on_both(async |place| {
        let before = made_by_an_older_program(&place, 1).await;
        let state = place.open().await;
        let key = state.find_key(&before.active.hash()).await.unwrap().unwrap();
        insta::allow_duplicates! {
            insta::assert_snapshot!(told(&key, &BTreeMap::from([(key.hint.clone(), "HINT")])), @r#"
                {
                  "id": "key_000000000001",
                  "name": "Mobile app",
                  "plan": "free",
                  "account": "acme",
                  "hint": "HINT",
                  "created_at": "2026-11-23T04:00:00Z",
                  "last_used_on": "2026-11-23",
                  "ends_at": null,
                  "revoked_at": null,
                  "replaced_by": null,
                  "unconfirmed_since": null
                }
                "#);
        }
        let statuses: Vec<_> = state.keys(None).await.unwrap();
        let statuses: Vec<_> = statuses
            .iter()
            .map(|key| (key.id.as_str(), key.status(at(100))))
            .collect();
        let mut statuses = statuses;
        statuses.sort_by_key(|(id, _)| *id);
        assert_eq!(
            statuses,
            [
                (ACTIVE, KeyStatus::Active),
                (REVOKED, KeyStatus::Revoked),
                (ENDING, KeyStatus::Ending),
                (GRANTED, KeyStatus::Active),
            ]
        );
        keys_hold(&state, &before).await;
    });
}

#[test]
fn use_and_audit_of_the_first_schema_are_gone_on_with() {
    on_both(async |place| {
        let before = made_by_an_older_program(&place, 1).await;
        let state = place.open().await;
        let (id, today) = (before_id(ACTIVE), Day::of(at(0), india()));
        let batch = UsageBatch::new([UsageEntry {
            key: id.clone(),
            day: today,
            route: "/v1/search".to_owned(),
            requests: 1,
        }]);
        state.add_usage(&batch).await.unwrap();
        state.add_usage(&batch).await.unwrap();
        let usage = state.usage_of_key(&id, today, today).await.unwrap();
        assert_eq!(usage.iter().map(|row| row.requests).collect::<Vec<_>>(), [42]);

        let rotated = state.rotate_key(&id, DAY, &cli(), at(200)).await.unwrap();
        assert_eq!(rotated.issued.record.account.as_ref().unwrap().as_str(), "acme");
        assert!(
            state
                .find_key(&before.active.hash())
                .await
                .unwrap()
                .unwrap()
                .ends_at
                .is_some()
        );
        let events = state.audit(&AuditQuery::default(), 10).await.unwrap();
        let told: Vec<_> = events.iter().rev().map(|event| event.action.as_str()).collect();
        assert_eq!(told, ["key.created", "key.revoked", "key.rotated"]);
        // An append-only row cannot be changed after the steps either.
        let change = match &place.target {
            StateTarget::Folder(folder) => {
                let options = SqliteConnectOptions::new().filename(folder.join("state.sqlite3"));
                let mut connection = options.connect().await.unwrap();
                connection.execute("DELETE FROM audit").await.map(|_| ())
            }
            #[cfg(feature = "postgres")]
            StateTarget::Postgres(url) => {
                let options: sqlx::postgres::PgConnectOptions = url.expose().parse().unwrap();
                let mut connection = options.connect().await.unwrap();
                connection.execute("DELETE FROM audit").await.map(|_| ())
            }
            StateTarget::Memory => panic!("nobody else can open it"),
        };
        assert!(change.unwrap_err().to_string().contains("append-only"));
    });
}

#[test]
fn what_later_schemas_brought_works_in_a_state_of_the_first() {
    on_both(async |place| {
        made_by_an_older_program(&place, 1).await;
        let state = place.open().await;
        let other = MasterKeys::parse(&"07".repeat(32)).unwrap();
        let refused = state.use_master_keys(&other, at(1)).await.unwrap_err();
        assert!(matches!(refused, StateError::MasterKeyMissing { .. }), "{refused:?}");
        let keys = MasterKeys::parse(MASTER_KEY).unwrap();
        state.use_master_keys(&keys, at(1)).await.unwrap();

        let account = state
            .find_or_create_account(LOCAL_ISSUER, "asha", None, at(2))
            .await
            .unwrap();
        let new = NewSession {
            method: SignInMethod::Link,
            client: String::new(),
            limits: SessionLimits {
                idle_ms: 60_000,
                total_ms: 60_000,
            },
            replaces: None,
        };
        let session = state.create_session(&account.id, new, at(2)).await.unwrap();
        let found = state.find_session(&session.token.hash(), at(3)).await.unwrap();
        assert_eq!(found.unwrap().account, account.id);
        let signing = SigningKeyRow {
            id: "kid".to_owned(),
            public_key: vec![7; 32],
            sealed: vec![1],
            signs_from: at(2),
            ends_at: None,
        };
        let kept = state.add_first_signing_key(&signing).await.unwrap();
        assert_eq!(kept, [signing]);
    });
}

#[test]
fn a_state_of_every_schema_there_was_is_brought_up_to_date_and_stays_so() {
    let steps = Dialect::Sqlite.steps().len();
    assert_eq!(steps, Dialect::Postgres.steps().len());
    for known in 1..steps {
        on_both(async |place| {
            let before = made_by_an_older_program(&place, known).await;
            let state = place.open().await;
            keys_hold(&state, &before).await;
            state.close().await;
            let again = place.open().await;
            assert!(again.find_key(&before.active.hash()).await.unwrap().is_some());
        });
    }
}
