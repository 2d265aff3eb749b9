use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
#[cfg(feature = "postgres")]
use sqlx::postgres::PgPool;
use sqlx::sqlite::SqlitePool;

use crate::error::StateError;

/// One step of the schema, for both databases. A step that was released never changes: databases remember its hash.
struct Step {
    version: i64,
    what: &'static str,
    sqlite: &'static str,
    #[cfg(feature = "postgres")]
    postgres: &'static str,
}

const STEPS: &[Step] = &[
    Step {
        version: 1,
        what: "keys, usage, audit",
        sqlite: include_str!("../../migrations/sqlite/0001_keys.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0001_keys.sql"),
    },
    Step {
        version: 2,
        what: "accounts, sessions, sign-in",
        sqlite: include_str!("../../migrations/sqlite/0002_sign_in.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0002_sign_in.sql"),
    },
    Step {
        version: 3,
        what: "carts, idempotency, customers, signing keys",
        sqlite: include_str!("../../migrations/sqlite/0003_carts.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0003_carts.sql"),
    },
    Step {
        version: 4,
        what: "outcomes of discount codes",
        sqlite: include_str!("../../migrations/sqlite/0004_coupons.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0004_coupons.sql"),
    },
    Step {
        version: 5,
        what: "where the dashboard is",
        sqlite: include_str!("../../migrations/sqlite/0005_dashboard.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0005_dashboard.sql"),
    },
    Step {
        version: 6,
        what: "jobs and their runs",
        sqlite: include_str!("../../migrations/sqlite/0006_jobs.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0006_jobs.sql"),
    },
    Step {
        version: 7,
        what: "the queue of stores to refresh",
        sqlite: include_str!("../../migrations/sqlite/0007_work.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0007_work.sql"),
    },
    Step {
        version: 8,
        what: "keys that are to be confirmed",
        sqlite: include_str!("../../migrations/sqlite/0008_unconfirmed_keys.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0008_unconfirmed_keys.sql"),
    },
    Step {
        version: 9,
        what: "carts by their callers",
        sqlite: include_str!("../../migrations/sqlite/0009_carts_by_caller.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0009_carts_by_caller.sql"),
    },
    Step {
        version: 10,
        what: "signing keys of two algorithms",
        sqlite: include_str!("../../migrations/sqlite/0010_signing_algorithms.sql"),
        #[cfg(feature = "postgres")]
        postgres: include_str!("../../migrations/postgres/0010_signing_algorithms.sql"),
    },
];

pub(super) async fn sqlite(pool: &SqlitePool) -> Result<(), StateError> {
    migrator(|step| step.sqlite).run(pool).await.map_err(refused)
}

/// Several servers that start together wait for each other: the migrator takes a lock of the database.
#[cfg(feature = "postgres")]
pub(super) async fn postgres(pool: &PgPool) -> Result<(), StateError> {
    migrator(|step| step.postgres).run(pool).await.map_err(refused)
}

/// The newest schema that this program knows.
pub(super) fn known() -> i64 {
    STEPS.iter().map(|step| step.version).max().unwrap_or_default()
}

fn migrator(sql: impl Fn(&Step) -> &'static str) -> Migrator {
    let steps = STEPS.iter().map(|step| {
        let kind = MigrationType::Simple;
        Migration::new(step.version, step.what.into(), kind, sql(step).into_sql_str(), false)
    });
    Migrator::with_migrations(steps.collect())
}

fn refused(error: MigrateError) -> StateError {
    let known = known();
    match error {
        MigrateError::VersionMissing(found) | MigrateError::VersionTooNew(found, _) if found > known => {
            StateError::NewerSchema { found, known }
        }
        MigrateError::Execute(error) => match StateError::from(error) {
            StateError::Database(error) => StateError::Schema(MigrateError::Execute(error)),
            gone => gone,
        },
        error => StateError::Schema(error),
    }
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn a_released_step_of_the_schema_never_changes() {
        let hash = |sql: &str| hex::encode(&Sha256::digest(sql)[..8]);
        let told: Vec<_> = STEPS
            .iter()
            .map(|step| format!("{} {} {}", step.version, hash(step.sqlite), hash(step.postgres)))
            .collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        1 a29d2e62dd37b528 adee25a201d56d5b
        2 7db600103286c1c4 ee111e7088b6e508
        3 2b0bff24fcd3cbfa 93d60f4e1977dd84
        4 f22187bc96fee7d9 061cf99f3c380f24
        5 98a9ecf557142f75 fa4862cadb26f685
        6 1274008d7d864585 5bc130cc913722d8
        7 b160f7364e0b8d26 c74a6fd072a0df6c
        8 f5d575973d0dafc0 ae1d46f1b32f2860
        9 c58a3c5a787241ea c58a3c5a787241ea
        10 b5d914028126675a d7685b2752b0f8b7
        ");
    }
}
