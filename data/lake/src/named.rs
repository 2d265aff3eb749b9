//! The public names of brands in rows of tables that were made without them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use data_model::Timestamp;
use deltalake::kernel::Action;

use crate::apply::{compute, read, write};
use crate::delta::{DataFile, Table, add};
use crate::files::{Wanted, encode};
use crate::lost::lost_file;
use crate::replace::load;
use crate::rows::columns::Columns;
use crate::{LakeConfig, LakeError, TableName};

const SLUG: &str = "brand_slug";

/// The tables whose rows lacked it.
const TABLES: [TableName; 2] = [TableName::Quarantine, TableName::Brands];

/// The name of each store's brand.
#[derive(Debug)]
pub(crate) struct Slugs(Arc<HashMap<String, String>>);

impl Slugs {
    /// The names, where a row lacks one that is known.
    pub(crate) async fn lacking(tables: &BTreeMap<TableName, Table>) -> Result<Option<Self>, LakeError> {
        let mut names = HashMap::new();
        if let Some(table) = tables.get(&TableName::Brands) {
            for file in table.files() {
                for rows in rows_of(table, &file, Some(&["store", "slug"])).await? {
                    let columns = Columns::new(table.name, &rows);
                    let (store, slug) = (columns.text("store")?, columns.text("slug")?);
                    let pairs = store.iter().flatten().zip(slug.iter().flatten());
                    names.extend(pairs.map(|(store, slug)| (store.to_owned(), slug.to_owned())));
                }
            }
        }
        let slugs = Self(Arc::new(names));
        for table in TABLES.iter().filter_map(|name| tables.get(name)) {
            for file in table.files() {
                if slugs.is_lacking(table, &file).await? {
                    return Ok(Some(slugs));
                }
            }
        }
        Ok(None)
    }

    async fn is_lacking(&self, table: &Table, file: &DataFile) -> Result<bool, LakeError> {
        for rows in rows_of(table, file, Some(&["store", SLUG])).await? {
            let columns = Columns::new(table.name, &rows);
            let (store, slug) = (columns.text("store")?, columns.text(SLUG)?);
            let is_lacking = |row| slug.is_null(row) && self.0.contains_key(store.value(row));
            if (0..rows.num_rows()).any(is_lacking) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What writes the files of the table anew in which rows lack the name.
    pub(crate) async fn fill(
        &self,
        table: &Table,
        config: &Arc<LakeConfig>,
        now: Timestamp,
    ) -> Result<Vec<Action>, LakeError> {
        let mut actions = Vec::new();
        for file in table.files().iter().filter(|_| TABLES.contains(&table.name)) {
            if !self.is_lacking(table, file).await? {
                continue;
            }
            let rows = rows_of(table, file, None).await?;
            let (name, names, config) = (table.name, Arc::clone(&self.0), Arc::clone(config));
            let encoded = compute(move || {
                let rows: Vec<RecordBatch> = rows
                    .iter()
                    .map(|rows| named(name, rows, &names))
                    .collect::<Result<_, _>>()?;
                encode(name, &rows, &config)
            });
            let encoded = encoded.await?;
            let path = write(&table.storage, name, file.partition.as_deref(), &encoded).await?;
            actions.push(file.remove(true, now));
            actions.push(add(name, &path, file.partition.as_deref(), &encoded, now, true));
        }
        Ok(actions)
    }
}

/// The rows of a file; none of one that is lost.
async fn rows_of(
    table: &Table,
    file: &DataFile,
    columns: Option<&'static [&'static str]>,
) -> Result<Vec<RecordBatch>, LakeError> {
    let name = table.name;
    let decoded = match read(&table.storage, name, std::slice::from_ref(file)).await {
        Ok(bytes) => compute(move || load(name, bytes, Wanted { stores: None, columns })).await,
        Err(error) => Err(error),
    };
    match decoded {
        Err(error) if lost_file(&error).is_some() => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "a file is missing or damaged; its rows stay as they are");
            Ok(Vec::new())
        }
        decoded => decoded,
    }
}

fn named(table: TableName, rows: &RecordBatch, names: &HashMap<String, String>) -> Result<RecordBatch, LakeError> {
    let columns = Columns::new(table, rows);
    let (store, slug) = (columns.text("store")?, columns.text(SLUG)?);
    let name = |row: usize| {
        let known = slug.is_valid(row).then(|| slug.value(row));
        known.or_else(|| names.get(store.value(row)).map(String::as_str))
    };
    let filled: StringArray = (0..rows.num_rows()).map(name).collect();
    let failed = |source| LakeError::Columns {
        table: table.as_str(),
        source,
    };
    let at = rows.schema().index_of(SLUG).map_err(failed)?;
    let mut columns: Vec<ArrayRef> = rows.columns().to_vec();
    columns[at] = Arc::new(filled);
    RecordBatch::try_new(rows.schema(), columns).map_err(failed)
}
