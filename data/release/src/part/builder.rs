use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use data_index::digest;
use data_index::{BrandFacts, BuildError, BuildOptions, FileEntry, NewRow, PartEntry, PartId, PartStore, PartWriter};
use data_model::{PricePoint, Product, StoreHost};
use tempfile::TempDir;

use super::{StoreSummary, fingerprint};
use crate::files::digest_of_file;

/// Builds one part: takes products store by store, and writes files named by their SHA-256.
///
/// Row numbers follow the order of [`PartBuilder::push`] calls. [`BuildOptions`] limits the memory. Dropping a builder
/// before [`PartBuilder::finish`] leaves no files.
#[derive(Debug)]
pub struct PartBuilder {
    dir: PathBuf,
    work: TempDir,
    options: BuildOptions,
    writer: PartWriter<BufWriter<File>>,
    stores: Vec<PartStore>,
    summaries: Vec<StoreSummary>,
    seen: BTreeSet<StoreHost>,
}

/// A finished part. Its files are in the build directory, each named by its SHA-256.
#[derive(Debug, Clone, PartialEq)]
pub struct PartFiles {
    /// Manifest entry of the part, in which every store is live.
    pub entry: PartEntry,
    /// One summary per store, in the order of [`PartEntry::stores`].
    pub summaries: Vec<StoreSummary>,
}

fn file_error(path: &Path) -> impl Fn(io::Error) -> BuildError {
    let path = path.to_owned();
    move |source| BuildError::File {
        path: path.clone(),
        source,
    }
}

fn create_in(work: &Path) -> impl Fn(&'static str) -> io::Result<BufWriter<File>> {
    move |name| Ok(BufWriter::with_capacity(1 << 18, File::create(work.join(name))?))
}

fn located_in(work: &Path) -> impl Fn(BuildError) -> BuildError {
    move |error| match error {
        BuildError::File { path, source } => file_error(&work.join(path))(source),
        error => error,
    }
}

impl PartBuilder {
    /// Starts a part whose files are written to `dir`, which is created.
    ///
    /// # Errors
    /// The directory or a file cannot be written.
    pub fn new(dir: &Path, options: &BuildOptions) -> Result<Self, BuildError> {
        std::fs::create_dir_all(dir).map_err(file_error(dir))?;
        let work = tempfile::Builder::new()
            .prefix("part-")
            .tempdir_in(dir)
            .map_err(file_error(dir))?;
        let writer = PartWriter::new(options, create_in(work.path())).map_err(located_in(work.path()))?;
        Ok(Self {
            dir: dir.to_owned(),
            work,
            options: options.clone(),
            writer,
            stores: Vec::new(),
            summaries: Vec::new(),
            seen: BTreeSet::new(),
        })
    }

    /// Returns the number of rows so far.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.writer.rows()
    }

    /// Returns `true` if [`PartBuilder::push`] would refuse another row.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.writer.is_full()
    }

    /// Adds the next row, with the product's price history, newest first. The products of a store must be consecutive.
    ///
    /// # Errors
    /// [`BuildError::PartFull`] if the part is full, or the product or the files are unusable. After
    /// [`BuildError::Columns`] or [`BuildError::Embed`], the builder must be dropped.
    pub fn push(&mut self, product: &Product, facts: &BrandFacts, history: &[PricePoint]) -> Result<(), BuildError> {
        let prices = &self.writer.accept(product)?;
        let store = self.store(product, facts)?;
        let row = NewRow {
            product,
            prices,
            facts,
            store,
            history,
        };
        self.writer.push(&row)?;
        if let (Some(held), Some(summary)) = (self.stores.last_mut(), self.summaries.last_mut()) {
            held.rows += 1;
            summary.add(product, prices);
        }
        Ok(())
    }

    /// Returns the index of the product's store in the part. A new store is added.
    fn store(&mut self, product: &Product, facts: &BrandFacts) -> Result<u32, BuildError> {
        let store = &product.key.store;
        if facts.brand.store != *store {
            let (product, store) = (product.key.to_string(), facts.brand.store.clone());
            return Err(BuildError::WrongStore { product, store });
        }
        if self.stores.last().is_none_or(|last| last.store != *store) {
            if !self.seen.insert(store.clone()) {
                return Err(BuildError::StoreNotTogether { store: store.clone() });
            }
            self.stores.push(PartStore {
                store: store.clone(),
                fingerprint: fingerprint(facts, self.options.embedding().as_ref()),
                first_row: self.rows(),
                rows: 0,
                live: true,
            });
            self.summaries.push(StoreSummary::new(facts.clone()));
        }
        Ok(u32::try_from(self.stores.len() - 1).unwrap_or(u32::MAX))
    }

    /// Writes the remaining data, names the files by their hashes, and describes the part. Returns `None` if it has no
    /// rows.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(self) -> Result<Option<PartFiles>, BuildError> {
        let Self { dir, work, writer, .. } = self;
        let rows = writer.rows();
        if rows == 0 {
            return Ok(None);
        }
        let work = work.path();
        let currencies = writer.finish(create_in(work)).map_err(located_in(work))?;
        let files = name_files(work, &dir)?;
        let entry = PartEntry {
            id: part_id(rows, &files),
            rows,
            live_rows: rows,
            currencies,
            stores: self.stores,
            files,
        };
        let summaries = self.summaries;
        Ok(Some(PartFiles { entry, summaries }))
    }
}

/// Moves every file of the part to `dir` and names it by the hash of its content.
fn name_files(work: &Path, dir: &Path) -> Result<Vec<FileEntry>, BuildError> {
    let mut files = Vec::new();
    for item in std::fs::read_dir(work).map_err(file_error(work))? {
        let path = item.map_err(file_error(work))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
            continue;
        };
        let (sha256, size_bytes) = digest_of_file(&path).map_err(file_error(&path))?;
        std::fs::rename(&path, dir.join(sha256.to_string())).map_err(file_error(&path))?;
        files.push(FileEntry {
            name,
            size_bytes,
            sha256,
        });
    }
    files.sort_unstable();
    Ok(files)
}

fn part_id(rows: u32, files: &[FileEntry]) -> PartId {
    let mut content = format!("{rows}\n");
    for file in files {
        content.push_str(&format!("{} {}\n", file.name, file.sha256));
    }
    PartId::from_digest(digest::prefix(content.as_bytes()))
}
