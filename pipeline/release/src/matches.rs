//! Finds equal products of different brands in a release that is assembled but not published yet.
//!
//! The pairs depend only on the release's products. A release with the same parts reuses the pairs of the previous one.
//! For any other release, all products are compared again, block by block (see `data-matching`).

use std::path::Path;
use std::time::Instant;

use data_index::columns::{DetailsRow, MatchedPair};
use data_index::{FileEntry, Manifest, MatchesEntry, Release, RowAddress};
use data_matching::{Bounds, Catalogue, Item, ItemVariant, Match, ProductNames, RULES, matches};
use data_model::{Gtin, VariantId};
use data_release::{AssembleError, LocalRelease, ReleaseStore, write_matches};

use crate::error::ReleaseBuildError;

#[derive(Clone, Copy)]
pub(crate) struct Places<'a> {
    pub(crate) releases: &'a ReleaseStore,
    pub(crate) files: &'a Path,
    pub(crate) cache: &'a Path,
}

/// Adds the pairs of equal products to the manifest. Files shared with the previous release are fetched to `cache`, as
/// for the checks. If the parts cannot be read, the manifest stays unchanged, because the checks report the reason and
/// repair the possible.
pub(crate) async fn with_matches(
    manifest: Manifest,
    previous: Option<&Manifest>,
    places: Places<'_>,
) -> Result<Manifest, ReleaseBuildError> {
    let entry = match previous.and_then(|previous| taken_over(&manifest, previous)) {
        Some(entry) => Ok(entry),
        None => searched(&manifest, places).await,
    };
    match entry {
        Ok(entry) => {
            let with_them = manifest.with_matches(entry);
            with_them.map_err(|error| ReleaseBuildError::Assemble(AssembleError::Json(error)))
        }
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the matches between brands are unknown because the parts cannot be read"
            );
            Ok(manifest)
        }
    }
}

async fn searched(manifest: &Manifest, places: Places<'_>) -> Result<MatchesEntry, ReleaseBuildError> {
    let folder = gather(manifest, places).await?;
    let local = LocalRelease::in_directory(manifest.clone(), folder.path());
    let files = places.files.to_owned();
    // Opening and comparing take seconds of CPU time and must not block async threads.
    let found = tokio::task::spawn_blocking(move || find(local, &files)).await;
    found.map_err(|_| ReleaseBuildError::BrokeOff)?
}

/// Returns the pairs of the previous release, if it has the same products.
fn taken_over(manifest: &Manifest, previous: &Manifest) -> Option<MatchesEntry> {
    let names = |manifest: &Manifest| -> Vec<String> {
        let names = manifest.brands.iter().map(|entry| entry.facts.brand.name.clone());
        names.collect()
    };
    let is_same = manifest.parts == previous.parts && names(manifest) == names(previous);
    previous.matches.clone().filter(|found| is_same && found.rules == RULES)
}

/// The folder contains all files of the release, including shared ones.
async fn gather(manifest: &Manifest, places: Places<'_>) -> Result<tempfile::TempDir, ReleaseBuildError> {
    let Places { releases, files, cache } = places;
    let is_new = |file: &FileEntry| files.join(file.sha256.to_string()).exists();
    // Files created for this release are not in the store yet, so that only shared files are fetched.
    let mut shared = manifest.clone();
    for part in &mut shared.parts {
        part.files.retain(|file| !is_new(file));
    }
    for brand in &mut shared.brands {
        let facts = &mut brand.facts;
        facts.delivery = facts.delivery.take().filter(|file| !is_new(file));
        facts.reviews = facts.reviews.take().filter(|reviews| !is_new(&reviews.file));
    }
    shared.matches = None;
    let fetched = releases.fetch(&shared, cache).await;
    let cached = fetched.map_err(ReleaseBuildError::Previous)?;
    let folder = tempfile::tempdir_in(files).map_err(ReleaseBuildError::WorkDir)?;
    for file in manifest.files() {
        let name = file.sha256.to_string();
        let from = if is_new(file) {
            files.join(&name)
        } else {
            cached.path_of(file)
        };
        link(&from, &folder.path().join(&name)).map_err(ReleaseBuildError::WorkDir)?;
    }
    Ok(folder)
}

/// Creates a hard link to a file, or a symbolic link if it is on another file system.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(from, to) {
        // Two brands may share one file of delivery data or reviews.
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(_) => std::os::unix::fs::symlink(std::path::absolute(from)?, to),
        Ok(()) => Ok(()),
    }
}

fn find(local: LocalRelease, files: &Path) -> Result<MatchesEntry, ReleaseBuildError> {
    let begun = Instant::now();
    let release = local.open().map_err(ReleaseBuildError::Unopened)?;
    let opened = begun.elapsed();
    let products = Products::of(&release);
    let found = matches(&products, &Bounds::default());
    let pairs: Vec<MatchedPair> = found.into_iter().filter_map(|found| products.pair(found)).collect();
    let (opened_ms, matched_ms) = (opened.as_millis(), (begun.elapsed() - opened).as_millis());
    tracing::debug!(
        products = products.rows(),
        pairs = pairs.len(),
        opened_ms,
        matched_ms,
        "the products of all brands were compared"
    );
    write_matches(files, RULES, &pairs).map_err(ReleaseBuildError::Matches)
}

struct Products<'a> {
    release: &'a Release,
    rows: Vec<RowAddress>,
}

impl<'a> Products<'a> {
    fn of(release: &'a Release) -> Self {
        let parts = (0..).zip(release.parts());
        let rows = parts.flat_map(|(at, part)| {
            let live = (0..part.rows()).filter(|row| !part.dead().contains(*row));
            live.map(move |row| RowAddress { part: at, row })
        });
        let mut rows: Vec<RowAddress> = rows.collect();
        // The pairs must not depend on the division into parts.
        rows.sort_by_cached_key(|at| release.part(at.part).map(|part| *part.cards().id(at.row).as_bytes()));
        Self { release, rows }
    }

    fn at(&self, row: u32) -> Option<RowAddress> {
        self.rows.get(row as usize).copied()
    }

    fn details(&self, row: u32) -> Option<DetailsRow<'a>> {
        let at = self.at(row)?;
        Some(self.release.part(at.part)?.details().row(at.row))
    }

    fn pair(&self, found: Match) -> Option<MatchedPair> {
        let id = |row| {
            let at = self.at(row)?;
            Some(self.release.part(at.part)?.cards().id(at.row))
        };
        let judgement = found.judgement;
        Some(MatchedPair {
            id: id(found.one)?,
            other_id: id(found.other)?,
            variants: judgement
                .variants
                .map(|(one, other)| (VariantId(one), VariantId(other))),
            // More than two digits would suggest false precision.
            confidence: (judgement.confidence * 100.0).round() / 100.0,
            basis: judgement.basis.as_str(),
            reasons: judgement.reasons.iter().map(ToString::to_string).collect(),
        })
    }

    fn named(&self, row: u32) -> Option<ProductNames<'a>> {
        let at = self.at(row)?;
        let part = self.release.part(at.part)?;
        let store = part.brand_index(at.row);
        Some(ProductNames {
            store: u32::try_from(store).unwrap_or(u32::MAX),
            brand: &self.release.brands().get(store)?.facts.brand.name,
            vendor: part.details().row(at.row).vendor(),
            title: part.cards().title(at.row),
        })
    }
}

impl Catalogue for Products<'_> {
    fn rows(&self) -> u32 {
        u32::try_from(self.rows.len()).unwrap_or(u32::MAX)
    }

    fn named(&self, row: u32) -> ProductNames<'_> {
        // Only numbers from `rows` are used here, so that the row always exists.
        self.named(row).unwrap_or(ProductNames {
            store: u32::MAX,
            brand: "",
            vendor: None,
            title: "",
        })
    }

    fn barcodes(&self, row: u32, found: &mut dyn FnMut(Gtin)) {
        let Some(at) = self.at(row) else { return };
        let part = self.release.part(at.part);
        let held = part.into_iter().flat_map(|part| part.barcodes(at.row));
        held.for_each(|(_, barcode)| found(barcode));
    }

    fn item(&self, row: u32) -> Item<'_> {
        let (Some(named), Some(details), Some(at)) = (self.named(row), self.details(row), self.at(row)) else {
            return Item::default();
        };
        let named_values = details.options().chain(details.attributes());
        let part = self.release.part(at.part);
        let currency = part.map(|part| part.cards().currency(at.row).as_str());
        let barcode = |position| part?.variant_codes(at.row, position).barcode;
        let variants = (0..).zip(details.variants()).map(|(position, variant)| ItemVariant {
            id: variant.id.0,
            options: variant.options().map(|(_, value)| value).collect(),
            sku: variant.sku,
            barcode: barcode(position),
            price_minor: variant.price_minor,
        });
        Item {
            brand: named.brand,
            vendor: named.vendor,
            title: named.title,
            product_type: details.product_type(),
            attributes: named_values.map(|held| (held.name, held.values().collect())).collect(),
            currency: currency.unwrap_or_default(),
            variants: variants.collect(),
        }
    }

    fn similarity(&self, one: u32, other: u32) -> Option<f32> {
        let vector = self.release.vector(self.at(one)?)?;
        self.release.similarity(&vector, self.at(other)?)
    }
}
