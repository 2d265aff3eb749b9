use std::collections::BTreeMap;

use data_index::digest;
use data_index::{BrandEntry, BrandFacts, CategoryCount, CurrencyCount, Embedding, SCHEMA_VERSION};
use data_model::{CategoryId, CurrencyCode, Kind, PriceSummary, Product};

/// Totals of a store's products, collected while its parts are built.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreSummary {
    pub(crate) facts: BrandFacts,
    pub(crate) product_count: u64,
    variant_count: u64,
    in_stock_count: u64,
    on_sale_count: u64,
    review_count: u64,
    categories: BTreeMap<CategoryId, u64>,
    currencies: BTreeMap<CurrencyCode, u64>,
    prices: Option<PriceSpan>,
    stars: f64,
    rating_count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct PriceSpan {
    min_minor: i64,
    max_minor: i64,
}

impl StoreSummary {
    pub(crate) fn new(facts: BrandFacts) -> Self {
        Self {
            facts,
            product_count: 0,
            variant_count: 0,
            in_stock_count: 0,
            on_sale_count: 0,
            review_count: 0,
            categories: BTreeMap::new(),
            currencies: BTreeMap::new(),
            prices: None,
            stars: 0.0,
            rating_count: 0,
        }
    }

    pub(crate) fn add(&mut self, product: &Product, prices: &PriceSummary) {
        self.product_count += 1;
        self.variant_count += product.variants.len() as u64;
        *self.currencies.entry(product.currency).or_default() += 1;
        if product.kind() != Kind::Goods {
            return;
        }
        self.in_stock_count += u64::from(prices.in_stock);
        self.on_sale_count += u64::from(prices.compare_at_minor.is_some());
        self.review_count += product.reviews.len() as u64;
        if let Some(category) = product.category {
            *self.categories.entry(category).or_default() += 1;
        }
        // A price of 0 means that the price is unknown.
        if product.currency == self.facts.brand.currency && prices.price_min_minor > 0 {
            let span = PriceSpan {
                min_minor: prices.price_min_minor,
                max_minor: prices.price_max_minor,
            };
            self.prices = widest(self.prices, Some(span));
        }
        if let Some(rating) = product.rating.filter(|rating| rating.average.is_finite()) {
            self.stars += f64::from(rating.average) * f64::from(rating.count);
            self.rating_count += u64::from(rating.count);
        }
    }

    /// Adds the totals of the same store from another part.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.product_count += other.product_count;
        self.variant_count += other.variant_count;
        self.in_stock_count += other.in_stock_count;
        self.on_sale_count += other.on_sale_count;
        self.review_count += other.review_count;
        for (category, products) in &other.categories {
            *self.categories.entry(*category).or_default() += products;
        }
        for (currency, products) in &other.currencies {
            *self.currencies.entry(*currency).or_default() += products;
        }
        self.prices = widest(self.prices, other.prices);
        self.stars += other.stars;
        self.rating_count += other.rating_count;
    }

    pub(crate) fn into_entry(self) -> BrandEntry {
        let rating = (self.rating_count > 0).then(|| (self.stars / self.rating_count as f64) as f32);
        let categories = self.categories.into_iter();
        let mut currencies: Vec<CurrencyCount> = self
            .currencies
            .into_iter()
            .map(|(currency, products)| CurrencyCount { currency, products })
            .collect();
        currencies.sort_unstable_by_key(|count| count.currency.as_str());
        BrandEntry {
            facts: self.facts,
            product_count: self.product_count,
            variant_count: self.variant_count,
            in_stock_count: self.in_stock_count,
            on_sale_count: self.on_sale_count,
            review_count: self.review_count,
            categories: categories
                .map(|(category, products)| CategoryCount { category, products })
                .collect(),
            currencies,
            price_min_minor: self.prices.map(|prices| prices.min_minor),
            price_max_minor: self.prices.map(|prices| prices.max_minor),
            rating,
            rating_count: self.rating_count,
        }
    }
}

fn widest(one: Option<PriceSpan>, other: Option<PriceSpan>) -> Option<PriceSpan> {
    match (one, other) {
        (Some(one), Some(other)) => Some(PriceSpan {
            min_minor: one.min_minor.min(other.min_minor),
            max_minor: one.max_minor.max(other.max_minor),
        }),
        (one, other) => one.or(other),
    }
}

/// Returns a hash of all inputs of a store's rows. The catalogue hash stands for the products.
pub(crate) fn fingerprint(facts: &BrandFacts, embedding: Option<&Embedding>) -> String {
    let Ok(made_from) = serde_json::to_vec(&(
        SCHEMA_VERSION,
        &facts.catalogue_hash,
        // The time counts too, because equal content may have changed in between, which the price history shows.
        facts.refreshed_at,
        &facts.brand.name,
        facts.brand.currency,
        embedding,
    )) else {
        // Numbers and texts always serialize. An empty fingerprint equals no other, and would only cost another
        // indexing.
        return String::new();
    };
    hex::encode(digest::prefix::<12>(&made_from))
}
