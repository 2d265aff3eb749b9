use arrow::array::{Int32Builder, Int64Array, Int64Builder, StringArray, StringBuilder};
use arrow::record_batch::RecordBatch;
use data_model::{Brand, BrandRefresh, RunId, Timestamp};

use super::build::table_rows;
use super::catalogue::{StoreCounts, StoreRows};
use super::columns::{Columns, some_int, some_text};
use super::count;
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

pub(crate) fn brand_rows(batch: &RecordBatch) -> Result<Vec<BrandRow>, LakeError> {
    let columns = Columns::new(TableName::Brands, batch);
    let text = |name: &'static str| columns.text(name);
    let (store, slug, currency): (&StringArray, _, _) = (text("store")?, text("slug")?, text("currency")?);
    let (name, domain, base_url) = (text("name")?, text("domain")?, text("base_url")?);
    let (country, logo, description) = (text("country")?, text("logo")?, text("description")?);
    let crawl_country = text("crawl_country")?;
    let (catalogue_hash, run_id) = (text("catalogue_hash")?, text("run_id")?);
    let names = [
        "product_count",
        "variant_count",
        "review_count",
        "in_stock_count",
        "on_sale_count",
        "quarantined_count",
    ];
    let counts: Vec<&Int64Array> = names.iter().map(|name| columns.int(name)).collect::<Result<_, _>>()?;
    let refreshed_at = columns.moment("refreshed_at")?;
    let brand = |row| {
        let count = |index: usize| some_int(counts[index], row).unwrap_or(0);
        Ok(BrandRow {
            brand: Brand {
                store: columns.parse("store", store.value(row))?,
                slug: columns.parse("slug", slug.value(row))?,
                name: name.value(row).to_owned(),
                domain: domain.value(row).to_owned(),
                base_url: base_url.value(row).to_owned(),
                currency: columns.parse("currency", currency.value(row))?,
                country: some_text(country, row),
                crawl_country: some_text(crawl_country, row),
                logo: some_text(logo, row),
                description: some_text(description, row),
            },
            catalogue_hash: catalogue_hash.value(row).to_owned(),
            refreshed_at: Timestamp::from_micros(refreshed_at.value(row)),
            refresh_run: columns.parse("run_id", run_id.value(row))?,
            product_count: count(0),
            variant_count: count(1),
            review_count: count(2),
            in_stock_count: count(3),
            on_sale_count: count(4),
            quarantined_count: count(5),
        })
    };
    (0..batch.num_rows()).map(brand).collect()
}
