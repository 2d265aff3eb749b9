use std::sync::{Arc, LazyLock};

use arrow::datatypes::{Schema, SchemaRef};

use crate::schema;

data_model::named! {
    /// A table of the lake. A commit batch commits to the tables in this order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TableName {
        /// One row per observed change of a variant's price or availability; append-only.
        PriceHistory = "price_history",
        /// One row per observed change of a product's naming, or of its presence; append-only.
        ProductHistory = "product_history",
        /// Latest known offer of each variant that was observed live since the crawl that filled `variants`, one row
        /// per variant.
        LivePrices = "live_prices",
        /// Variants on sale as of the last crawl, one row per variant. Live observations do not change this table.
        Variants = "variants",
        /// One row per product.
        Products = "products",
        /// One row per review.
        Reviews = "reviews",
        /// One row per review read from a store's review app.
        WidgetReviews = "widget_reviews",
        /// Rating summaries published by review apps, one row per product and app.
        WidgetRatings = "widget_ratings",
        /// One row per store whose shipping terms are known.
        ShippingPolicies = "shipping_policies",
        /// Delivery days by pincode, where they were sampled.
        DeliveryMatrix = "delivery_matrix",
        /// Areas with the same delivery terms, one row per store, zone and confidence.
        DeliveryZones = "delivery_zones",
        /// Stores' responses to delivery queries, one row per response.
        DeliveryProbes = "delivery_probes",
        /// Exchange rates, one row per day and currency pair, imported from a file of the operator.
        ExchangeRates = "exchange_rates",
        /// Every currency with its minor unit; built into the program.
        Currencies = "currencies",
        /// Every pincode with its area, district and state; built into the program.
        Pincodes = "pincodes",
        /// Words that shoppers searched for, one row per day, server and text.
        Searches = "searches",
        /// Records that could not be parsed.
        Quarantine = "quarantine",
        /// One row per commit batch; append-only.
        CrawlRuns = "crawl_runs",
        /// One row per brand.
        Brands = "brands",
    }
}

#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) comment: &'static str,
    /// All columns, starting with the partition column.
    pub(crate) schema: SchemaRef,
    /// Columns of a data file: all except the partition column.
    pub(crate) file_schema: SchemaRef,
    pub(crate) partition: Option<&'static str>,
    pub(crate) append_only: bool,
    /// Columns for which each file's minimum and maximum values are recorded.
    pub(crate) stats: Vec<&'static str>,
}

impl TableName {
    /// Tables with the current state of each store. Commits replace rows store by store.
    pub(crate) const CURRENT: [Self; 12] = [
        Self::LivePrices,
        Self::Variants,
        Self::Products,
        Self::Reviews,
        Self::WidgetReviews,
        Self::WidgetRatings,
        Self::ShippingPolicies,
        Self::DeliveryMatrix,
        Self::DeliveryZones,
        Self::DeliveryProbes,
        Self::Quarantine,
        Self::Brands,
    ];

    /// The tables whose rows a crawl of a store replaces.
    pub const CRAWLED: [Self; 5] = [
        Self::Variants,
        Self::Products,
        Self::Reviews,
        Self::Quarantine,
        Self::Brands,
    ];

    /// Reference tables, which belong to no store and are replaced as a whole. Store rows are joined with them.
    pub const REFERENCE: [Self; 3] = [Self::ExchangeRates, Self::Currencies, Self::Pincodes];

    /// Reference tables whose rows are built into the program.
    pub const FACTS: [Self; 2] = [Self::Currencies, Self::Pincodes];

    /// Tables with stores' responses about delivery. Crawls do not change them.
    pub const DELIVERY: [Self; 3] = [Self::DeliveryMatrix, Self::DeliveryZones, Self::DeliveryProbes];

    /// Tables with data published by review apps. Crawls do not change them, and a change writes only the affected
    /// rows.
    pub const WIDGETS: [Self; 2] = [Self::WidgetReviews, Self::WidgetRatings];

    /// Returns `true` if the table's rows belong to no store, so that no change of a store changes them.
    pub(crate) fn is_of_no_store(self) -> bool {
        Self::REFERENCE.contains(&self) || self == Self::Searches
    }

    /// Returns `true` if the table's files are merged by size, because its rows arrive in small files.
    pub(crate) fn is_tiered(self) -> bool {
        self.spec().append_only || self == Self::WidgetReviews
    }

    pub(crate) fn spec(self) -> &'static Spec {
        static SPECS: LazyLock<[Spec; 19]> = LazyLock::new(|| TableName::ALL.map(spec));
        &SPECS[self as usize]
    }
}

/// Tab-separated lines of table, partition column, kind of change (`append` or `replace`), columns with statistics, and
/// comment. `product_history` is partitioned by event, because every new product needs a lookup of whether it was absent
/// earlier.
const TABLES: &str = include_str!("tables.tsv");

fn spec(table: TableName) -> Spec {
    let mut lines = TABLES.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let line = lines.find(|cells| cells.first() == Some(&table.as_str()));
    let [_, partition, change, stats, comment] = line.and_then(|cells| cells.try_into().ok()).unwrap_or_default();
    let schema = schema::of(table.as_str());
    let partition = Some(partition).filter(|column| !column.is_empty());
    let first = usize::from(partition.is_some());
    Spec {
        comment,
        file_schema: Arc::new(Schema::new(schema.fields()[first..].to_vec())),
        schema,
        partition,
        append_only: change == "append",
        stats: stats.split(' ').collect(),
    }
}
