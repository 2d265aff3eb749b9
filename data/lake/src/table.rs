use std::sync::{Arc, LazyLock};

use arrow::datatypes::{Schema, SchemaRef};

use crate::schema;

/// A table of the lake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableName {
    /// One row per observed change of a variant's price or availability; append-only.
    PriceHistory,
    /// One row per observed change of a product's naming, or of its presence; append-only.
    ProductHistory,
    /// Latest known offer of each variant that was observed live since the crawl that filled `variants`, one row per
    /// variant.
    LivePrices,
    /// Variants on sale as of the last crawl, one row per variant. Live observations do not change this table.
    Variants,
    /// One row per product.
    Products,
    /// One row per review.
    Reviews,
    /// One row per review read from a store's review app.
    WidgetReviews,
    /// Rating summaries published by review apps, one row per product and app.
    WidgetRatings,
    /// One row per store whose shipping terms are known.
    ShippingPolicies,
    /// Delivery days by pincode, where they were sampled.
    DeliveryMatrix,
    /// Areas with the same delivery terms, one row per store, zone and confidence.
    DeliveryZones,
    /// Stores' responses to delivery queries, one row per response.
    DeliveryProbes,
    /// Exchange rates, one row per day and currency pair, imported from a file of the operator.
    ExchangeRates,
    /// Every currency with its minor unit; built into the program.
    Currencies,
    /// Every pincode with its area, district and state; built into the program.
    Pincodes,
    /// Words that shoppers searched for, one row per day, server and text.
    Searches,
    /// Records that could not be parsed.
    Quarantine,
    /// One row per commit batch; append-only.
    CrawlRuns,
    /// One row per brand.
    Brands,
}

/// The layout of a table.
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
    pub(crate) stats: &'static [&'static str],
}

impl TableName {
    /// Every table, in the order in which a commit batch commits to them.
    pub const ALL: [Self; 19] = [
        Self::PriceHistory,
        Self::ProductHistory,
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
        Self::ExchangeRates,
        Self::Currencies,
        Self::Pincodes,
        Self::Searches,
        Self::Quarantine,
        Self::CrawlRuns,
        Self::Brands,
    ];

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

    /// Returns the table's name in SQL, in paths and in version maps.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PriceHistory => "price_history",
            Self::ProductHistory => "product_history",
            Self::LivePrices => "live_prices",
            Self::Variants => "variants",
            Self::Products => "products",
            Self::Reviews => "reviews",
            Self::WidgetReviews => "widget_reviews",
            Self::WidgetRatings => "widget_ratings",
            Self::ShippingPolicies => "shipping_policies",
            Self::DeliveryMatrix => "delivery_matrix",
            Self::DeliveryZones => "delivery_zones",
            Self::DeliveryProbes => "delivery_probes",
            Self::ExchangeRates => "exchange_rates",
            Self::Currencies => "currencies",
            Self::Pincodes => "pincodes",
            Self::Searches => "searches",
            Self::Quarantine => "quarantine",
            Self::CrawlRuns => "crawl_runs",
            Self::Brands => "brands",
        }
    }

    pub(crate) fn spec(self) -> &'static Spec {
        static SPECS: LazyLock<[Spec; 19]> = LazyLock::new(|| TableName::ALL.map(spec));
        &SPECS[self as usize]
    }
}

impl std::fmt::Display for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

fn spec(table: TableName) -> Spec {
    let schema = match table {
        TableName::PriceHistory => schema::price_history(),
        TableName::ProductHistory => schema::product_history(),
        TableName::LivePrices => schema::live_prices(),
        TableName::Variants => schema::variants(),
        TableName::Products => schema::products(),
        TableName::Reviews => schema::reviews(),
        TableName::WidgetReviews => schema::widget_reviews(),
        TableName::WidgetRatings => schema::widget_ratings(),
        TableName::ShippingPolicies => schema::shipping_policies(),
        TableName::DeliveryMatrix => schema::delivery_matrix(),
        TableName::DeliveryZones => schema::delivery_zones(),
        TableName::DeliveryProbes => schema::delivery_probes(),
        TableName::ExchangeRates => schema::exchange_rates(),
        TableName::Currencies => schema::currencies(),
        TableName::Pincodes => schema::pincodes(),
        TableName::Searches => schema::searches(),
        TableName::Quarantine => schema::quarantine(),
        TableName::CrawlRuns => schema::crawl_runs(),
        TableName::Brands => schema::brands(),
    };
    let partition = match table {
        TableName::PriceHistory => Some("month"),
        // Partitioned by event, because every new product needs a lookup of whether it was absent earlier.
        TableName::ProductHistory => Some("event"),
        TableName::Searches => Some("day"),
        TableName::CrawlRuns | TableName::ExchangeRates | TableName::Currencies | TableName::Pincodes => None,
        _ => Some("bucket"),
    };
    let first = usize::from(partition.is_some());
    let file_schema = Arc::new(Schema::new(schema.fields()[first..].to_vec()));
    let append_only = matches!(
        table,
        TableName::PriceHistory | TableName::ProductHistory | TableName::CrawlRuns
    );
    Spec {
        comment: comment(table),
        schema,
        file_schema,
        partition,
        append_only,
        stats: stats(table),
    }
}

const fn comment(table: TableName) -> &'static str {
    match table {
        TableName::PriceHistory => {
            "Observed changes of a variant's price, list price or availability, by crawls and live queries, one row each; append-only"
        }
        TableName::ProductHistory => {
            "Observed changes of a product's title, handle, vendor, category or presence, one row each; append-only"
        }
        TableName::LivePrices => "Newest prices from live queries since the last crawl of a store, one row per variant",
        TableName::Variants => "Variants on sale at the last crawl, one row each",
        TableName::Products => "Products on sale at the last crawl, one row each",
        TableName::Reviews => "Recent reviews that stores publish on their product pages, one row each",
        TableName::WidgetReviews => "Reviews that a store's review app publishes, one row each",
        TableName::WidgetRatings => {
            "Average and number of all ratings that a store's review app states, one row per product and app"
        }
        TableName::ShippingPolicies => "Shipping terms, one row per store that states them",
        TableName::DeliveryMatrix => "Delivery days by store and pincode, for sampled pincodes",
        TableName::DeliveryZones => {
            "Areas with the same delivery terms at a store, derived from its answers, one row per zone and confidence"
        }
        TableName::DeliveryProbes => "Answers of stores to queries for the delivery of a cart, one row each",
        TableName::ExchangeRates => "Exchange rates that the operator imported, one row per day and pair of currencies",
        TableName::Currencies => "Currencies of ISO 4217 with their minor units, one row each",
        TableName::Pincodes => "Pincodes of India with area, district and state, one row each",
        TableName::Searches => {
            "Words that shoppers searched for on days that are over, one row per day, server and text"
        }
        TableName::Quarantine => {
            "Records that could not be parsed, from the latest crawl of each store and from its review app"
        }
        TableName::CrawlRuns => "Commit batches (ticks) with what a run changed in the lake, one row each; append-only",
        TableName::Brands => "Brands as their stores last described themselves, one row each",
    }
}

const fn stats(table: TableName) -> &'static [&'static str] {
    match table {
        TableName::PriceHistory => &[
            "store",
            "brand_slug",
            "platform_product_id",
            "variant_id",
            "observed_at",
            "tick",
        ],
        TableName::ProductHistory => &["store", "brand_slug", "platform_product_id", "observed_at", "tick"],
        TableName::LivePrices => &[
            "store",
            "brand_slug",
            "platform_product_id",
            "variant_id",
            "observed_at",
        ],
        TableName::Variants => &[
            "store",
            "brand_slug",
            "platform_product_id",
            "variant_id",
            "price_minor",
        ],
        TableName::Products => &[
            "store",
            "brand_slug",
            "platform_product_id",
            "category_id",
            "price_min_minor",
            "updated_at",
        ],
        TableName::Reviews => &["store", "brand_slug", "platform_product_id", "created_at"],
        TableName::WidgetReviews => &[
            "store",
            "brand_slug",
            "platform_product_id",
            "created_at",
            "observed_at",
        ],
        TableName::WidgetRatings => &["store", "brand_slug", "platform_product_id", "observed_at"],
        TableName::ShippingPolicies => &["store", "brand_slug"],
        TableName::DeliveryMatrix | TableName::DeliveryProbes => &["store", "brand_slug", "pincode"],
        TableName::DeliveryZones => &["store", "brand_slug", "zone"],
        TableName::ExchangeRates => &["date", "base_currency", "quote_currency"],
        TableName::Currencies => &["currency"],
        TableName::Pincodes => &["pincode"],
        TableName::Searches => &["words"],
        TableName::Quarantine => &["store"],
        TableName::CrawlRuns => &["tick", "run_id", "committed_at"],
        TableName::Brands => &["store", "slug", "refreshed_at"],
    }
}
