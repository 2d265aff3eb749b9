use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::error::ArrowError;
use data_model::StoreHost;
use roaring::RoaringBitmap;

use super::opened::{OpenPart, map_file};
use super::{Part, Release, categories};
use crate::columns::{MATCHES, Matches, ipc};
use crate::delivery::{self as matrices, DELIVERY, DeliveryMatrix};
use crate::error::OpenError;
use crate::manifest::{BrandEntry, Embedding, Manifest, PartEntry, SCHEMA_VERSION};
use crate::reviews::{self as tables, REVIEWS, ReviewTable};
use crate::store::LocalRelease;

impl Release {
    /// Opens a release that was fetched: maps its files, and checks that they are what the manifest says. Blocks for as
    /// long as reading the files once takes.
    ///
    /// # Errors
    /// See [`OpenError`]; a damaged file is an error here, never a crash later.
    pub fn open(local: LocalRelease) -> Result<Self, OpenError> {
        Self::open_after(local, None)
    }

    /// As [`Release::open`], while another release is open: the parts that both hold are opened once, and stay mapped.
    ///
    /// # Errors
    /// As for [`Release::open`].
    pub fn open_after(local: LocalRelease, previous: Option<&Self>) -> Result<Self, OpenError> {
        let LocalRelease { manifest, files } = local;
        if manifest.schema_version != SCHEMA_VERSION {
            return Err(OpenError::Layout {
                found: manifest.schema_version,
                expected: SCHEMA_VERSION,
            });
        }
        let brands = brands(&manifest)?;
        live_once(&manifest)?;
        let directory = files.as_path();
        std::fs::read_dir(directory).map_err(|source| OpenError::Cache {
            path: files.clone(),
            source,
        })?;
        let embedding = manifest.embedding.as_ref();
        let tables = manifest.brands.iter().map(|brand| review_table(brand, directory));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        let open_part = |entry: &PartEntry| {
            let part = open_part(entry, &brands, embedding, (directory, previous))?;
            Ok::<_, OpenError>(part.with_reviews(&tables))
        };
        let parts = manifest.parts.iter().map(open_part).collect::<Result<Vec<_>, _>>()?;
        let counts = categories::counts(&manifest.brands);
        let delivery = manifest.brands.iter().map(|brand| delivery(brand, directory));
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
            matches: matches(&manifest, directory)?,
            manifest,
            parts,
        })
    }
}

/// The pairs of same products, where the release has any.
fn matches(manifest: &Manifest, files: &Path) -> Result<Option<Matches>, OpenError> {
    let Some(entry) = &manifest.matches else {
        return Ok(None);
    };
    let all = || "all".to_owned();
    let bytes = map_file(&all, &entry.file, files)?;
    let wrong = |source| OpenError::Columns {
        part: all(),
        name: MATCHES,
        source,
    };
    let batches = ipc::read(bytes, Matches::schema()).map_err(wrong)?;
    let [batch] = batches.as_slice() else {
        return Err(wrong(ArrowError::InvalidArgumentError("not one batch".to_owned())));
    };
    Matches::of(batch).map(Some).map_err(wrong)
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

/// Opens a part; what its files say is taken over from the release before, where that holds the same.
fn open_part(
    entry: &PartEntry,
    brands: &BTreeMap<&StoreHost, usize>,
    embedding: Option<&Embedding>,
    (files, previous): (&Path, Option<&Release>),
) -> Result<Part, OpenError> {
    let dead = dead_rows(entry)?;
    let brand = |held: &crate::PartStore| match brands.get(&held.store) {
        Some(at) => Ok(*at),
        None if held.live => Err(OpenError::Manifest {
            what: "a live store has no brand",
        }),
        None => Ok(usize::MAX),
    };
    let brands = entry.stores.iter().map(brand).collect::<Result<Vec<_>, _>>()?;
    let opened = match previous.and_then(|previous| already_open(entry, embedding, previous)) {
        Some(opened) => opened,
        None => Arc::new(OpenPart::open(entry, embedding, files)?),
    };
    let others = opened.cards.other_than_goods().map(|rows| rows - &dead);
    let unlisted = others.iter().fold(dead.clone(), |all, rows| all | rows);
    Ok(Part {
        entry: entry.clone(),
        opened,
        dead,
        unlisted,
        others,
        brands,
        shown: None,
    })
}

/// The same part, opened for another release: its files are named by what they hold.
fn already_open(entry: &PartEntry, embedding: Option<&Embedding>, previous: &Release) -> Option<Arc<OpenPart>> {
    let same = |part: &&Part| {
        let other = &part.entry;
        (other.id, other.rows, &other.files, &other.currencies)
            == (entry.id, entry.rows, &entry.files, &entry.currencies)
            && other.stores.len() == entry.stores.len()
    };
    let part = previous.parts.iter().find(same)?;
    (previous.manifest.embedding.as_ref() == embedding).then(|| Arc::clone(&part.opened))
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

/// Opens the table of a brand's review app.
fn review_table(brand: &BrandEntry, files: &Path) -> Result<Option<Arc<ReviewTable>>, OpenError> {
    let Some(reviews) = &brand.facts.reviews else {
        return Ok(None);
    };
    let store = || brand.facts.brand.store.to_string();
    let bytes = map_file(&store, &reviews.file, files)?;
    let wrong = |source| OpenError::Columns {
        part: store(),
        name: REVIEWS,
        source,
    };
    let batches = ipc::read(bytes, &tables::SCHEMA).map_err(wrong)?;
    let [batch] = batches.as_slice() else {
        return Err(wrong(ArrowError::InvalidArgumentError("not one batch".to_owned())));
    };
    ReviewTable::of(batch).map(Arc::new).map(Some).map_err(wrong)
}

/// Opens the delivery facts of a brand.
fn delivery(brand: &BrandEntry, files: &Path) -> Result<Option<DeliveryMatrix>, OpenError> {
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
    let (batches, notes) = ipc::read_with_notes(bytes, &matrices::SCHEMA).map_err(wrong)?;
    let [batch] = batches.as_slice() else {
        return Err(wrong(ArrowError::InvalidArgumentError("not one batch".to_owned())));
    };
    DeliveryMatrix::of(batch, &notes).map(Some).map_err(wrong)
}

/// The number of pincodes that any brand was asked about, or has a zone for.
fn covered(delivery: &[Option<DeliveryMatrix>]) -> u64 {
    let mut covered = RoaringBitmap::new();
    let mut areas = RoaringBitmap::new();
    for matrix in delivery.iter().flatten() {
        covered.extend(matrix.pincodes());
        areas.extend(matrix.areas().map(|area| u32::from(area.0)));
    }
    if !areas.is_empty() {
        let of_zones = data_pincodes::directory().pincodes();
        let of_zones = of_zones.filter(|(_, area)| areas.contains(u32::from(area.0)));
        covered.extend(of_zones.map(|(pincode, _)| pincode.number()));
    }
    covered.len()
}
