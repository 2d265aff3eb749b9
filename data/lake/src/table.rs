use std::sync::{Arc, LazyLock};

use arrow::datatypes::{Schema, SchemaRef};

use crate::schema;

/// A table of the lake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableName {
    /// One row per observed change of a variant's price or availability; append-only.
    PriceHistory,
    /// One row per observed change of what a product is called, or of its presence; append-only.
    ProductHistory,
    /// The newest word on variants that were observed live since the crawl that `variants` is of, one row each.
    LivePrices,
    /// Goods on sale as the last crawl saw them, one row per variant. Live observations change nothing in it.
    Variants,
    /// One row per product.
    Products,
    /// One row per review.
    Reviews,
    /// One row per review of a store's review app.
    WidgetReviews,
    /// The ratings of a product as review apps sum them up, one row per product and app.
    WidgetRatings,
    /// One row per store whose shipping terms are known.
    ShippingPolicies,
    /// Delivery days by pincode, where sampled.
    DeliveryMatrix,
    /// Areas to which stores deliver alike, one row per store, zone and confidence.
    DeliveryZones,
    /// The answers of stores to questions about delivery, one row per answer.
    DeliveryProbes,
    /// The price of a unit of one currency in another, one row per day and pair; from a file of the operator's.
    ExchangeRates,
    /// Every currency with its minor unit; a fact of the program's.
    Currencies,
    /// Every pincode with its area, district and state; a fact of the program's.
    Pincodes,
    /// Records that could not be understood.
    Quarantine,
    /// One row per tick; append-only.
    CrawlRuns,
    /// One row per brand.
    Brands,
}

/// The layout of a table.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) comment: &'static str,
    /// All columns, the partition column first.
    pub(crate) schema: SchemaRef,
    /// The columns of a data file: all but the partition column.
    pub(crate) file_schema: SchemaRef,
    pub(crate) partition: Option<&'static str>,
    pub(crate) append_only: bool,
    /// Columns whose smallest and largest value each file states.
    pub(crate) stats: &'static [&'static str],
}

impl TableName {
    /// Every table, in the order in which a tick commits to them.
    pub const ALL: [Self; 18] = [
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
        Self::Quarantine,
        Self::CrawlRuns,
        Self::Brands,
    ];

    /// The tables that hold the present state of each store, replaced store by store.
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

    /// The tables that are of no store, each replaced as a whole: what rows of stores are joined with.
    pub const REFERENCE: [Self; 3] = [Self::ExchangeRates, Self::Currencies, Self::Pincodes];

    /// Of these the tables whose rows the program itself brings.
    pub const FACTS: [Self; 2] = [Self::Currencies, Self::Pincodes];

    /// The tables that hold what stores answered about delivery. No crawl changes them.
    pub const DELIVERY: [Self; 3] = [Self::DeliveryMatrix, Self::DeliveryZones, Self::DeliveryProbes];

    /// The tables that hold what review apps publish. No crawl changes them, and a change writes its own rows alone.
    pub const WIDGETS: [Self; 2] = [Self::WidgetReviews, Self::WidgetRatings];

    /// `true` where its files are merged by size, since rows come in small files.
    pub(crate) fn is_tiered(self) -> bool {
        self.spec().append_only || self == Self::WidgetReviews
    }

    /// The table's name in SQL, in paths and in version maps.
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
            Self::Quarantine => "quarantine",
            Self::CrawlRuns => "crawl_runs",
            Self::Brands => "brands",
        }
    }

    pub(crate) fn spec(self) -> &'static Spec {
        static SPECS: LazyLock<[Spec; 18]> = LazyLock::new(|| TableName::ALL.map(spec));
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
        TableName::Quarantine => schema::quarantine(),
        TableName::CrawlRuns => schema::crawl_runs(),
        TableName::Brands => schema::brands(),
    };
    let partition = match table {
        TableName::PriceHistory => Some("month"),
        // A lookup of earlier absence is made with every product that is new.
        TableName::ProductHistory => Some("event"),
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
            "One row per observed change of a variant's price, list price or availability, by crawls and by stores asked live; append-only"
        }
        TableName::ProductHistory => {
            "One row per observed change of a product's title, handle, vendor, category or presence; append-only"
        }
        TableName::LivePrices => {
            "Newest price of variants that stores were asked about since the crawl that variants is of: one row per variant"
        }
        TableName::Variants => "What can be bought, as the last crawl saw it: one row per variant",
        TableName::Products => "One row per product on sale, as the last crawl saw it",
        TableName::Reviews => "Recent reviews that stores publish on their product pages, one row each",
        TableName::WidgetReviews => "Reviews that a store's review app publishes, one row each",
        TableName::WidgetRatings => {
            "What a store's review app says of all ratings of a product: one row per product and app"
        }
        TableName::ShippingPolicies => "Shipping terms, one row per store that states them",
        TableName::DeliveryMatrix => "Delivery days by store and pincode, where sampled",
        TableName::DeliveryZones => {
            "Areas to which a store delivers alike, as its answers tell: one row per zone and confidence"
        }
        TableName::DeliveryProbes => {
            "What stores answered when they were asked for delivery of a cart, one row per answer"
        }
        TableName::ExchangeRates => {
            "What a unit of one currency is in another: one row per day and pair, as imported by the operator"
        }
        TableName::Currencies => "Currencies of ISO 4217 with their minor units, one row each",
        TableName::Pincodes => "Pincodes of India with area, district and state, one row each",
        TableName::Quarantine => {
            "Records that could not be understood: of the latest crawl of each store, and of its review app"
        }
        TableName::CrawlRuns => "One row per tick: what a run brought into the lake; append-only",
        TableName::Brands => "One row per brand, as its store presented itself last",
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
        TableName::Quarantine => &["store"],
        TableName::CrawlRuns => &["tick", "run_id", "committed_at"],
        TableName::Brands => &["store", "slug", "refreshed_at"],
    }
}
