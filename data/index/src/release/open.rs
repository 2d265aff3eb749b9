use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use bytes::Bytes;
use data_model::StoreHost;
use roaring::RoaringBitmap;
use tantivy::Directory;
use tantivy::directory::{MmapDirectory, OwnedBytes};

use super::{Part, Release, categories, text_index};
use crate::columns::{CARDS, Cards, DETAILS, Details, FACETS, Facets, HISTORY, History, LOOKUP, Lookup, ipc};
use crate::delivery::{self as matrices, DELIVERY, DeliveryMatrix};
use crate::error::OpenError;
use crate::manifest::{BrandEntry, Embedding, FileEntry, Manifest, PartEntry, SCHEMA_VERSION};
use crate::store::LocalRelease;
use crate::suggest::{SUGGEST, Suggest};
use crate::terms::{TERMS, Terms};
use crate::vectors::{VECTORS, Vectors};

/// Memory-mapped bytes as an owner that [`Bytes`] can keep alive.
struct Mapped(OwnedBytes);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

impl Release {
    /// Opens a release that was fetched: maps its files, checks that they are what the manifest says, and composes
    /// one text index over all parts. Blocks for as long as reading the files once takes.
    ///
    /// # Errors
    /// See [`OpenError`]; a damaged file is an error here, never a crash later.
    pub fn open(local: LocalRelease) -> Result<Self, OpenError> {
        let LocalRelease { manifest, files } = local;
        if manifest.schema_version != SCHEMA_VERSION {
            return Err(OpenError::Layout {
                found: manifest.schema_version,
                expected: SCHEMA_VERSION,
            });
        }
        let brands = brands(&manifest)?;
        live_once(&manifest)?;
        let directory = MmapDirectory::open(&files).map_err(|error| OpenError::Cache {
            path: files.clone(),
            source: std::io::Error::other(error),
        })?;
        let embedding = manifest.embedding.as_ref();
        let open_part = |entry: &PartEntry| open_part(entry, &brands, embedding, &directory);
        let parts = manifest.parts.iter().map(open_part).collect::<Result<Vec<_>, _>>()?;
        let searcher = text_index::open(&parts, &directory).map_err(OpenError::Text)?;
        check_segments(&parts, &searcher)?;
        let counts = categories::counts(&manifest.brands);
        let delivery = manifest.brands.iter().map(|brand| delivery(brand, &directory));
        let delivery = delivery.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            pincodes_covered: covered(&delivery),
            delivery,
            brand_of_slug: manifest
                .brands
                .iter()
                .zip(0..)
                .map(|(brand, at)| (brand.facts.brand.slug.clone(), at))
                .collect(),
            category_tree: categories::tree(&counts),
            category_counts: counts,
            manifest,
            parts,
            searcher,
        })
    }
}

fn brands(manifest: &Manifest) -> Result<BTreeMap<&StoreHost, usize>, OpenError> {
    let sorted = manifest
        .brands
        .windows(2)
        .all(|pair| pair[0].facts.brand.store < pair[1].facts.brand.store);
    if !sorted {
        return Err(OpenError::Manifest {
            what: "brands are not sorted by store",
        });
    }
    Ok(manifest
        .brands
        .iter()
        .zip(0..)
        .map(|(brand, at)| (&brand.facts.brand.store, at))
        .collect())
}

/// Every store is live once: its live rows were made from one state of it, and are as many as its brand has products.
fn live_once(manifest: &Manifest) -> Result<(), OpenError> {
    let mut ids = BTreeSet::new();
    if !manifest.parts.iter().all(|part| ids.insert(part.id)) {
        return Err(OpenError::Manifest {
            what: "a part is named twice",
        });
    }
    let mut live: BTreeMap<&StoreHost, (&str, u64)> = BTreeMap::new();
    for held in manifest
        .parts
        .iter()
        .flat_map(|part| &part.stores)
        .filter(|held| held.live)
    {
        let (state, rows) = live.entry(&held.store).or_insert((&held.fingerprint, 0));
        if *state != held.fingerprint {
            return Err(OpenError::Manifest {
                what: "a store is live in two states",
            });
        }
        *rows += u64::from(held.rows);
    }
    let counted =
        |brand: &BrandEntry| live.get(&brand.facts.brand.store).map_or(0, |live| live.1) == brand.product_count;
    if manifest.brands.iter().all(counted) {
        Ok(())
    } else {
        Err(OpenError::Manifest {
            what: "a store's live rows are not its brand's products",
        })
    }
}

fn open_part(
    entry: &PartEntry,
    brands: &BTreeMap<&StoreHost, usize>,
    embedding: Option<&Embedding>,
    files: &MmapDirectory,
) -> Result<Part, OpenError> {
    for file in &entry.files {
        map(entry, &file.name, files)?;
    }
    let dead = dead_rows(entry)?;
    let brand = |held: &crate::PartStore| match brands.get(&held.store) {
        Some(at) => Ok(*at),
        None if held.live => Err(OpenError::Manifest {
            what: "a live store has no brand",
        }),
        None => Ok(usize::MAX),
    };
    let brands = entry.stores.iter().map(brand).collect::<Result<Vec<_>, _>>()?;
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
    let history = one_batch(entry, HISTORY, History::schema(), files)?;
    let history = History::of(&history).map_err(wrong(HISTORY))?;
    if history.rows() != entry.rows as usize {
        return content(HISTORY, "another number of rows than the cards'");
    }
    if details.rows() != entry.rows {
        return content(DETAILS, "another number of rows than the cards'");
    }
    if !cards.facet_codes_below(facets.len()) {
        return content(CARDS, "a facet code outside its table");
    }
    let suggest = suggest(entry, files)?;
    let vectors = embedding
        .map(|embedding| vectors(entry, embedding, files))
        .transpose()?;
    let terms = terms(entry, files)?;
    Ok(Part {
        entry: entry.clone(),
        terms,
        cards,
        details,
        facets,
        history,
        lookup,
        suggest,
        vectors,
        dead,
        brands,
    })
}

fn terms(entry: &PartEntry, files: &MmapDirectory) -> Result<Terms, OpenError> {
    Terms::open(map(entry, TERMS, files)?, entry.rows).map_err(|what| OpenError::Content {
        part: entry.id.to_string(),
        name: TERMS,
        what,
    })
}

fn suggest(entry: &PartEntry, files: &MmapDirectory) -> Result<Suggest, OpenError> {
    let bytes = map(entry, SUGGEST, files)?;
    Suggest::open(&bytes, entry.rows).map_err(|what| OpenError::Content {
        part: entry.id.to_string(),
        name: SUGGEST,
        what,
    })
}

fn vectors(entry: &PartEntry, embedding: &Embedding, files: &MmapDirectory) -> Result<Vectors, OpenError> {
    let bytes = map(entry, VECTORS, files)?;
    Vectors::open(&bytes, entry.rows, embedding.dimensions).map_err(|what| OpenError::Content {
        part: entry.id.to_string(),
        name: VECTORS,
        what,
    })
}

/// The rows of the stores that are not live. The stores' rows must follow one another and fill the part.
fn dead_rows(entry: &PartEntry) -> Result<RoaringBitmap, OpenError> {
    let (mut dead, mut next) = (RoaringBitmap::new(), 0_u32);
    for held in &entry.stores {
        if held.first_row != next {
            return Err(OpenError::Manifest {
                what: "the stores of a part overlap or leave rows out",
            });
        }
        next = next.checked_add(held.rows).ok_or(OpenError::Manifest {
            what: "a part has too many rows",
        })?;
        if !held.live {
            dead.insert_range(held.row_range());
        }
    }
    if next != entry.rows || u64::from(entry.rows) - dead.len() != u64::from(entry.live_rows) {
        return Err(OpenError::Manifest {
            what: "a part's rows are not those of its stores",
        });
    }
    Ok(dead)
}

fn check_segments(parts: &[Part], searcher: &tantivy::Searcher) -> Result<(), OpenError> {
    let readers = searcher.segment_readers();
    let same = |(part, reader): (&Part, &tantivy::SegmentReader)| {
        reader.segment_id().uuid_string() == part.entry.id.segment_id() && reader.max_doc() == part.entry.rows
    };
    if readers.len() == parts.len() && parts.iter().zip(readers).all(same) {
        Ok(())
    } else {
        Err(OpenError::Manifest {
            what: "the text index does not have the parts' segments",
        })
    }
}

/// Maps a file of the part after checking its size.
fn map(entry: &PartEntry, name: &str, files: &MmapDirectory) -> Result<Bytes, OpenError> {
    let part = || entry.id.to_string();
    let file = entry.files.iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| OpenError::FileMissing {
        part: part(),
        name: name.to_owned(),
    })?;
    map_file(&part, file, files)
}

/// Maps a file after checking its size; `part` is what it belongs to.
fn map_file(part: &dyn Fn() -> String, file: &FileEntry, files: &MmapDirectory) -> Result<Bytes, OpenError> {
    let name = &file.name;
    let unmapped = |source| OpenError::Map {
        part: part(),
        name: name.to_owned(),
        source,
    };
    let opened = files.open_read(Path::new(&file.sha256.to_string()));
    let slice = opened.map_err(|error| unmapped(std::io::Error::other(error)))?;
    let found = tantivy::HasLen::len(&slice) as u64;
    if found != file.size_bytes {
        return Err(OpenError::SizeDiffers {
            part: part(),
            name: name.to_owned(),
            found,
            expected: file.size_bytes,
        });
    }
    Ok(Bytes::from_owner(Mapped(slice.read_bytes().map_err(unmapped)?)))
}

/// What is known of a brand's delivery.
fn delivery(brand: &BrandEntry, files: &MmapDirectory) -> Result<Option<DeliveryMatrix>, OpenError> {
    let Some(file) = &brand.facts.delivery else {
        return Ok(None);
    };
    let store = || brand.facts.brand.store.to_string();
    let bytes = map_file(&store, file, files)?;
    let wrong = |source| OpenError::Columns {
        part: store(),
        name: DELIVERY,
        source,
    };
    let batches = ipc::read(bytes, &matrices::SCHEMA).map_err(wrong)?;
    let [batch] = batches.as_slice() else {
        return Err(wrong(ArrowError::InvalidArgumentError("not one batch".to_owned())));
    };
    DeliveryMatrix::of(batch).map(Some).map_err(wrong)
}

/// How many pincodes any brand was asked about.
fn covered(delivery: &[Option<DeliveryMatrix>]) -> u64 {
    let mut covered = RoaringBitmap::new();
    for matrix in delivery.iter().flatten() {
        covered.extend(matrix.pincodes());
    }
    covered.len()
}

fn batches(
    entry: &PartEntry,
    name: &'static str,
    schema: &SchemaRef,
    files: &MmapDirectory,
) -> Result<Vec<RecordBatch>, OpenError> {
    let bytes = map(entry, name, files)?;
    ipc::read(bytes, &Arc::clone(schema)).map_err(|source| OpenError::Columns {
        part: entry.id.to_string(),
        name,
        source,
    })
}

fn one_batch(
    entry: &PartEntry,
    name: &'static str,
    schema: &SchemaRef,
    files: &MmapDirectory,
) -> Result<RecordBatch, OpenError> {
    let mut batches = batches(entry, name, schema, files)?.into_iter();
    match (batches.next(), batches.next()) {
        (Some(batch), None) => Ok(batch),
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
