use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use data_model::{PricePoint, PriceSummary, Product, StoreHost};
use tempfile::TempDir;

use super::document::WrittenWords;
use super::{BuildOptions, StoreSummary, fingerprint};
use crate::columns::{
    CARDS, CODES, CardsWriter, CodesWriter, DETAILS, DetailsWriter, FACETS, FacetsWriter, HISTORY, HistoryWriter,
    LOOKUP, ipc, write_lookup,
};
use crate::dictionary::{BRANDS, SKUS, TITLES};
use crate::digest;
use crate::error::BuildError;
use crate::manifest::{BrandFacts, FileEntry, PartEntry, PartId, PartStore};
use crate::suggest::{SUGGEST, SuggestWriter};
use crate::terms::{TERMS, TermsWriter};
use crate::vectors::{VECTORS, VectorsWriter};

/// Builds one part: takes products store by store, writes files named by their SHA-256.
///
/// Row numbers are the order of [`PartBuilder::push`]. Memory is bounded by [`BuildOptions`]. Nothing remains of a
/// builder that is dropped before [`PartBuilder::finish`].
pub struct PartBuilder {
    dir: PathBuf,
    work: TempDir,
    options: BuildOptions,
    words: WrittenWords,
    terms: TermsWriter,
    cards: CardsWriter,
    details: DetailsWriter<BufWriter<File>>,
    codes: CodesWriter,
    facets: FacetsWriter,
    history: HistoryWriter,
    suggest: SuggestWriter,
    vectors: Option<VectorsWriter>,
    stores: Vec<PartStore>,
    summaries: Vec<StoreSummary>,
    seen: BTreeSet<StoreHost>,
    rows: u32,
    card_bytes: usize,
}

impl std::fmt::Debug for PartBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartBuilder")
            .field("dir", &self.dir)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

/// A part that was built: its entry for the manifest, and what its stores add up to. Its files lie in the build
/// directory, each named by its SHA-256.
#[derive(Debug, Clone, PartialEq)]
pub struct PartFiles {
    /// Its entry; every store is live.
    pub entry: PartEntry,
    /// One summary a store, in the order of [`PartEntry::stores`].
    pub summaries: Vec<StoreSummary>,
}

fn columns_error(file: &'static str) -> impl Fn(ArrowError) -> BuildError {
    move |source| BuildError::Columns { file, source }
}

fn file_error(path: &Path) -> impl Fn(io::Error) -> BuildError {
    let path = path.to_owned();
    move |source| BuildError::File {
        path: path.clone(),
        source,
    }
}

impl PartBuilder {
    /// Starts a part whose files will lie in `dir`, which is created.
    ///
    /// # Errors
    /// The directory or a file cannot be written.
    pub fn new(dir: &Path, options: &BuildOptions) -> Result<Self, BuildError> {
        std::fs::create_dir_all(dir).map_err(file_error(dir))?;
        let work = tempfile::Builder::new()
            .prefix("part-")
            .tempdir_in(dir)
            .map_err(file_error(dir))?;
        let path = work.path().join(DETAILS);
        let details = BufWriter::with_capacity(1 << 18, File::create(&path).map_err(file_error(&path))?);
        Ok(Self {
            dir: dir.to_owned(),
            work,
            options: options.clone(),
            words: WrittenWords::default(),
            terms: TermsWriter::default(),
            cards: CardsWriter::new(),
            details: DetailsWriter::new(details).map_err(columns_error(DETAILS))?,
            codes: CodesWriter::default(),
            facets: FacetsWriter::default(),
            history: HistoryWriter::default(),
            suggest: SuggestWriter::default(),
            vectors: options.embedder.clone().map(VectorsWriter::new),
            stores: Vec::new(),
            summaries: Vec::new(),
            seen: BTreeSet::new(),
            rows: 0,
            card_bytes: 0,
        })
    }

    /// Rows so far.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// True where [`PartBuilder::push`] would refuse another row.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let memory = self.words.memory() + self.terms.memory() + self.card_bytes;
        self.rows >= self.options.rows_max || (self.rows > 0 && memory >= self.options.memory_bytes_max)
    }

    /// Takes the next row. The products of a store come one after the other.
    ///
    /// # Errors
    /// [`BuildError::PartFull`] when the part is full; the product or the files are unfit. After
    /// [`BuildError::Columns`] or [`BuildError::Embed`] the builder must be dropped.
    pub fn push(&mut self, product: &Product, facts: &BrandFacts) -> Result<(), BuildError> {
        self.push_with_history(product, facts, &[])
    }

    /// [`PartBuilder::push`] with what is known of how the product's prices went, newest first.
    ///
    /// # Errors
    /// As [`PartBuilder::push`].
    pub fn push_with_history(
        &mut self,
        product: &Product,
        facts: &BrandFacts,
        history: &[PricePoint],
    ) -> Result<(), BuildError> {
        if self.is_full() {
            return Err(BuildError::PartFull { rows: self.rows });
        }
        let (size_bytes, size_bytes_max) = (product.text_bytes(), self.options.product_bytes_max);
        if size_bytes > size_bytes_max {
            return Err(BuildError::ProductTooLarge {
                product: product.key.to_string(),
                size_bytes,
                size_bytes_max,
            });
        }
        let no_variants = || BuildError::NoVariants {
            product: product.key.to_string(),
        };
        let prices = PriceSummary::of(&product.variants).ok_or_else(no_variants)?;
        let store = self.store(product, facts)?;
        self.words.push(self.rows, product, &facts.brand);
        self.terms.push(product, &facts.brand);
        self.details.push(product, size_bytes).map_err(columns_error(DETAILS))?;
        self.cards.push(product, &prices, store, facts.refreshed_at);
        let code_bytes = self.codes.push(&product.variants);
        self.facets.push(product);
        let points = self.history.push(product, history);
        let suggested = (store, self.cards.last_quality());
        let suggest_bytes = self.suggest.push(product, &facts.brand.name, suggested);
        self.card_bytes = self.card_bytes.saturating_add(suggest_bytes + code_bytes);
        if let Some(vectors) = &mut self.vectors {
            vectors.push(product, &facts.brand)?;
            self.card_bytes = self.card_bytes.saturating_add(vectors.row_bytes());
        }
        if let (Some(held), Some(summary)) = (self.stores.last_mut(), self.summaries.last_mut()) {
            held.rows += 1;
            summary.add(product, &prices);
        }
        self.rows += 1;
        // Cards hold about this much besides texts, and facet codes with their posting lists.
        let codes = product.tags.len() + product.options.len() + product.attributes.len();
        self.card_bytes = self
            .card_bytes
            .saturating_add(256 + product.title.len() + 16 * codes + 48 * points);
        Ok(())
    }

    /// The ordinal of the product's store, which is entered when it is new.
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
                first_row: self.rows,
                rows: 0,
                live: true,
            });
            self.summaries.push(StoreSummary::new(facts.clone()));
        }
        Ok(u32::try_from(self.stores.len() - 1).unwrap_or(u32::MAX))
    }

    /// Writes what remains, names the files by their content, and describes the part; `None` when it has no rows.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(self) -> Result<Option<PartFiles>, BuildError> {
        let Self {
            dir,
            work,
            words,
            terms,
            cards,
            details,
            codes,
            facets,
            history,
            suggest,
            vectors,
            stores,
            summaries,
            rows,
            ..
        } = self;
        if rows == 0 {
            return Ok(None);
        }
        let path = work.path().join(TERMS);
        std::fs::write(&path, terms.finish()).map_err(file_error(&path))?;
        let mut file = details.finish().map_err(columns_error(DETAILS))?;
        file.flush().map_err(file_error(&work.path().join(DETAILS)))?;
        drop(file);
        let (ids, uids) = cards.ids();
        let lookup = write_lookup(ids, uids).map_err(columns_error(LOOKUP))?;
        write_batch(work.path(), LOOKUP, &lookup)?;
        let (facets, facet_codes) = facets.finish().map_err(columns_error(FACETS))?;
        write_batch(work.path(), FACETS, &facets)?;
        let (cards, currencies) = cards.finish(facet_codes).map_err(columns_error(CARDS))?;
        write_batch(work.path(), CARDS, &cards)?;
        write_batch(work.path(), CODES, &codes.finish().map_err(columns_error(CODES))?)?;
        let history = history.finish().map_err(columns_error(HISTORY))?;
        write_batch(work.path(), HISTORY, &history)?;
        for (name, bytes) in [
            (TITLES, words.titles.finish()),
            (BRANDS, words.brands.finish()),
            (SKUS, words.skus.finish()),
            (SUGGEST, suggest.finish()),
        ] {
            let too_large = || columns_error(name)(ArrowError::MemoryError("more than a file holds".to_owned()));
            write_bytes(work.path(), name, &bytes.ok_or_else(too_large)?)?;
        }
        if let Some(vectors) = vectors {
            write_bytes(work.path(), VECTORS, &vectors.finish()?)?;
        }
        let files = name_files(work.path(), &dir)?;
        let id = part_id(rows, &files);
        let entry = PartEntry {
            id,
            rows,
            live_rows: rows,
            currencies,
            stores,
            files,
        };
        Ok(Some(PartFiles { entry, summaries }))
    }
}

fn write_bytes(work: &Path, name: &'static str, bytes: &[u8]) -> Result<(), BuildError> {
    let path = work.join(name);
    std::fs::write(&path, bytes).map_err(file_error(&path))
}

fn write_batch(work: &Path, name: &'static str, batch: &RecordBatch) -> Result<(), BuildError> {
    let path = work.join(name);
    let file = BufWriter::with_capacity(1 << 18, File::create(&path).map_err(file_error(&path))?);
    let mut writer = ipc::writer(file, batch.schema_ref()).map_err(columns_error(name))?;
    writer.write(batch).map_err(columns_error(name))?;
    let mut file = writer.into_inner().map_err(columns_error(name))?;
    file.flush().map_err(file_error(&path))
}

/// Moves every file of the part to `dir` under the hash of its content.
fn name_files(work: &Path, dir: &Path) -> Result<Vec<FileEntry>, BuildError> {
    let mut files = Vec::new();
    for item in std::fs::read_dir(work).map_err(file_error(work))? {
        let path = item.map_err(file_error(work))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
            continue;
        };
        let (sha256, size_bytes) = digest::of_file(&path).map_err(file_error(&path))?;
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
