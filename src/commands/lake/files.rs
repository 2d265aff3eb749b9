//! Lists the data files of a lake state (`haat lake files`), for engines that read Parquet but not Delta.

use std::path::Path;

use anyhow::Context as _;
use data_lake::{Lake, LiveFile, LiveTable, TableName};
use data_storage::{ObjectPath, ObjectStoreExt, Storage};
use futures::StreamExt;
use object_store::PutPayload;
use serde_json::{Value, json};

use crate::cli::LakeFilesArgs;
use crate::commands::as_of;
use crate::exit::usage;
use crate::output::counted;
use crate::wiring::Context;

/// List of files beside the tables, written last: if it exists, all listed files exist.
const LIST: &str = "files.json";
/// File with the columns of a table and no rows.
const EMPTY: &str = "empty.parquet";
/// Name of a partition folder that engines read as null.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// Lists the files, and copies or links them if there is a target.
pub(super) async fn files(
    context: &Context,
    storage: &Storage,
    lake: &Lake,
    args: LakeFilesArgs,
) -> anyhow::Result<()> {
    let wanted = super::named(&args.tables)?;
    let snapshot = as_of::snapshot(lake, args.as_of.as_deref()).await?;
    let mut tables = Vec::new();
    for table in TableName::ALL {
        if !wanted.is_empty() && !wanted.contains(&table) {
            continue;
        }
        tables.push(snapshot.live_files(table).await?);
    }
    let rows: Vec<Value> = tables.iter().map(|table| described(table, storage)).collect();
    let mut document = json!({ "tick": snapshot.tick(), "format": "parquet", "tables": rows });
    if let Some(place) = &args.to {
        let to = context.storage_at("--to", place)?;
        let put = put(&tables, &storage.child("lake"), &to, &document).await?;
        document["to"] = json!({ "url": to.url(), "linked": put.linked, "copied": put.copied, "bytes": put.bytes });
    }
    context.output.print(&document, |out| {
        for (table, file) in tables
            .iter()
            .flat_map(|table| table.files.iter().map(move |file| (table, file)))
        {
            let rows = file.rows.map_or_else(|| "unknown".to_owned(), |rows| rows.to_string());
            let address = local(storage, file).unwrap_or_else(|| file.url.to_string());
            write!(out, "{address}\t{rows} rows\t{} bytes", file.bytes)?;
            match (table.partition, &file.partition) {
                (Some(column), Some(value)) => writeln!(out, "\t{}={value}", column.name)?,
                (Some(column), None) => writeln!(out, "\t{} is null", column.name)?,
                (None, _) => writeln!(out)?,
            }
        }
        for table in tables.iter().filter(|table| !table.is_plain()) {
            writeln!(out, "{}", not_plain(table))?;
        }
        match &document["to"] {
            Value::Null => Ok(()),
            to => writeln!(
                out,
                "{} linked, {} copied to {}",
                counted(to["linked"].as_u64().unwrap_or_default(), "file"),
                counted(to["copied"].as_u64().unwrap_or_default(), "file"),
                to["url"].as_str().unwrap_or_default()
            ),
        }
    })
}

fn described(table: &LiveTable, home: &Storage) -> Value {
    let files: Vec<Value> = table
        .files
        .iter()
        .map(|file| {
            json!({
                "url": file.url, "path": local(home, file), "rows": file.rows, "bytes": file.bytes,
                "partition": file.partition,
            })
        })
        .collect();
    let rows: Option<u64> = table.files.iter().map(|file| file.rows).sum();
    json!({
        "name": table.table.as_str(),
        "version": table.version,
        "rows": rows,
        "bytes": table.files.iter().map(|file| file.bytes).sum::<u64>(),
        "partition_column": table.partition.map(|column| column.name),
        "partition_type": table.partition.map(|column| if column.is_number { "integer" } else { "text" }),
        "deletion_vectors": table.deletion_vectors,
        "column_mapping": table.is_column_mapped,
        "files": files,
    })
}

/// Returns the local path of a file, or `None` if the home is not on this machine.
fn local(home: &Storage, file: &LiveFile) -> Option<String> {
    let path = home.local_dir()?.join("lake").join(file.path.as_ref());
    Some(path.to_string_lossy().into_owned())
}

fn not_plain(table: &LiveTable) -> String {
    let name = table.table;
    if table.deletion_vectors > 0 {
        let files = counted(table.deletion_vectors, "file");
        format!("{name}: {files} with deletion vectors from another writer: use a Delta reader for this table")
    } else {
        format!("{name}: another writer renamed columns: use a Delta reader for this table")
    }
}

/// Numbers of files that were copied or linked.
#[derive(Debug, Default)]
struct PutReport {
    linked: u64,
    copied: u64,
    bytes: u64,
}

/// Maximum number of concurrent copies.
const AT_ONCE: usize = 4;

/// Copies or links the files under their names to an empty target: hard links on the same disk, else copies. Each table
/// also gets a file without rows, so that an empty table has columns.
async fn put(tables: &[LiveTable], lake: &Storage, to: &Storage, document: &Value) -> anyhow::Result<PutReport> {
    if let Some(table) = tables.iter().find(|table| !table.is_plain()) {
        anyhow::bail!("{}", not_plain(table));
    }
    let listed = to.store().list(None).next().await.transpose().context("--to")?;
    if let Some(found) = listed {
        return Err(usage(anyhow::anyhow!(
            "--to: {} is not empty, it contains {}: choose an empty folder or prefix",
            to.url(),
            found.location
        )));
    }
    let mut put = PutReport::default();
    let files = tables.iter().flat_map(|table| &table.files);
    let mut placed = futures::stream::iter(files.map(|file| place(file, lake, to))).buffer_unordered(AT_ONCE);
    while let Some(linked) = placed.next().await {
        let (is_linked, bytes) = linked?;
        put.bytes += bytes;
        put.linked += u64::from(is_linked);
        put.copied += u64::from(!is_linked);
    }
    drop(placed);
    for table in tables {
        let value = table.files.iter().find_map(|file| file.partition.as_deref());
        let folder = table
            .partition
            .map(|column| format!("/{}={}", column.name, value.unwrap_or(NO_VALUE)))
            .unwrap_or_default();
        let path = ObjectPath::parse(format!("{}{folder}/{EMPTY}", table.table))?;
        write(to, &path, table.empty_file()?.into()).await?;
    }
    write(to, &ObjectPath::from(LIST), serde_json::to_vec(document)?.into()).await?;
    Ok(put)
}

async fn write(to: &Storage, path: &ObjectPath, bytes: PutPayload) -> anyhow::Result<()> {
    let written = to.store().put(path, bytes).await;
    written.map(drop).with_context(|| format!("--to: {path}"))
}

/// Copies or links one file. Returns true if it was linked, and its size.
async fn place(file: &LiveFile, lake: &Storage, to: &Storage) -> anyhow::Result<(bool, u64)> {
    if let (Some(from), Some(folder)) = (lake.local_dir(), to.local_dir()) {
        let (from, new) = (from.join(file.path.as_ref()), folder.join(file.path.as_ref()));
        let linked = tokio::task::spawn_blocking(move || link(&from, &new)).await?;
        if linked {
            return Ok((true, file.bytes));
        }
    }
    let missing = || format!("lake/{}", file.path);
    let read = lake.store().get(&file.path).await.with_context(missing)?;
    write(to, &file.path, read.bytes().await.with_context(missing)?.into()).await?;
    Ok((false, file.bytes))
}

/// Creates a hard link `new` to `from`. Returns false if they are on different disks or the disk has no hard links.
fn link(from: &Path, new: &Path) -> bool {
    let folder = new.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::hard_link(from, new)).is_ok()
}
