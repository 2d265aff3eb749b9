use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use anyhow::Context as _;
use data_index::Release;
use data_lake::{AsOf, Lake};
use data_tables::ReleaseTables;
use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::json::WriterBuilder;
use datafusion::arrow::json::writer::JsonArray;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::DataFusionError;
use datafusion::prelude::{DataFrame, SQLOptions, SessionContext};
use futures::StreamExt;

use crate::cli::SqlArgs;
use crate::exit::{Outcome, usage};
use crate::wiring::Context;

const STATEMENT_BYTES_MAX: u64 = 1 << 20;

/// `haat sql`: one read-only statement over the lake's tables, or the current release's.
pub(crate) async fn run(args: SqlArgs, context: Context) -> anyhow::Result<Outcome> {
    let statement = match args.statement.as_str() {
        "-" => {
            let mut text = String::new();
            std::io::stdin()
                .take(STATEMENT_BYTES_MAX)
                .read_to_string(&mut text)
                .context("standard input")?;
            text
        }
        given => given.to_owned(),
    };
    let session = if args.release {
        release(&context).await?
    } else {
        lake(&context.lake().await?, args.as_of.as_deref()).await?
    };
    // The lake is written by its committer alone, a release by nobody: statements that write or change settings are refused.
    let options = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    let frame = match described(&statement) {
        Some(table) => columns(&session, table).await,
        None => session.sql_with_options(&statement, options).await,
    };
    let frame = frame.map_err(|error| usage(error.into()))?;
    if context.output.json {
        named_once(frame.schema().as_arrow()).map_err(usage)?;
    }
    let (batches, more) = collect_up_to(frame, args.limit).await?;
    if more && context.output.json {
        tracing::warn!(
            limit = args.limit,
            "only the first rows are printed; --limit prints more"
        );
    }
    print(&context, &batches, more, args.limit)?;
    Ok(Outcome::Done)
}

/// The table that a statement asks to describe; `None` for every other statement.
fn described(statement: &str) -> Option<&str> {
    let mut words = statement.trim().trim_end_matches(';').split_whitespace();
    let (verb, table) = (words.next()?, words.next()?);
    let asks = ["describe", "desc"]
        .iter()
        .any(|known| verb.eq_ignore_ascii_case(known));
    (asks && words.next().is_none()).then_some(table)
}

/// The columns of a table with their comments, which the engine's own `describe` leaves out.
async fn columns(session: &SessionContext, table: &str) -> Result<DataFrame, DataFusionError> {
    let frame = session.table(table).await?;
    let fields = frame.schema().fields();
    let names = StringArray::from_iter_values(fields.iter().map(|field| field.name()));
    let types = StringArray::from_iter_values(fields.iter().map(|field| field.data_type().to_string()));
    let nullable = StringArray::from_iter_values(
        fields
            .iter()
            .map(|field| ["NO", "YES"][usize::from(field.is_nullable())]),
    );
    let comments: StringArray = fields.iter().map(|field| field.metadata().get("comment")).collect();
    let columns: [(_, ArrayRef, _); 4] = [
        ("column_name", Arc::new(names), false),
        ("data_type", Arc::new(types), false),
        ("is_nullable", Arc::new(nullable), false),
        ("comment", Arc::new(comments), true),
    ];
    session.read_batch(RecordBatch::try_from_iter_with_nullable(columns)?)
}

/// Refuses columns of one name: a row would have a key twice, of which readers keep one.
fn named_once(schema: &Schema) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    match schema.fields().iter().find(|field| !seen.insert(field.name())) {
        Some(twice) => anyhow::bail!(
            "two columns are named {0}: name one of them otherwise with `as`, or leave --json out",
            twice.name()
        ),
        None => Ok(()),
    }
}

/// The tables of the current release, as the query server would serve it.
async fn release(context: &Context) -> anyhow::Result<SessionContext> {
    let storage = context.storage()?;
    let releases = context.releases(&storage);
    let current = releases.current().await?.context("nothing is released yet")?;
    let manifest = releases.manifest(current.id).await?;
    let local = releases.fetch(&manifest, &context.cache_dir(&storage)).await?;
    let release = tokio::task::spawn_blocking(move || Release::open(local)).await??;
    let tables = ReleaseTables::new(&Arc::new(release))?;
    Ok(tables.context().clone())
}

async fn lake(lake: &Lake, as_of: Option<&str>) -> anyhow::Result<SessionContext> {
    let snapshot = match as_of {
        Some(text) => {
            let moment = text
                .parse()
                .map_err(|error| usage(anyhow::Error::new(error).context("--as-of")))?;
            lake.snapshot_at(&AsOf::Timestamp(moment)).await?
        }
        None => lake.snapshot().await?,
    };
    Ok(lake.session(&snapshot).await?)
}

/// Rows up to `limit`, and whether there were more; a statement never fills the memory with rows nobody prints.
async fn collect_up_to(frame: DataFrame, limit: usize) -> anyhow::Result<(Vec<RecordBatch>, bool)> {
    let schema = std::sync::Arc::new(frame.schema().as_arrow().clone());
    let mut rows = frame.execute_stream().await?;
    let (mut batches, mut left) = (Vec::new(), limit);
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        if batch.num_rows() > left {
            batches.push(batch.slice(0, left));
            return Ok((batches, true));
        }
        left -= batch.num_rows();
        batches.push(batch);
    }
    if batches.is_empty() {
        batches.push(RecordBatch::new_empty(schema));
    }
    Ok((batches, false))
}

fn print(context: &Context, batches: &[RecordBatch], more: bool, limit: usize) -> anyhow::Result<()> {
    // Every row has every column, as the table shows it.
    let builder = WriterBuilder::new().with_explicit_nulls(true);
    let mut json = builder.build::<_, JsonArray>(Vec::new());
    let references: Vec<_> = batches.iter().collect();
    json.write_batches(&references)?;
    json.finish()?;
    let rows = String::from_utf8(json.into_inner())?;
    let rows = if rows.is_empty() { "[]".to_owned() } else { rows };
    let rows = serde_json::value::RawValue::from_string(rows)?;
    let table = pretty_format_batches(batches)?;
    context.output.print(&rows, |out| {
        // Stores' texts must not steer a terminal.
        let table = table.to_string();
        let shown = |char: char| {
            if char.is_control() && char != '\n' {
                char::REPLACEMENT_CHARACTER
            } else {
                char
            }
        };
        writeln!(out, "{}", table.chars().map(shown).collect::<String>())?;
        if more {
            writeln!(out, "(only the first {limit} rows; --limit shows more)")
        } else {
            Ok(())
        }
    })
}
