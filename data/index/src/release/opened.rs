use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use bytes::Bytes;

use super::files::{Files, ReadFile};
use crate::columns::{CARDS, CODES, Cards, Codes, DETAILS, Details, FACETS, Facets, HISTORY, History, LOOKUP, Lookup};
use crate::dictionary::{BRANDS, Dictionary, SKUS, TITLES};
use crate::error::OpenError;
use crate::manifest::{Embedding, FileEntry, PartEntry};
use crate::suggest::{SUGGEST, Suggest};
use crate::terms::{TERMS, Terms};
use crate::vectors::{VECTORS, Vectors};

/// Opened files of a part, which all open releases with this part share.
#[derive(Debug)]
pub(super) struct OpenPart {
    pub(super) terms: Terms,
    pub(super) titles: Dictionary,
    pub(super) brand_names: Dictionary,
    pub(super) skus: Dictionary,
    pub(super) cards: Cards,
    pub(super) details: Details,
    pub(super) codes: Codes,
    pub(super) facets: Facets,
    pub(super) history: History,
    pub(super) lookup: Lookup,
    pub(super) suggest: Suggest,
    pub(super) vectors: Option<Vectors>,
}

impl OpenPart {
    pub(super) fn open(
        entry: &PartEntry,
        embedding: Option<&Embedding>,
        read: ReadFile<'_>,
    ) -> Result<Self, OpenError> {
        let of = entry.id.to_string();
        let part = PartFiles {
            entry,
            files: Files { of, read },
        };
        let (files, rows) = (&part.files, entry.rows);
        for file in &entry.files {
            files.bytes(file)?;
        }
        let cards = part.batch(CARDS, Cards::schema())?;
        let cards = Cards::of(&cards, entry.currencies.clone(), entry.stores.len());
        let cards = cards.map_err(files.wrong_columns(CARDS))?;
        let details = files.table(part.file(DETAILS)?, DETAILS, Details::schema())?;
        let details = Details::of(&details.batches).map_err(files.wrong_columns(DETAILS))?;
        let facets = part.batch(FACETS, Facets::schema())?;
        let facets = Facets::of(&facets).map_err(files.wrong_columns(FACETS))?;
        let lookup = part.batch(LOOKUP, Lookup::schema())?;
        let lookup_rows = lookup.num_rows();
        let lookup = Lookup::of(&lookup).map_err(files.wrong_columns(LOOKUP))?;
        let content = |name, what| Err(files.wrong_content(name)(what));
        if cards.rows() != rows || lookup_rows != rows as usize {
            return content(CARDS, "the number of rows differs from the manifest's");
        }
        let history = History::of(&part.batch(HISTORY, History::schema())?).map_err(files.wrong_columns(HISTORY))?;
        if history.rows() != rows as usize {
            return content(HISTORY, "the number of rows differs from that of the cards");
        }
        if details.rows() != rows {
            return content(DETAILS, "the number of rows differs from that of the cards");
        }
        let codes = Codes::of(&part.batch(CODES, Codes::schema())?).map_err(files.wrong_columns(CODES))?;
        if codes.rows() != rows as usize {
            return content(CODES, "the number of rows differs from that of the cards");
        }
        if !cards.facet_codes_below(facets.len()) {
            return content(CARDS, "a facet code is not in its table");
        }
        let suggest = Suggest::open(&part.bytes(SUGGEST)?, rows).map_err(files.wrong_content(SUGGEST))?;
        let vectors = |embedding: &Embedding| {
            let opened = Vectors::open(&part.bytes(VECTORS)?, rows, embedding.dimensions);
            opened.map_err(files.wrong_content(VECTORS))
        };
        Ok(Self {
            vectors: embedding.map(vectors).transpose()?,
            terms: Terms::open(part.bytes(TERMS)?, rows).map_err(files.wrong_content(TERMS))?,
            titles: part.dictionary(TITLES)?,
            brand_names: part.dictionary(BRANDS)?,
            skus: part.dictionary(SKUS)?,
            cards,
            details,
            codes,
            facets,
            history,
            lookup,
            suggest,
        })
    }
}

struct PartFiles<'a> {
    entry: &'a PartEntry,
    files: Files<'a>,
}

impl PartFiles<'_> {
    fn file(&self, name: &str) -> Result<&FileEntry, OpenError> {
        let file = self.entry.files.iter().find(|file| file.name == name);
        file.ok_or_else(|| OpenError::FileMissing {
            part: self.files.of.clone(),
            name: name.to_owned(),
        })
    }

    fn bytes(&self, name: &str) -> Result<Bytes, OpenError> {
        self.files.bytes(self.file(name)?)
    }

    fn batch(&self, name: &'static str, schema: &SchemaRef) -> Result<RecordBatch, OpenError> {
        self.files.batch(self.file(name)?, name, schema)
    }

    fn dictionary(&self, name: &'static str) -> Result<Dictionary, OpenError> {
        Dictionary::open(self.bytes(name)?).map_err(self.files.wrong_content(name))
    }
}
