use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use data_embedding::{Embedder, EmbedderId};
use data_model::{Brand, BrandSlug, CategoryId, CurrencyCode, ReleaseId, ShippingPolicy, StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

use crate::digest::{self, Hasher, Sha256Hex};

/// Version of the layout of the manifest and its files, and of the rules that turn texts into terms. The program writes
/// and reads only this version.
pub const SCHEMA_VERSION: u32 = 10;

/// Facts about a brand, without its products.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandFacts {
    /// Brand data that its store publishes.
    pub brand: Brand,
    /// Content hash of the brand's catalogue. Equal hashes mean equal products.
    pub catalogue_hash: String,
    /// Time of the crawl that found the current state of the catalogue.
    pub refreshed_at: Timestamp,
    /// Shipping terms of the brand, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping: Option<ShippingPolicy>,
    /// File with the delivery facts of the brand by pincode. `None` when nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<FileEntry>,
    /// Reviews from the brand's review app. `None` if the brand has no such app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviews: Option<BrandReviews>,
}

/// Reviews from the review app of a brand, and the totals of the brand that include them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandReviews {
    /// File of ratings and reviews by product.
    pub file: FileEntry,
    /// Totals over all products. The app's figures of a product take precedence over those of its own page.
    pub totals: BrandTotals,
    /// Totals from the products' own pages alone, computed when the release is assembled.
    #[serde(default)]
    pub pages: BrandTotals,
}

/// Sums of the ratings and reviews of a brand's products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BrandTotals {
    /// Number of reviews in the release.
    pub review_count: u64,
    /// Bits of the mean rating (`f32`), weighted by each product's number of ratings.
    pub rating_bits: Option<u32>,
    /// Number of ratings of all products.
    pub rating_count: u64,
}

/// Contents of a release. The id is derived from everything except [`Manifest::built_at`] and [`Manifest::lake`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout of this document and of the files: see [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Id of the release.
    pub id: ReleaseId,
    /// Time at which the release was built.
    pub built_at: Timestamp,
    /// Versions of the lake tables that the release was first built from. The release id does not depend on them,
    /// because compacting the lake raises the versions without changing the content.
    pub lake: BTreeMap<String, u64>,
    /// Embedder of the vectors of every part. `None` when there are no vectors.
    pub embedding: Option<Embedding>,
    /// Totals of the release.
    pub counts: Counts,
    /// All brands, sorted by store, including brands without products.
    pub brands: Vec<BrandEntry>,
    /// Parts, in the order in which they are opened.
    pub parts: Vec<PartEntry>,
    /// Matches between products of different brands. `None` in a release that was built without a search for matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchesEntry>,
    /// File of the products that disappeared last. `None` in a release that was built without a search for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<FileEntry>,
    /// Brands whose new state in the lake is not published, sorted by store. Such a brand has the state of an earlier
    /// release, or is missing if no earlier release contains it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldBrand>,
}

/// Brand for which the release has an earlier state than the lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBrand {
    /// Store of the brand.
    pub store: StoreHost,
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Build time of the first release that held the brand back.
    pub since: Timestamp,
    /// Reasons for holding the brand back, as text.
    pub reasons: Vec<String>,
    /// Versions of the lake tables from which the release has the brand. The next state is compared with these
    /// versions.
    pub lake: BTreeMap<String, u64>,
}

/// File of the matches between products of different brands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchesEntry {
    /// Version of the rules that found the matches.
    pub rules: u32,
    /// Number of pairs of products.
    pub pairs: u64,
    /// Entry of the file.
    pub file: FileEntry,
}

/// Embedder of a release's vectors. Only a query vector of the same embedder is comparable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedding {
    /// Id of the embedder.
    pub embedder: EmbedderId,
    /// Number of components of each vector.
    pub dimensions: u32,
}

impl Embedding {
    /// Returns the record of an embedder.
    #[must_use]
    pub fn of(embedder: &dyn Embedder) -> Self {
        Self {
            embedder: embedder.id().clone(),
            dimensions: u32::try_from(embedder.dimensions()).unwrap_or(u32::MAX),
        }
    }
}

/// Totals over the live rows of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Number of brands, including those without products.
    pub brands: u64,
    /// Number of products.
    pub products: u64,
    /// Number of variants of all products.
    pub variants: u64,
    /// Number of products with an available variant.
    pub in_stock: u64,
    /// Number of products whose card shows a list price above the price.
    pub on_sale: u64,
    /// Number of reviews in the release. Ratings without a review do not count.
    pub reviews: u64,
    /// Number of distinct categories that products are filed under, without their ancestors.
    pub categories: u64,
    /// Products per currency, sorted by code.
    pub currencies: Vec<CurrencyCount>,
}

/// Number of products with prices in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrencyCount {
    /// Currency of the prices.
    pub currency: CurrencyCode,
    /// Number of products.
    pub products: u64,
}

/// Number of products filed directly under one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryCount {
    /// Id of the category.
    pub category: CategoryId,
    /// Number of products.
    pub products: u64,
}

/// Brand of a release: its facts and the totals of its products.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrandEntry {
    /// Facts about the brand and the time of its last refresh.
    #[serde(flatten)]
    pub facts: BrandFacts,
    /// Number of products.
    pub product_count: u64,
    /// Number of variants of all products.
    pub variant_count: u64,
    /// Number of products with an available variant.
    pub in_stock_count: u64,
    /// Number of products whose card shows a list price above the price.
    pub on_sale_count: u64,
    /// Number of reviews in the release.
    pub review_count: u64,
    /// Number of products per category, without ancestors, sorted by category id.
    pub categories: Vec<CategoryCount>,
    /// Number of products per currency, sorted by currency code.
    pub currencies: Vec<CurrencyCount>,
    /// Lowest price among the products in the brand's own currency, in minor units.
    pub price_min_minor: Option<i64>,
    /// Highest price among the products in the brand's own currency, in minor units.
    pub price_max_minor: Option<i64>,
    /// Mean of the products' ratings, weighted by each product's number of ratings.
    pub rating: Option<f32>,
    /// Number of ratings of all products.
    pub rating_count: u64,
}

/// Id of a part: `p` and 32 hex digits that are derived from the part's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId([u8; 16]);

impl PartId {
    /// Returns the part id for the first bytes of a digest.
    #[must_use]
    pub const fn from_digest(prefix: [u8; 16]) -> Self {
        Self(prefix)
    }
}

impl fmt::Display for PartId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", hex::encode(self.0))
    }
}

impl FromStr for PartId {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 16];
        let digits = text.strip_prefix('p').ok_or(hex::FromHexError::InvalidStringLength)?;
        hex::decode_to_slice(digits, &mut bytes)?;
        Ok(Self(bytes))
    }
}

data_model::text_serde!(PartId);

/// Immutable unit of rows, with the files that contain them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Id of the part.
    pub id: PartId,
    /// Number of rows in the files.
    pub rows: u32,
    /// Number of rows that this release serves. The other rows belong to stores that were removed or are in a newer
    /// part.
    pub live_rows: u32,
    /// Currencies that the rows' currency codes index.
    pub currencies: Vec<CurrencyCode>,
    /// Stores of the part's products, in row order. They determine the dead rows.
    pub stores: Vec<PartStore>,
    /// Files of the part, sorted by name.
    pub files: Vec<FileEntry>,
}

/// Consecutive rows of one store in a part.
///
/// The rows of a store are in one part. A store that is larger than a part is split into several parts, which are
/// written together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartStore {
    /// Host of the store.
    pub store: StoreHost,
    /// Hash of everything that the store's rows were made from: catalogue hash, brand name, layout.
    pub fingerprint: String,
    /// First row of the store.
    pub first_row: u32,
    /// Number of rows of the store.
    pub rows: u32,
    /// True if this release serves the rows.
    pub live: bool,
}

impl PartStore {
    pub(crate) fn row_range(&self) -> std::ops::Range<u32> {
        self.first_row..self.first_row.saturating_add(self.rows)
    }
}

/// A file of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileEntry {
    /// Name of the file within its part: `cards.arrow`, `terms.bin`, and so on.
    pub name: String,
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// SHA-256 digest of the content as 64 lowercase hex digits, which is the name of the file in the object store and
    /// in caches.
    pub sha256: Sha256Hex,
}

/// File to write under its SHA-256 digest, with its entry for the manifest.
#[derive(Debug)]
pub struct NewFile {
    /// Entry for the manifest.
    pub entry: FileEntry,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl NewFile {
    pub(crate) fn new(name: &str, bytes: Vec<u8>) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(&bytes);
        let (sha256, size_bytes) = hasher.finish();
        let name = name.to_owned();
        Self {
            entry: FileEntry {
                name,
                size_bytes,
                sha256,
            },
            bytes,
        }
    }
}

impl Manifest {
    /// Returns the manifest with `matches` set and with the new id.
    ///
    /// # Errors
    /// A number cannot be written as JSON.
    pub fn with_matches(mut self, matches: MatchesEntry) -> Result<Self, serde_json::Error> {
        self.matches = Some(matches);
        self.id = self.content_id()?;
        Ok(self)
    }

    /// Returns the manifest with `gone` set and with the new id.
    ///
    /// # Errors
    /// A number cannot be written as JSON.
    pub fn with_gone(mut self, gone: FileEntry) -> Result<Self, serde_json::Error> {
        self.gone = Some(gone);
        self.id = self.content_id()?;
        Ok(self)
    }

    /// Returns the manifest with `held` set and with the new id.
    ///
    /// # Errors
    /// A number cannot be written as JSON.
    pub fn with_held(mut self, held: Vec<HeldBrand>) -> Result<Self, serde_json::Error> {
        self.held = held;
        self.id = self.content_id()?;
        Ok(self)
    }

    /// Returns the files of all parts, of all brands and of the release as a whole. The same content may occur more
    /// than once.
    pub fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let of_brands = self.brands.iter().filter_map(|brand| brand.facts.delivery.as_ref());
        let reviews = self.brands.iter().filter_map(|brand| brand.facts.reviews.as_ref());
        let of_brands = of_brands.chain(reviews.map(|reviews| &reviews.file));
        let of_all = self.matches.iter().map(|matches| &matches.file).chain(&self.gone);
        self.parts
            .iter()
            .flat_map(|part| &part.files)
            .chain(of_brands)
            .chain(of_all)
    }

    /// Returns the id that is derived from the content: SHA-256 of the canonical JSON without `id`, `built_at` and
    /// `lake`.
    ///
    /// # Errors
    /// A number cannot be written as JSON.
    pub fn content_id(&self) -> Result<ReleaseId, serde_json::Error> {
        #[derive(Serialize)]
        struct Content<'a> {
            schema_version: u32,
            embedding: &'a Option<Embedding>,
            counts: &'a Counts,
            brands: &'a [BrandEntry],
            parts: &'a [PartEntry],
            #[serde(skip_serializing_if = "Option::is_none")]
            matches: &'a Option<MatchesEntry>,
            #[serde(skip_serializing_if = "Option::is_none")]
            gone: &'a Option<FileEntry>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            held: Vec<HeldStore<'a>>,
        }
        #[derive(Serialize)]
        struct HeldStore<'a> {
            store: &'a StoreHost,
            reasons: &'a [String],
        }
        let Self {
            schema_version,
            id: _,
            built_at: _,
            lake: _,
            embedding,
            counts,
            brands,
            parts,
            matches,
            gone,
            held,
        } = self;
        let content = serde_json::to_vec(&Content {
            schema_version: *schema_version,
            embedding,
            counts,
            brands,
            parts,
            matches,
            gone,
            held: held
                .iter()
                .map(|HeldBrand { store, reasons, .. }| HeldStore { store, reasons })
                .collect(),
        })?;
        Ok(ReleaseId::from_digest(digest::prefix(&content)))
    }
}
