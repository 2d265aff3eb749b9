use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_model::StoreHost;
use roaring::RoaringBitmap;

use super::files::{Files, ReadFile};
use super::opened::OpenPart;
use super::{Part, Release, categories};
use crate::columns::{GONE, GoneProducts, MATCHES, Matches};
use crate::delivery::{self as matrices, DELIVERY, DeliveryMatrix};
use crate::error::OpenError;
use crate::manifest::{BrandEntry, Manifest, PartEntry, PartStore, SCHEMA_VERSION};
use crate::reviews::{self as tables, REVIEWS, ReviewTable};

impl Release {
    /// Opens a release: reads its files and checks them against the manifest. Parts that the release shares with
    /// `previous` are reused.
    ///
    /// # Errors
    /// A damaged file gives an [`OpenError`] here and no crash later.
    pub fn open(manifest: Manifest, read: ReadFile<'_>, previous: Option<&Self>) -> Result<Self, OpenError> {
        if manifest.schema_version != SCHEMA_VERSION {
            return Err(OpenError::Layout {
                found: manifest.schema_version,
                expected: SCHEMA_VERSION,
            });
        }
        let brands = brands(&manifest)?;
        live_once(&manifest)?;
        let opening = Opening {
            manifest: &manifest,
            brands,
            read,
            previous,
        };
        let tables = manifest.brands.iter().map(|brand| opening.review_table(brand));
        let tables = tables.collect::<Result<Vec<_>, _>>()?;
        let open_part = |entry| opening.part(entry).map(|part| part.with_reviews(&tables));
        let parts = manifest.parts.iter().map(open_part).collect::<Result<Vec<_>, _>>()?;
        let counts = categories::counts(&manifest.brands);
        let delivery = manifest.brands.iter().map(|brand| opening.delivery(brand));
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
            matches: opening.matches()?,
            gone: opening.gone()?,
            parts,
            manifest,
        })
    }
}

struct Opening<'a> {
    manifest: &'a Manifest,
    brands: BTreeMap<&'a StoreHost, usize>,
    read: ReadFile<'a>,
    previous: Option<&'a Release>,
}

impl Opening<'_> {
    fn matches(&self) -> Result<Option<Matches>, OpenError> {
        let Some(entry) = &self.manifest.matches else {
            return Ok(None);
        };
        let files = self.files("all".to_owned());
        let batch = files.batch(&entry.file, MATCHES, Matches::schema())?;
        Matches::of(&batch).map(Some).map_err(files.wrong_columns(MATCHES))
    }

    fn gone(&self) -> Result<Option<GoneProducts>, OpenError> {
        let Some(file) = &self.manifest.gone else {
            return Ok(None);
        };
        let files = self.files("all".to_owned());
        let batch = files.batch(file, GONE, GoneProducts::schema())?;
        GoneProducts::of(&batch).map(Some).map_err(files.wrong_columns(GONE))
    }

    fn review_table(&self, brand: &BrandEntry) -> Result<Option<Arc<ReviewTable>>, OpenError> {
        let Some(reviews) = &brand.facts.reviews else {
            return Ok(None);
        };
        let files = self.files(brand.facts.brand.store.to_string());
        let batch = files.batch(&reviews.file, REVIEWS, &tables::SCHEMA)?;
        let table = ReviewTable::of(&batch).map_err(files.wrong_columns(REVIEWS))?;
        Ok(Some(Arc::new(table)))
    }

    fn delivery(&self, brand: &BrandEntry) -> Result<Option<DeliveryMatrix>, OpenError> {
        let Some(file) = &brand.facts.delivery else {
            return Ok(None);
        };
        let files = self.files(brand.facts.brand.store.to_string());
        let mut table = files.table(file, DELIVERY, &matrices::SCHEMA)?;
        let notes = std::mem::take(&mut table.notes);
        let matrix = table.one().and_then(|batch| DeliveryMatrix::of(&batch, &notes));
        matrix.map(Some).map_err(files.wrong_columns(DELIVERY))
    }

    fn files(&self, of: String) -> Files<'_> {
        Files { of, read: self.read }
    }

    fn part(&self, entry: &PartEntry) -> Result<Part, OpenError> {
        let dead = dead_rows(entry)?;
        let brand = |held: &PartStore| match self.brands.get(&held.store) {
            Some(at) => Ok(*at),
            None if held.live => Err(OpenError::Manifest {
                what: "a live store has no brand",
            }),
            None => Ok(usize::MAX),
        };
        let brands = entry.stores.iter().map(brand).collect::<Result<Vec<_>, _>>()?;
        let opened = match self.already_open(entry) {
            Some(opened) => opened,
            None => Arc::new(OpenPart::open(entry, self.manifest.embedding.as_ref(), self.read)?),
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

    /// Returns the same part of the previous release. Equal digests mean equal files.
    fn already_open(&self, entry: &PartEntry) -> Option<Arc<OpenPart>> {
        let previous = self.previous?;
        let same = |part: &&Part| {
            let other = &part.entry;
            (other.id, other.rows, &other.files, &other.currencies)
                == (entry.id, entry.rows, &entry.files, &entry.currencies)
                && other.stores.len() == entry.stores.len()
        };
        let part = previous.parts.iter().find(same)?;
        (previous.manifest.embedding == self.manifest.embedding).then(|| Arc::clone(&part.opened))
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

/// Checks that every store is live only once. The live rows of a store must come from one state, and their number must
/// be the brand's product count.
fn live_once(manifest: &Manifest) -> Result<(), OpenError> {
    let mut ids = BTreeSet::new();
    if !manifest.parts.iter().all(|part| ids.insert(part.id)) {
        return Err(OpenError::Manifest {
            what: "a part is listed twice",
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
                what: "a store has live rows of two different states",
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
            what: "a store's number of live rows differs from its brand's product count",
        })
    }
}

/// Returns the rows of the stores that are not live. The rows of the stores must be contiguous and fill the part.
fn dead_rows(entry: &PartEntry) -> Result<RoaringBitmap, OpenError> {
    let (mut dead, mut next) = (RoaringBitmap::new(), 0_u32);
    for held in &entry.stores {
        if held.first_row != next {
            return Err(OpenError::Manifest {
                what: "the row ranges of a part's stores overlap or have gaps",
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
            what: "a part's number of rows differs from the total of its stores",
        });
    }
    Ok(dead)
}

/// Returns the number of pincodes for which any brand has an answer or a zone.
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
