use std::io::{self, Write};

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use data_model::{CurrencyCode, PricePoint, PriceSummary, Product};

use super::BuildOptions;
use super::words::WrittenWords;
use crate::columns::{
    CARDS, CODES, CardsWriter, CodesWriter, DETAILS, DetailsWriter, FACETS, FacetsWriter, HISTORY, HistoryWriter,
    LOOKUP, ipc, write_lookup,
};
use crate::dictionary::{BRANDS, SKUS, TITLES};
use crate::error::BuildError;
use crate::manifest::BrandFacts;
use crate::suggest::{SUGGEST, SuggestWriter};
use crate::terms::{TERMS, TermsWriter};
use crate::vectors::{VECTORS, VectorsWriter};

/// Writes the files of one part. The writer takes products row by row, store by store. [`BuildOptions`] limits its
/// memory use.
pub struct PartWriter<W: Write> {
    options: BuildOptions,
    words: WrittenWords,
    terms: TermsWriter,
    cards: CardsWriter,
    details: DetailsWriter<W>,
    codes: CodesWriter,
    facets: FacetsWriter,
    history: HistoryWriter,
    suggest: SuggestWriter,
    vectors: Option<VectorsWriter>,
    rows: u32,
    card_bytes: usize,
}

/// Product that is to become the next row of a part.
#[derive(Debug, Clone, Copy)]
pub struct NewRow<'a> {
    /// Product to add.
    pub product: &'a Product,
    /// Prices of the product, as returned by [`PartWriter::accept`].
    pub prices: &'a PriceSummary,
    /// Facts about the product's brand.
    pub facts: &'a BrandFacts,
    /// Index of the product's store among the part's stores.
    pub store: u32,
    /// Price history of the product, newest first.
    pub history: &'a [PricePoint],
}

impl<W: Write> std::fmt::Debug for PartWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartWriter")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

fn columns_error(file: &'static str) -> impl Fn(ArrowError) -> BuildError {
    move |source| BuildError::Columns { file, source }
}

fn file_error(name: &'static str) -> impl Fn(io::Error) -> BuildError {
    move |source| BuildError::File {
        path: name.into(),
        source,
    }
}

impl<W: Write> PartWriter<W> {
    /// Starts a part. `create` returns the output file for a file name.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn new(options: &BuildOptions, create: impl FnOnce(&'static str) -> io::Result<W>) -> Result<Self, BuildError> {
        let details = create(DETAILS).map_err(file_error(DETAILS))?;
        Ok(Self {
            options: options.clone(),
            words: WrittenWords::default(),
            terms: TermsWriter::default(),
            cards: CardsWriter::default(),
            details: DetailsWriter::new(details).map_err(columns_error(DETAILS))?,
            codes: CodesWriter::default(),
            facets: FacetsWriter::default(),
            history: HistoryWriter::default(),
            suggest: SuggestWriter::default(),
            vectors: options.embedder.clone().map(VectorsWriter::new),
            rows: 0,
            card_bytes: 0,
        })
    }

    /// Returns the number of rows added so far.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns true if [`PartWriter::accept`] would refuse another row.
    #[must_use]
    pub fn is_full(&self) -> bool {
        let memory = self.words.memory() + self.terms.memory() + self.card_bytes;
        self.rows >= self.options.rows_max || (self.rows > 0 && memory >= self.options.memory_bytes_max)
    }

    /// Checks that a product can be the next row and returns its prices.
    ///
    /// # Errors
    /// The part is full, the product has no variants, or its texts are too large.
    pub fn accept(&self, product: &Product) -> Result<PriceSummary, BuildError> {
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
        PriceSummary::of(&product.variants).ok_or_else(|| BuildError::NoVariants {
            product: product.key.to_string(),
        })
    }

    /// Adds the next row.
    ///
    /// # Errors
    /// A file cannot be written, or the product cannot be embedded. After an error the writer must be dropped.
    pub fn push(&mut self, row: &NewRow<'_>) -> Result<(), BuildError> {
        let NewRow { product, facts, .. } = *row;
        self.words.push(self.rows, product, &facts.brand);
        self.terms.push(product, &facts.brand);
        let details = self.details.push(product, product.text_bytes());
        details.map_err(columns_error(DETAILS))?;
        self.cards.push(product, row.prices, row.store, facts.refreshed_at);
        let code_bytes = self.codes.push(&product.variants);
        self.facets.push(product);
        let points = self.history.push(product, row.history);
        let (brand, quality) = (&facts.brand.name, self.cards.last_quality());
        let suggest_bytes = self.suggest.push(product, brand, row.store, quality);
        self.card_bytes = self.card_bytes.saturating_add(suggest_bytes + code_bytes);
        if let Some(vectors) = &mut self.vectors {
            vectors.push(product, &facts.brand)?;
            self.card_bytes = self.card_bytes.saturating_add(vectors.row_bytes());
        }
        self.rows += 1;
        // Approximate size of a card without its texts, and of the facet codes with their posting lists.
        let codes = product.tags.len() + product.options.len() + product.attributes.len();
        self.card_bytes = self
            .card_bytes
            .saturating_add(256 + product.title.len() + 16 * codes + 48 * points);
        Ok(())
    }

    /// Writes the remaining files and returns the currencies that the rows' currency codes index. `create` returns the
    /// output file for a file name.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(self, create: impl Fn(&'static str) -> io::Result<W>) -> Result<Vec<CurrencyCode>, BuildError> {
        let write_bytes = |name, bytes: &[u8]| {
            let written = create(name).and_then(|mut file| file.write_all(bytes).and_then(|()| file.flush()));
            written.map_err(file_error(name))
        };
        let write_batch = |name, batch: &RecordBatch| {
            let file = create(name).map_err(file_error(name))?;
            let mut writer = ipc::writer(file, batch.schema_ref()).map_err(columns_error(name))?;
            writer.write(batch).map_err(columns_error(name))?;
            let mut file = writer.into_inner().map_err(columns_error(name))?;
            file.flush().map_err(file_error(name))
        };
        write_bytes(TERMS, &self.terms.finish())?;
        let mut details = self.details.finish().map_err(columns_error(DETAILS))?;
        details.flush().map_err(file_error(DETAILS))?;
        drop(details);
        let (ids, uids) = self.cards.ids();
        write_batch(LOOKUP, &write_lookup(ids, uids).map_err(columns_error(LOOKUP))?)?;
        let (facets, facet_codes) = self.facets.finish().map_err(columns_error(FACETS))?;
        write_batch(FACETS, &facets)?;
        let (cards, currencies) = self.cards.finish(facet_codes).map_err(columns_error(CARDS))?;
        write_batch(CARDS, &cards)?;
        write_batch(CODES, &self.codes.finish().map_err(columns_error(CODES))?)?;
        write_batch(HISTORY, &self.history.finish().map_err(columns_error(HISTORY))?)?;
        for (name, bytes) in [
            (TITLES, self.words.titles.finish()),
            (BRANDS, self.words.brands.finish()),
            (SKUS, self.words.skus.finish()),
            (SUGGEST, self.suggest.finish()),
        ] {
            let too_large = || {
                columns_error(name)(ArrowError::MemoryError(
                    "the data exceeds the maximum size of a file".to_owned(),
                ))
            };
            write_bytes(name, &bytes.ok_or_else(too_large)?)?;
        }
        if let Some(vectors) = self.vectors {
            write_bytes(VECTORS, &vectors.finish()?)?;
        }
        Ok(currencies)
    }
}
