use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
#[cfg(feature = "postgres")]
use sqlx::postgres::PgPool;
use sqlx::sqlite::SqlitePool;

use crate::error::StateError;

/// One schema migration for both databases. A released migration never changes, because databases store its hash.
struct Step {
    version: i64,
    what: &'static str,
    sqlite: &'static str,
    #[cfg(feature = "postgres")]
    postgres: &'static str,
}

const STEPS: &[Step] = &[Step {
    version: 1,
    what: "the state",
    sqlite: include_str!("../../migrations/sqlite/0001_state.sql"),
    #[cfg(feature = "postgres")]
    postgres: include_str!("../../migrations/postgres/0001_state.sql"),
}];

pub(super) async fn sqlite(pool: &SqlitePool) -> Result<(), StateError> {
    migrator(|step| step.sqlite).run(pool).await.map_err(refused)
}

/// Servers that start together wait for each other, because the migrator takes a database lock.
#[cfg(feature = "postgres")]
pub(super) async fn postgres(pool: &PgPool) -> Result<(), StateError> {
    migrator(|step| step.postgres).run(pool).await.map_err(refused)
}

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
        insta::assert_snapshot!(told.join("\n"), @"1 fd9d5b494a5802ca 9d802dac289eb5cb");
    }
}
