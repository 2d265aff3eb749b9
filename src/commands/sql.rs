mod rows;

use std::io::{IsTerminal as _, Read, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use data_lake::{AsOf, Lake};
use data_tables::ReleaseTables;
use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::DataFusionError;
use datafusion::prelude::{DataFrame, SQLOptions, SessionContext};
use datafusion::sql::parser::{DFParser, Statement};
use datafusion::sql::sqlparser::ast;
use futures::StreamExt;
use serde_json::json;

use super::place::Place;
use crate::cli::sql::{SqlArgs, SqlFormat};
use crate::exit::{Outcome, usage};
use crate::output::counted;
use crate::wiring::{Context, shutdown_signal};
use rows::{Encoder, Format};

const STATEMENT_BYTES_MAX: u64 = 1 << 20;

/// Runs `haat sql`: one read-only statement over the tables of the lake or of the current release.
pub(crate) async fn run(args: SqlArgs, context: Context) -> anyhow::Result<Outcome> {
    let format = format(&args, context.output.json)?;
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
    if let Some(verb) = writes(&statement) {
        return Err(usage(anyhow::anyhow!("haat sql is read-only: {verb} is refused")));
    }
    // Statements that write or change settings are refused. Only its committer writes the lake, and nothing writes a
    // release.
    let options = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    let frame = match described(&statement) {
        Some(table) => columns(&session, table).await,
        None => sql::frame(&session, &statement, &options).await,
    };
    let frame = frame.map_err(|error| usage(refused(&session, args.release, error)))?;
    let written = match (format, &args.out) {
        (Some(format), Some(path)) => to_file(&context, frame, format, path, &args).await?,
        (Some(format), None) => {
            if format == Format::Parquet && std::io::stdout().is_terminal() {
                return Err(usage(anyhow::anyhow!(
                    "a terminal cannot show Parquet: name a file with --out"
                )));
            }
            Some(write(frame, format, args.limit, Place::StandardOutput).await?.1)
        }
        (None, _) => Some(print_table(&context, frame, args.limit).await?),
    };
    let Some(left_out) = written else {
        return Ok(Outcome::Partial);
    };
    if let Some(left_out) = left_out {
        // Standard error may be closed, and there is no other output.
        let _ = writeln!(std::io::stderr(), "haat: {left_out}");
    }
    Ok(Outcome::Done)
}

/// Returns the requested format; `None` means a table for people.
fn format(args: &SqlArgs, json: bool) -> anyhow::Result<Option<Format>> {
    let told = |format| match format {
        SqlFormat::Table => None,
        SqlFormat::Json => Some(Format::Json),
        SqlFormat::Csv => Some(Format::Csv),
        SqlFormat::Parquet => Some(Format::Parquet),
    };
    let format = match (args.format, &args.out) {
        (Some(format), _) => told(format),
        (None, Some(path)) => Some(Format::of_name(path).ok_or_else(|| {
            usage(anyhow::anyhow!(
                "--out: the file extension of {} is not a known format: set --format csv, json or parquet",
                path.display()
            ))
        })?),
        (None, None) => json.then_some(Format::Json),
    };
    if format.is_none() && args.out.is_some() {
        return Err(usage(anyhow::anyhow!(
            "--out: the format `table` is for terminals only; use --format csv, json or parquet to write a file"
        )));
    }
    if json && args.out.is_none() && format != Some(Format::Json) {
        return Err(usage(anyhow::anyhow!(
            "--json and --format conflict: leave one of them out, or name a file with --out"
        )));
    }
    Ok(format)
}

/// Writes rows to a file and reports their number. After a signal, it returns `None` and leaves no file.
async fn to_file(
    context: &Context,
    frame: DataFrame,
    format: Format,
    path: &Path,
    args: &SqlArgs,
) -> anyhow::Result<Option<Option<String>>> {
    let place = Place::open(Some(path), args.force)?;
    let told = tokio::select! {
        told = write(frame, format, args.limit, place) => Some(told?),
        () = shutdown_signal() => None,
    };
    let Some((written, left_out)) = told else {
        let _ = writeln!(std::io::stderr(), "haat: stopped; {} was not written", path.display());
        return Ok(None);
    };
    let document = json!({ "out": path, "format": format.name(), "rows": written });
    context.output.print(&document, |out| {
        writeln!(out, "{} in {}", counted(written, "row"), path.display())
    })?;
    Ok(Some(left_out))
}

/// Returns the keyword of a statement that does more than read. Returns `None` for reads, and for statements that
/// cannot be parsed, which the engine explains.
fn writes(statement: &str) -> Option<String> {
    let parsed = DFParser::parse_sql(statement).ok()?;
    let reads = match parsed.front()? {
        Statement::Explain(_) => true,
        Statement::Statement(inner) => match inner.as_ref() {
            ast::Statement::Query(query) => !matches!(
                *query.body,
                ast::SetExpr::Insert(_) | ast::SetExpr::Update(_) | ast::SetExpr::Delete(_)
            ),
            ast::Statement::Explain { .. }
            | ast::Statement::ExplainTable { .. }
            | ast::Statement::ShowTables { .. }
            | ast::Statement::ShowColumns { .. }
            | ast::Statement::ShowVariable { .. }
            | ast::Statement::ShowFunctions { .. } => true,
            _ => false,
        },
        _ => false,
    };
    let verb = statement.split_whitespace().next().unwrap_or_default();
    (!reads).then(|| verb.to_uppercase())
}

/// Explains why a statement is refused. For an unknown table, the known ones are listed.
fn refused(session: &SessionContext, release: bool, error: DataFusionError) -> anyhow::Error {
    let text = error.to_string();
    let Some(name) = absent_table(&text) else {
        return match error.find_root() {
            DataFusionError::SQL(source, _) => anyhow::anyhow!("the statement cannot be parsed: {}", said(source)),
            _ => error.into(),
        };
    };
    let tables = session
        .catalog("datafusion")
        .and_then(|catalog| catalog.schema("public"));
    let mut tables = tables.map(|schema| schema.table_names()).unwrap_or_default();
    tables.sort_unstable();
    let whose = if release { "a release" } else { "the lake" };
    anyhow::anyhow!(
        "there is no table {name}; {whose} has {}; `describe TABLE` lists a table's columns",
        tables.join(", ")
    )
}

/// Returns a parser's message without the name of its error kind.
fn said(error: &datafusion::sql::sqlparser::parser::ParserError) -> String {
    let text = error.to_string();
    text.strip_prefix("sql parser error: ").unwrap_or(&text).to_owned()
}

/// Returns the name of the missing table in an error of the engine.
fn absent_table(error: &str) -> Option<&str> {
    let between = |before: &str, after: &str| {
        let (_, rest) = error.split_once(before)?;
        rest.split_once(after).map(|(name, _)| name)
    };
    let name = between(" table '", "' not found")
        .or_else(|| between("table '", "' not found"))
        .or_else(|| between("No table named '", "'"))?;
    Some(name.strip_prefix("datafusion.public.").unwrap_or(name))
}

/// Returns the table of a `describe` statement, or `None` for any other statement.
fn described(statement: &str) -> Option<&str> {
    let mut words = statement.trim().trim_end_matches(';').split_whitespace();
    let (verb, table) = (words.next()?, words.next()?);
    let asks = ["describe", "desc"]
        .iter()
        .any(|known| verb.eq_ignore_ascii_case(known));
    (asks && words.next().is_none()).then_some(table)
}

/// Lists the columns of a table with their comments, which the engine's own `describe` leaves out.
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

/// Opens the tables of the current release, like the query server.
async fn release(context: &Context) -> anyhow::Result<SessionContext> {
    let storage = context.storage()?;
    let releases = context.releases(&storage);
    let current = releases.current().await?.context("nothing is released yet")?;
    let manifest = releases.manifest(current.id).await?;
    let local = releases.fetch(&manifest, &context.cache_dir(&storage)).await?;
    let release = tokio::task::spawn_blocking(move || local.open()).await??;
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

/// Default maximum number of rows in a table for people. The whole table is formatted in memory.
const TABLE_ROWS_MAX: usize = 1_000;

/// Writes all rows, or `limit` rows, batch by batch. Returns the number of rows, and a message about rows that were
/// left out.
///
/// # Errors
/// Fails if the statement fails. Some rows may then have been printed, so that standard output is incomplete.
async fn write(
    frame: DataFrame,
    format: Format,
    limit: Option<usize>,
    mut place: Place,
) -> anyhow::Result<(usize, Option<String>)> {
    let mut rows = frame.execute_stream().await?;
    let mut encoder = Encoder::new(format, &rows.schema()).map_err(usage)?;
    let (mut left, mut more) = (limit.unwrap_or(usize::MAX), false);
    let mut written = 0;
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        more = batch.num_rows() > left;
        let batch = batch.slice(0, batch.num_rows().min(left));
        left -= batch.num_rows();
        written += batch.num_rows();
        place.write(&encoder.rows(&batch)?)?;
        if more {
            break;
        }
    }
    place.write(&encoder.end()?)?;
    place.finish()?;
    let left_out = more.then(|| {
        format!(
            "only the first {} are written; set a larger --limit to write more",
            counted(limit.unwrap_or_default(), "row")
        )
    });
    Ok((written, left_out))
}

/// Prints rows as a table for people. Returns a message about rows that were left out.
async fn print_table(context: &Context, frame: DataFrame, limit: Option<usize>) -> anyhow::Result<Option<String>> {
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let mut rows = frame.execute_stream().await?;
    let most = limit.unwrap_or(TABLE_ROWS_MAX);
    let (mut batches, mut left, mut left_out) = (vec![RecordBatch::new_empty(schema)], most, 0_usize);
    while let Some(batch) = rows.next().await {
        let batch = batch?;
        let taken = batch.num_rows().min(left);
        left -= taken;
        left_out += batch.num_rows() - taken;
        if taken > 0 {
            batches.push(batch.slice(0, taken));
        }
        // A caller who set a limit knows that there may be more rows.
        if left_out > 0 && limit.is_some() {
            break;
        }
    }
    let table = pretty_format_batches(&batches)?.to_string();
    // Control characters in stores' texts must not affect the terminal.
    let shown = |char: char| {
        if char.is_control() && char != '\n' {
            char::REPLACEMENT_CHARACTER
        } else {
            char
        }
    };
    let table: String = table.chars().map(shown).collect();
    context.output.print(&(), |out| writeln!(out, "{table}"))?;
    Ok(match (left_out, limit) {
        (0, _) => None,
        (_, Some(limit)) => Some(format!(
            "only the first {} are printed; set a larger --limit to print more",
            counted(limit, "row")
        )),
        (left_out, None) => Some(format!(
            "{} left out after the first {most}; --limit N prints more, --json prints all",
            counted(left_out, "row")
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_do_not_read_are_named_by_their_verb() {
        for reads in [
            "select 1",
            " with a as (select 1) select * from a",
            "explain select 1",
            "show tables",
            "values (1)",
            "selec 1",
        ] {
            assert_eq!(writes(reads), None, "{reads}");
        }
        for (statement, verb) in [
            ("insert into brands values (1)", "INSERT"),
            ("drop table products", "DROP"),
            ("set a = 1", "SET"),
            ("copy products to 'a.csv'", "COPY"),
            ("create external table a stored as parquet location '/a'", "CREATE"),
            ("delete from products", "DELETE"),
        ] {
            assert_eq!(writes(statement).as_deref(), Some(verb), "{statement}");
        }
    }

    #[test]
    fn a_table_that_is_not_there_is_found_in_the_engines_words() {
        let told = |error: &str| absent_table(error).map(str::to_owned);
        assert_eq!(
            told("Error during planning: table 'datafusion.public.product' not found").as_deref(),
            Some("product")
        );
        assert_eq!(
            told("Error during planning: No table named 'nothing'").as_deref(),
            Some("nothing")
        );
        assert_eq!(told("Schema error: No field named size."), None);
    }
}
