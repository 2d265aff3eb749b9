//! A dump of the state: every row of every table, as lines of JSON that can be loaded into either database.
//!
//! ```text
//! {"dump":1,"schema":5}
//! {"table":"keys","row":{"id":"key_…","hash":{"hex":"…"},"revoked_at":null,…}}
//! {"end":{"rows":1}}
//! ```
//!
//! The tables contain only texts, numbers and bytes. Sealed data stays sealed: without the master keys a dump contains
//! no secret.

mod keys;
mod lines;

use std::io::{BufRead, Write};

use async_recursion::async_recursion as boxed;
use futures::TryStreamExt as _;
use serde_json::{Map, Value as Json, json};
use sqlx::{AssertSqlSafe, Column as _, Row as _, TypeInfo as _, ValueRef as _};

pub use self::keys::{KeyFate, KeysSince};
use self::lines::{End, FORM, KEYS, Line, MADE, damaged, next_line, write_line};
use super::migrate;
use super::statement::{Value, WriteTransaction, in_time};
use super::{Database, State};
use crate::error::StateError;

/// A table of the schema. The list contains a table after all tables that it refers to.
struct Table {
    name: &'static str,
    /// A column that refers to another row of the same table, and the id column.
    refers: Option<(&'static str, &'static str)>,
}

/// A deferred reference of one row, filled in after all rows are loaded.
struct ReferenceUpdate {
    sql: String,
    values: Vec<Value>,
}

const fn table(name: &'static str) -> Table {
    Table { name, refers: None }
}

/// Every table of the schema. A test fails if a table is missing.
const TABLES: &[Table] = &[
    table("key_revision"),
    Table {
        name: KEYS,
        refers: Some(("replaced_by", "id")),
    },
    table("usage"),
    table("usage_batches"),
    table("audit"),
    table("master_keys"),
    table("accounts"),
    table("sessions"),
    table("sign_in_links"),
    table("pending_sign_ins"),
    table("carts"),
    table("idempotent_requests"),
    table("customers"),
    table("storefront_tokens"),
    table("signing_keys"),
    table("coupon_outcomes"),
    table("dashboard_place"),
    table("jobs"),
    table("job_runs"),
    table("work_leases"),
    table("work_runs"),
    table("work_items"),
    table("watches"),
    table("watch_events"),
];

/// Tables with data sealed by a master key, tables that belong to these, and the table of used master keys.
const SEALED: [&str; 8] = [
    "master_keys",
    "carts",
    "idempotent_requests",
    "customers",
    "storefront_tokens",
    "signing_keys",
    "watches",
    "watch_events",
];

/// Tables of sessions and pending sign-ins. A dump contains these tables, but they are not loaded, because sessions
/// that ended since the dump would be valid again.
const SIGNED_IN: [&str; 3] = ["sessions", "sign_in_links", "pending_sign_ins"];

/// Options for loading a dump.
#[derive(Debug, Clone, Copy)]
pub struct TakeDump<'a> {
    /// True to leave out sealed rows if the master keys are lost. Sealed are carts, customers' sign-ins, stores'
    /// tokens, signing keys and watches.
    pub without_sealed: bool,
    /// Changes to keys after the dump.
    pub keys: &'a KeysSince,
}

/// Converts a row of either database to JSON.
macro_rules! told {
    ($row:expr) => {{
        let mut cells = Map::new();
        for column in $row.columns() {
            let at = column.ordinal();
            let raw = $row.try_get_raw(at)?;
            let (is_null, kind) = (raw.is_null(), raw.type_info().name().to_owned());
            let cell = match kind.as_str() {
                _ if is_null => Json::Null,
                "TEXT" | "VARCHAR" => $row.try_get::<String, _>(at)?.into(),
                "BLOB" | "BYTEA" => json!({ "hex": hex::encode($row.try_get::<Vec<u8>, _>(at)?) }),
                _ => $row.try_get::<i64, _>(at)?.into(),
            };
            cells.insert(column.name().to_owned(), cell);
        }
        cells
    }};
}

/// Writes the rows of one table, as seen by a transaction.
macro_rules! write_rows {
    ($reading:expr, $table:expr, $out:expr, $rows:expr) => {{
        let sql = AssertSqlSafe(format!("SELECT * FROM {}", $table));
        let mut found = sqlx::query(sql).fetch(&mut *$reading);
        while let Some(row) = in_time(found.try_next()).await? {
            let line = Line::Row {
                table: $table.to_owned(),
                row: told!(row),
            };
            write_line($out, &line)?;
            $rows += 1;
        }
    }};
}

impl State {
    /// Dumps all rows from one consistent snapshot, and returns their number. Servers may write meanwhile.
    ///
    /// # Errors
    /// The database does not respond, or writing to `out` fails.
    #[boxed]
    pub async fn dump(&self, out: &mut (dyn Write + Send)) -> Result<u64, StateError> {
        let head = Line::Head {
            dump: FORM,
            schema: migrate::known(),
        };
        write_line(out, &head)?;
        let mut rows = 0;
        match &self.database {
            Database::Sqlite(pool) => {
                let mut reading = in_time(Box::pin(pool.begin())).await?;
                for table in TABLES {
                    write_rows!(reading, table.name, out, rows);
                }
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(pool) => {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                let mut reading = in_time(Box::pin(pool.begin_with(begin))).await?;
                for table in TABLES {
                    write_rows!(reading, table.name, out, rows);
                }
            }
        }
        write_line(out, &Line::End { end: End { rows } })?;
        Ok(rows)
    }

    /// Loads a dump of [`State::dump`] from either database, completely or not at all. The state must be empty, as
    /// created by [`State::open`]. Sessions and sign-in links are left out, so nobody is signed in afterwards.
    /// [`KeysSince`] updates the keys.
    ///
    /// # Errors
    /// [`StateError::NotEmpty`], [`StateError::NewerSchema`], [`StateError::Dump`] for an incomplete or invalid dump,
    /// or the database does not respond.
    pub async fn take_dump(&self, dump: &mut (dyn BufRead + Send), how: TakeDump<'_>) -> Result<u64, StateError> {
        let known = migrate::known();
        match next_line(dump)? {
            Some(Line::Head { dump: FORM, schema }) if schema <= known => {}
            Some(Line::Head { dump: FORM, schema }) => return Err(StateError::NewerSchema { found: schema, known }),
            _ => return Err(damaged("its first line is invalid")),
        }
        let mut writing = self.begin().await?;
        for table in TABLES.iter().filter(|table| table.name != MADE) {
            let sql = format!("SELECT 1 FROM (SELECT 1 AS one FROM {} LIMIT 1) AS found", table.name);
            if writing.any(sql).await? {
                return Err(StateError::NotEmpty { table: table.name });
            }
        }
        writing.run(format!("DELETE FROM {MADE}"), vec![]).await?;
        let (mut rows, mut taken, mut references) = (0, 0, Vec::new());
        let said = loop {
            match next_line(dump)? {
                Some(Line::Row { table, mut row }) => {
                    let table = TABLES.iter().find(|known| known.name == table);
                    let table = table.ok_or_else(|| damaged("a table name is unknown"))?;
                    rows += 1;
                    if is_left_out(table.name, how.without_sealed) {
                        continue;
                    }
                    if table.name == KEYS {
                        how.keys.settle(&mut row);
                    }
                    writing.insert(table, row, &mut references).await?;
                    taken += 1;
                }
                Some(Line::End { end }) => break end.rows,
                Some(Line::Head { .. }) | None => return Err(damaged("its end is missing")),
            }
        };
        if said != rows {
            return Err(damaged("the number of rows is wrong"));
        }
        for update in references {
            writing.run(update.sql, update.values).await?;
        }
        writing.number_on().await?;
        writing.commit().await?;
        Ok(taken)
    }
}

impl State {
    /// Returns true if the state contains exactly the rows that [`State::take_dump`] loads from a dump of either
    /// database.
    ///
    /// # Errors
    /// The errors of [`State::take_dump`].
    pub async fn holds_dump(&self, dump: &mut (dyn BufRead + Send), how: TakeDump<'_>) -> Result<bool, StateError> {
        let mut own = Vec::new();
        self.dump(&mut own).await?;
        let mut theirs = Vec::new();
        dump.read_to_end(&mut theirs).map_err(StateError::DumpFile)?;
        let left_out = TABLES
            .iter()
            .filter(|table| is_left_out(table.name, how.without_sealed));
        let left_out: Vec<Vec<u8>> = left_out.map(|table| line_start(table.name)).collect();
        let is_left_out = |line: &[u8]| left_out.iter().any(|start| line.starts_with(start));
        let rows = |dump: &[u8]| {
            let lines = dump.split(|byte| *byte == b'\n');
            let lines = lines.filter(|line| line.starts_with(b"{\"table\"") && !is_left_out(line));
            let mut lines: Vec<_> = lines.map(<[u8]>::to_vec).collect();
            lines.sort_unstable();
            lines
        };
        Ok(rows(&own) == rows(&settled(&theirs, how.keys)?))
    }
}

/// Returns a dump with its keys as they would be loaded.
fn settled(dump: &[u8], keys: &KeysSince) -> Result<Vec<u8>, StateError> {
    let start = line_start(KEYS);
    let mut out = Vec::with_capacity(dump.len());
    for line in dump.split_inclusive(|byte| *byte == b'\n') {
        if !line.starts_with(&start) {
            out.extend_from_slice(line);
            continue;
        }
        let Ok(Line::Row { table, mut row }) = serde_json::from_slice(line) else {
            return Err(damaged("a line is invalid"));
        };
        keys.settle(&mut row);
        write_line(&mut out, &Line::Row { table, row })?;
    }
    Ok(out)
}

fn line_start(table: &str) -> Vec<u8> {
    format!("{{\"table\":\"{table}\",").into_bytes()
}

impl WriteTransaction {
    async fn insert(
        &mut self,
        table: &Table,
        mut row: Map<String, Json>,
        references: &mut Vec<ReferenceUpdate>,
    ) -> Result<(), StateError> {
        let is_name = |name: &String| {
            name.bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        };
        if row.is_empty() || !row.keys().all(is_name) {
            return Err(damaged("a column name is invalid"));
        }
        if let Some((column, id)) = table.refers
            && let Some(to) = row.insert(column.to_owned(), Json::Null).filter(|to| !to.is_null())
        {
            let of = row.get(id).cloned().unwrap_or_default();
            let sql = format!("UPDATE {} SET {column} = $1 WHERE {id} = $2", table.name);
            references.push(ReferenceUpdate {
                sql,
                values: vec![value(to)?, value(of)?],
            });
        }
        // A null value would need a parameter of unknown type.
        row.retain(|_, cell| !cell.is_null());
        let names: Vec<&str> = row.keys().map(String::as_str).collect();
        let places: Vec<_> = (1..=names.len()).map(|place| format!("${place}")).collect();
        let system = match self {
            Self::Sqlite(_) => "",
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => " OVERRIDING SYSTEM VALUE",
        };
        let sql = format!(
            "INSERT INTO {} ({}){system} VALUES ({})",
            table.name,
            names.join(", "),
            places.join(", ")
        );
        let values = row.into_iter().map(|(_, cell)| value(cell)).collect::<Result<_, _>>()?;
        self.run(sql, values).await?;
        Ok(())
    }

    /// Makes new audit rows continue the numbers of the loaded rows. SQLite does so automatically.
    async fn number_on(&mut self) -> Result<(), StateError> {
        #[cfg(feature = "postgres")]
        if matches!(self, Self::Postgres(_)) {
            let sql = "SELECT 1 FROM (SELECT setval(pg_get_serial_sequence('audit', 'seq'), \
                       (SELECT coalesce(max(seq), 0) + 1 FROM audit), false)) AS numbered";
            self.any(sql.to_owned()).await?;
        }
        Ok(())
    }
}

fn is_left_out(table: &str, without_sealed: bool) -> bool {
    SIGNED_IN.contains(&table) || without_sealed && SEALED.contains(&table)
}

fn value(cell: Json) -> Result<Value, StateError> {
    match cell {
        Json::String(text) => Ok(Value::from(text)),
        Json::Number(number) => number
            .as_i64()
            .map(Value::from)
            .ok_or_else(|| damaged("a number is not an integer")),
        Json::Object(bytes) => {
            let hex = bytes.get("hex").and_then(Json::as_str);
            let bytes = hex.and_then(|hex| hex::decode(hex).ok());
            bytes
                .map(Value::Bytes)
                .ok_or_else(|| damaged("a binary value is invalid"))
        }
        _ => Err(damaged("a value has an unsupported type")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::StateTarget;

    #[tokio::test]
    async fn a_dump_holds_every_table_of_the_schema() {
        let state = State::open(&StateTarget::Memory).await.unwrap();
        let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
                   AND name <> '_sqlx_migrations'";
        let made: Vec<(String,)> = state.rows(sql, vec![]).await.unwrap();
        let made: BTreeSet<_> = made.iter().map(|(name,)| name.as_str()).collect();
        assert_eq!(TABLES.iter().map(|table| table.name).collect::<BTreeSet<_>>(), made);
    }
}
