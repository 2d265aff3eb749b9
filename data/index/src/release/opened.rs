use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use bytes::Bytes;
use memmap2::Mmap;

use crate::columns::{
    CARDS, CODES, Cards, Codes, DETAILS, Details, FACETS, Facets, HISTORY, History, LOOKUP, Lookup, ipc,
};
use crate::dictionary::{BRANDS, Dictionary, SKUS, TITLES};
use crate::error::OpenError;
use crate::manifest::{Embedding, FileEntry, PartEntry};
use crate::suggest::{SUGGEST, Suggest};
use crate::terms::{TERMS, Terms};
use crate::vectors::{VECTORS, Vectors};

/// The opened files of a part, which are the same in every release that holds the part.
#[derive(Debug)]
pub(super) struct OpenPart {
    pub(super) terms: Terms,
    pub(super) titles: Dictionary,
    pub(super) brand_names: Dictionary,
    pub(super) skus: Dictionary,
    pub(super) cards: Cards,
    pub(super) details: Details,
    /// `None` in a part of an earlier version.
    pub(super) codes: Option<Codes>,
    pub(super) facets: Facets,
    pub(super) history: History,
    pub(super) lookup: Lookup,
    pub(super) suggest: Suggest,
    pub(super) vectors: Option<Vectors>,
}

impl OpenPart {
    /// Maps the files of a part and checks that they are what the manifest says.
    pub(super) fn open(entry: &PartEntry, embedding: Option<&Embedding>, files: &Path) -> Result<Self, OpenError> {
        for file in &entry.files {
            map(entry, &file.name, files)?;
        }
        let wrong = |name| {
            move |source| OpenError::Columns {
                part: entry.id.to_string(),
                name,
                source,
            }
        };
        let cards = one_batch(entry, CARDS, Cards::schema(), files)?;
        let cards = Cards::of(&cards, entry.currencies.clone(), entry.stores.len()).map_err(wrong(CARDS))?;
        let details = batches(entry, DETAILS, Details::schema(), files)?;
        let details = Details::of(&details).map_err(wrong(DETAILS))?;
        let facets = one_batch(entry, FACETS, Facets::schema(), files)?;
        let facets = Facets::of(&facets).map_err(wrong(FACETS))?;
        let lookup = one_batch(entry, LOOKUP, Lookup::schema(), files)?;
        let lookup_rows = lookup.num_rows();
        let lookup = Lookup::of(&lookup).map_err(wrong(LOOKUP))?;
        let content = |name, what| {
            Err(OpenError::Content {
                part: entry.id.to_string(),
                name,
                what,
            })
        };
        if cards.rows() != entry.rows || lookup_rows != entry.rows as usize {
            return content(CARDS, "another number of rows than the manifest's");
        }
        let (history, notes) = one_batch_with_notes(entry, HISTORY, History::schema(), files)?;
        let history = History::of(&history, &notes).map_err(wrong(HISTORY))?;
        if history.rows() != entry.rows as usize {
            return content(HISTORY, "another number of rows than the cards'");
        }
        if details.rows() != entry.rows {
            return content(DETAILS, "another number of rows than the cards'");
        }
        let codes = codes(entry, files)?;
        if !cards.facet_codes_below(facets.len()) {
            return content(CARDS, "a facet code outside its table");
        }
        let suggest = suggest(entry, files)?;
        let vectors = embedding
            .map(|embedding| vectors(entry, embedding, files))
            .transpose()?;
        let terms = terms(entry, files)?;
        Ok(Self {
            terms,
            titles: dictionary(entry, TITLES, files)?,
            brand_names: dictionary(entry, BRANDS, files)?,
            skus: dictionary(entry, SKUS, files)?,
            cards,
            details,
            codes,
            facets,
            history,
            lookup,
            suggest,
            vectors,
        })
    }
}

/// Barcodes and sizes of variants; a part of an earlier version has no such file.
fn codes(entry: &PartEntry, files: &Path) -> Result<Option<Codes>, OpenError> {
    if !entry.has_codes() {
        return Ok(None);
    }
    let batch = one_batch(entry, CODES, Codes::schema(), files)?;
    let codes = Codes::of(&batch).map_err(|source| OpenError::Columns {
        part: entry.id.to_string(),
        name: CODES,
        source,
    })?;
    if codes.rows() != entry.rows as usize {
        return Err(OpenError::Content {
            part: entry.id.to_string(),
            name: CODES,
            what: "another number of rows than the cards'",
        });
    }
    Ok(Some(codes))
}

fn terms(entry: &PartEntry, files: &Path) -> Result<Terms, OpenError> {
    Terms::open(map(entry, TERMS, files)?, entry.rows).map_err(|what| OpenError::Content {
        part: entry.id.to_string(),
        name: TERMS,
        what,
    })
}

fn dictionary(entry: &PartEntry, name: &'static str, files: &Path) -> Result<Dictionary, OpenError> {
    Dictionary::open(map(entry, name, files)?).map_err(|what| OpenError::Content {
        part: entry.id.to_string(),
        name,
        what,
    })
}

fn suggest(entry: &PartEntry, files: &Path) -> Result<Suggest, OpenError> {
    let bytes = map(entry, SUGGEST, files)?;
    Suggest::open(&bytes, entry.rows).map_err(|what| OpenError::Content {
        part: entry.id.to_string(),
        name: SUGGEST,
        what,
    })
}

fn vectors(entry: &PartEntry, embedding: &Embedding, files: &Path) -> Result<Vectors, OpenError> {
    let bytes = map(entry, VECTORS, files)?;
    Vectors::open(&bytes, entry.rows, embedding.dimensions).map_err(|what| OpenError::Content {
        part: entry.id.to_string(),
        name: VECTORS,
        what,
    })
}

/// Maps a file of the part after checking its size.
fn map(entry: &PartEntry, name: &str, files: &Path) -> Result<Bytes, OpenError> {
    let part = || entry.id.to_string();
    let file = entry.files.iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| OpenError::FileMissing {
        part: part(),
        name: name.to_owned(),
    })?;
    map_file(&part, file, files)
}

/// Maps a file after checking its size; `part` is what it belongs to.
pub(super) fn map_file(part: &dyn Fn() -> String, file: &FileEntry, files: &Path) -> Result<Bytes, OpenError> {
    let name = &file.name;
    let unmapped = |source| OpenError::Map {
        part: part(),
        name: name.to_owned(),
        source,
    };
    let opened = File::open(files.join(file.sha256.to_string())).map_err(unmapped)?;
    let found = opened.metadata().map_err(unmapped)?.len();
    if found != file.size_bytes {
        return Err(OpenError::SizeDiffers {
            part: part(),
            name: name.to_owned(),
            found,
            expected: file.size_bytes,
        });
    }
    #[expect(
        unsafe_code,
        reason = "the bytes of a mapped file must not change: it is named by its content, and nobody writes it again"
    )]
    let mapped = unsafe { Mmap::map(&opened) }.map_err(unmapped)?;
    Ok(Bytes::from_owner(mapped))
}

fn batches(
    entry: &PartEntry,
    name: &'static str,
    schema: &SchemaRef,
    files: &Path,
) -> Result<Vec<RecordBatch>, OpenError> {
    batches_with_notes(entry, name, schema, files).map(|(batches, _)| batches)
}

fn batches_with_notes(
    entry: &PartEntry,
    name: &'static str,
    schema: &SchemaRef,
    files: &Path,
) -> Result<(Vec<RecordBatch>, HashMap<String, String>), OpenError> {
    let bytes = map(entry, name, files)?;
    ipc::read_with_notes(bytes, schema).map_err(|source| OpenError::Columns {
        part: entry.id.to_string(),
        name,
        source,
    })
}

fn one_batch(
    entry: &PartEntry,
    name: &'static str,
    schema: &SchemaRef,
    files: &Path,
) -> Result<RecordBatch, OpenError> {
    one_batch_with_notes(entry, name, schema, files).map(|(batch, _)| batch)
}

fn one_batch_with_notes(
    entry: &PartEntry,
    name: &'static str,
    schema: &SchemaRef,
    files: &Path,
) -> Result<(RecordBatch, HashMap<String, String>), OpenError> {
    let (batches, notes) = batches_with_notes(entry, name, schema, files)?;
    let mut batches = batches.into_iter();
    match (batches.next(), batches.next()) {
        (Some(batch), None) => Ok((batch, notes)),
        _ => {
            let source = ArrowError::InvalidArgumentError("not one batch".to_owned());
            Err(OpenError::Columns {
                part: entry.id.to_string(),
                name,
                source,
            })
        }
    }
}
