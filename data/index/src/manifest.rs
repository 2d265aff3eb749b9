use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use data_embedding::{Embedder, EmbedderId};
use data_model::{Brand, BrandSlug, CategoryId, CurrencyCode, ReleaseId, ShippingPolicy, StoreHost, Timestamp};
use serde::{Deserialize, Serialize};

use crate::digest::{self, Hasher, Sha256Hex};

/// The version of the manifest's and the files' layout, and of how texts become terms, that this program writes, and the
/// only one it reads.
pub const SCHEMA_VERSION: u32 = 9;

/// The facts of a brand besides its products.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandFacts {
    /// The brand, as its store presents itself.
    pub brand: Brand,
    /// Content hash of its catalogue; equal hashes mean equal products.
    pub catalogue_hash: String,
    /// When a crawl found its catalogue as it is now.
    pub refreshed_at: Timestamp,
    /// Its shipping terms, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shipping: Option<ShippingPolicy>,
    /// The file of what is known of its delivery to pincodes; `None` when nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<FileEntry>,
    /// Reviews from its review app; `None` where it uses none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviews: Option<BrandReviews>,
}

/// The reviews of a brand's review app, and the brand's totals with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrandReviews {
    /// The file of ratings and reviews by product.
    pub file: FileEntry,
    /// Totals over all products: of the app where it says something of a product, else of the product's own page.
    pub totals: BrandTotals,
    /// Totals of the products' own pages alone. Filled in when the release is put together.
    #[serde(default)]
    pub pages: BrandTotals,
}

/// Ratings and reviews of a brand's products, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BrandTotals {
    /// Reviews held.
    pub review_count: u64,
    /// The bits of the mean rating, weighted by how many ratings each product has.
    pub rating_bits: Option<u32>,
    /// Ratings of all products.
    pub rating_count: u64,
}

/// The contents of a release. The id follows from everything but [`Manifest::built_at`] and [`Manifest::lake`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Layout of this document and of the files, see [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The release's id.
    pub id: ReleaseId,
    /// When it was built.
    pub built_at: Timestamp,
    /// Lake tables and the versions that it was first built from. Not part of the id: a lake that was only compacted
    /// has new versions of the same content.
    pub lake: BTreeMap<String, u64>,
    /// The embedder of every part's vectors; `None` when there are none.
    pub embedding: Option<Embedding>,
    /// Totals.
    pub counts: Counts,
    /// Every brand, sorted by store; brands without products too.
    pub brands: Vec<BrandEntry>,
    /// The parts, in the order in which they are opened.
    pub parts: Vec<PartEntry>,
    /// The same products of different brands; `None` in a release of a program that did not look for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchesEntry>,
    /// The file of products that went last; `None` in a release of a program that did not look for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<FileEntry>,
    /// The brands that are as an earlier release had them, or missing where none had them: what the lake has of them is
    /// doubted. Sorted by store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldBrand>,
}

/// A brand of which the release has an earlier state than the lake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBrand {
    /// Its store.
    pub store: StoreHost,
    /// Its slug.
    pub slug: BrandSlug,
    /// When a release was first built that held it.
    pub since: Timestamp,
    /// The doubts, in words.
    pub reasons: Vec<String>,
    /// The versions of the lake's tables that the release has it of, and that what comes next is compared with.
    pub lake: BTreeMap<String, u64>,
}

/// The file of products that are the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchesEntry {
    /// The version of the rules that found them.
    pub rules: u32,
    /// Pairs of products.
    pub pairs: u64,
    /// The file.
    pub file: FileEntry,
}

/// The embedder of a release's vectors. A query's vector must be of the same one, or it means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedding {
    /// The embedder.
    pub embedder: EmbedderId,
    /// Components of each vector.
    pub dimensions: u32,
}

impl Embedding {
    /// The record of an embedder.
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
    /// Brands, those without products included.
    pub brands: u64,
    /// Products.
    pub products: u64,
    /// Variants of all products.
    pub variants: u64,
    /// Products with a variant that is available.
    pub in_stock: u64,
    /// Products whose card shows a list price above the price.
    pub on_sale: u64,
    /// Reviews held (not ratings counted).
    pub reviews: u64,
    /// Distinct categories that products are filed under, ancestors not counted.
    pub categories: u64,
    /// Products per currency, sorted by code.
    pub currencies: Vec<CurrencyCount>,
}

/// The number of products whose prices are in a currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrencyCount {
    /// The currency.
    pub currency: CurrencyCode,
    /// Products.
    pub products: u64,
}

/// The number of products filed directly under a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryCount {
    /// The category.
    pub category: CategoryId,
    /// Products.
    pub products: u64,
}

/// A brand of a release: its facts and what its products add up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BrandEntry {
    /// The brand and how fresh it is.
    #[serde(flatten)]
    pub facts: BrandFacts,
    /// Products.
    pub product_count: u64,
    /// Variants of all products.
    pub variant_count: u64,
    /// Products with a variant that is available.
    pub in_stock_count: u64,
    /// Products whose card shows a list price above the price.
    pub on_sale_count: u64,
    /// Reviews held.
    pub review_count: u64,
    /// Products per category, sorted by category id, ancestors not counted.
    pub categories: Vec<CategoryCount>,
    /// Products per currency, sorted by code.
    pub currencies: Vec<CurrencyCount>,
    /// Lowest price of the products that are in the brand's own currency.
    pub price_min_minor: Option<i64>,
    /// Highest price of the products that are in the brand's own currency.
    pub price_max_minor: Option<i64>,
    /// Mean of the products' ratings, weighted by how many ratings each has.
    pub rating: Option<f32>,
    /// Ratings of all products.
    pub rating_count: u64,
}

/// A part's id: `p` and 32 hex digits that follow from its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId([u8; 16]);

impl PartId {
    /// The id that follows from the beginning of a digest.
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

impl Serialize for PartId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PartId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// One immutable unit of rows, with the files that hold them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Its id.
    pub id: PartId,
    /// Rows written.
    pub rows: u32,
    /// Rows that this release serves; the others belong to stores that a newer part holds or that are gone.
    pub live_rows: u32,
    /// The currencies that the rows' currency codes index.
    pub currencies: Vec<CurrencyCode>,
    /// The stores whose products it holds, in order of their rows. The dead rows follow from this list alone.
    pub stores: Vec<PartStore>,
    /// Its files, sorted by name.
    pub files: Vec<FileEntry>,
}

/// A run of consecutive rows of one store in a part.
///
/// A store lies in one part, unless it is larger than a part: then in several that were written together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartStore {
    /// The store.
    pub store: StoreHost,
    /// Hash of everything that its rows were made from: catalogue hash, brand name, layout.
    pub fingerprint: String,
    /// Its first row.
    pub first_row: u32,
    /// The number of its rows.
    pub rows: u32,
    /// True where this release serves them.
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
    /// Its name within its part: `cards.arrow`, `text.idx`, and so on.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// SHA-256 of its content, 64 lower-case hex digits: its name in the store and in caches.
    pub sha256: Sha256Hex,
}

/// A file that is to be written under its SHA-256, with its entry for the manifest.
#[derive(Debug)]
pub struct NewFile {
    /// The entry.
    pub entry: FileEntry,
    /// The content.
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
    /// The same release with what is known of products that are the same, under the id that follows.
    ///
    /// # Errors
    /// Only when a number cannot be written as JSON.
    pub fn with_matches(mut self, matches: MatchesEntry) -> Result<Self, serde_json::Error> {
        self.matches = Some(matches);
        self.id = self.content_id()?;
        Ok(self)
    }

    /// The same with the products that went last, which the id follows from too.
    ///
    /// # Errors
    /// Only when a number cannot be written as JSON.
    pub fn with_gone(mut self, gone: FileEntry) -> Result<Self, serde_json::Error> {
        self.gone = Some(gone);
        self.id = self.content_id()?;
        Ok(self)
    }

    /// The same with brands that are held, which the id follows from too.
    ///
    /// # Errors
    /// Only when a number cannot be written as JSON.
    pub fn with_held(mut self, held: Vec<HeldBrand>) -> Result<Self, serde_json::Error> {
        self.held = held;
        self.id = self.content_id()?;
        Ok(self)
    }

    /// Every file of every part and of every brand, and those of the whole release; one content may occur more than once.
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

    /// The id that follows from the content: SHA-256 of the canonical JSON of everything but `id`, `built_at` and `lake`.
    ///
    /// # Errors
    /// Only when a number cannot be written as JSON.
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
