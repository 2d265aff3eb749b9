use arrow::array::{Int32Builder, Int64Builder, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{Brand, BrandRefresh, BrandSlug, CurrencyCode, RunId, StoreHost, Timestamp};

use super::build::table_rows;
use super::catalogue::{StoreCounts, StoreRows};
use super::count;
use super::record::{ReadRecord, read_record};
use crate::{LakeError, TableName};

/// A brand with a summary of its catalogue in the lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandRow {
    /// Brand, as its store described itself when its content last changed.
    pub brand: Brand,
    /// Hash of everything that the lake stores about the brand: see [`crate::HashedRefresh::hash`].
    pub catalogue_hash: String,
    /// End of the crawl that brought the current content. A crawl that finds no change writes nothing.
    pub refreshed_at: Timestamp,
    /// Run of the crawl that brought the current content.
    pub refresh_run: RunId,
    /// Number of products.
    pub product_count: u64,
    /// Number of variants.
    pub variant_count: u64,
    /// Number of reviews of the brand's products.
    pub review_count: u64,
    /// Number of products with an available variant.
    pub in_stock_count: u64,
    /// Number of products whose lowest price is marked down.
    pub on_sale_count: u64,
    /// Number of quarantined records of the brand.
    pub quarantined_count: u64,
}

/// The fields of a store's row in `brands` that the committer needs.
#[derive(Debug, Clone)]
pub(crate) struct BrandState {
    /// Content hash, which is empty if unknown, because no content has an empty hash.
    pub(crate) hash: String,
    pub(crate) slug: String,
    /// End of the crawl that brought the stored content.
    pub(crate) refreshed_at: Option<Timestamp>,
    /// Run of the crawl that brought the stored content.
    pub(crate) run: Option<RunId>,
}

impl BrandState {
    /// Returns the end of the crawl that found the stored content, if known. A time too far in the future comes from a
    /// wrong clock and is ignored.
    pub(crate) fn read_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.refreshed_at
            .filter(|refreshed_at| *refreshed_at <= now.latest_believed(0) && !self.hash.is_empty())
    }
}

table_rows! {
    BrandRows of Brands {
        bucket: Int32Builder,
        texts: [StringBuilder; 6],
        maybe_texts: [StringBuilder; 3],
        catalogue_hash: StringBuilder,
        counts: [Int64Builder; 6],
        refreshed_at: Vec<Option<Timestamp>>,
        run_id: StringBuilder,
        crawl_country: StringBuilder,
        brand_slug: StringBuilder,
    }
}

impl BrandRows {
    pub(crate) fn push(&mut self, bucket: i32, refresh: &BrandRefresh<StoreRows>, hash: &str) {
        let Brand {
            store,
            slug,
            name,
            domain,
            base_url,
            currency,
            country,
            crawl_country,
            logo,
            description,
        } = &refresh.brand;
        self.bucket.append_value(bucket);
        let texts = [store.as_str(), slug.as_str(), name, domain, base_url, currency.as_str()];
        self.texts
            .iter_mut()
            .zip(texts)
            .for_each(|(column, text)| column.append_value(text));
        let maybe = [country, logo, description];
        self.maybe_texts
            .iter_mut()
            .zip(maybe)
            .for_each(|(column, text)| column.append_option(text.as_deref()));
        self.catalogue_hash.append_value(hash);
        let StoreCounts {
            variants,
            reviews,
            in_stock,
            on_sale,
        } = refresh.products.counts;
        let products = refresh.products.ids.len();
        let counts = [
            products,
            variants,
            reviews,
            in_stock,
            on_sale,
            refresh.quarantined.len(),
        ];
        self.counts
            .iter_mut()
            .zip(counts)
            .for_each(|(column, number)| column.append_value(count(number)));
        self.refreshed_at.push(Some(refresh.observed_at));
        self.run_id.append_value(refresh.run.as_str());
        self.crawl_country.append_option(crawl_country.as_deref());
        self.brand_slug.append_value(slug.as_str());
    }
}

read_record! {
    Brand {
        store: StoreHost,
        slug: BrandSlug,
        name: String,
        domain: String,
        base_url: String,
        currency: CurrencyCode,
        country: Option<String>,
        crawl_country: Option<String>,
        logo: Option<String>,
        description: Option<String>,
    }
}

read_record! {
    BrandRow {
        catalogue_hash: String,
        refreshed_at: Timestamp,
        refresh_run as run_id: RunId,
        product_count: u64,
        variant_count: u64,
        review_count: u64,
        in_stock_count: u64,
        on_sale_count: u64,
        quarantined_count: u64,
    } nested {
        brand: Brand,
    }
}

pub(crate) fn brand_rows(batch: &RecordBatch) -> Result<Vec<BrandRow>, LakeError> {
    BrandRow::read_all(TableName::Brands, batch)
}
