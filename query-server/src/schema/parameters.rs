// These types only document parameters. The routes read parameters one by one, so that an error answer can list all
// faults.
use data_model::Kinds;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

/// Builds the schema of an enum whose default is the first word. `about` is the description, because the macro drops
/// the doc comment of a field with its own schema.
pub(super) fn one_of(words: &[&str], about: &str) -> Schema {
    let text = ObjectBuilder::new()
        .description(Some(about))
        .schema_type(Type::String)
        .enum_values(Some(words.iter().copied()))
        .default(words.first().map(|word| (*word).into()));
    Schema::Object(text.build())
}

pub(super) fn kinds() -> Schema {
    let names = Kinds::NAMED.map(|(name, _)| name);
    let name = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
    let about = "Only products of these kinds. Repeat the parameter, or separate kinds by commas. Default: goods only.";
    Schema::Array(ArrayBuilder::new().description(Some(about)).items(name).build())
}

fn modes() -> Schema {
    one_of(
        &["hybrid", "semantic", "lexical"],
        "`hybrid` searches by words and meaning. `semantic` searches by meaning only. `lexical` searches only the \
         words as typed.",
    )
}

fn folds() -> Schema {
    one_of(
        &["none", "color"],
        "`color`: products of one brand whose titles differ only by a colour become one card, which lists all of them \
         in `swatches`.",
    )
}

fn sorts() -> Schema {
    one_of(
        &["relevance", "price_asc", "price_desc", "rating", "newest"],
        "The order of the products.",
    )
}

/// Product in the URL path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ProductPath {
    /// Product id: `sha:` and 40 hex digits, or a UUID.
    #[param(pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")]
    pub ident: String,
}

/// Parameters of `GET /v1/search`, besides [`FilterParameters`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchParameters {
    /// Search text, at most 512 characters.
    #[param(default = "", max_length = 512, required = false)]
    pub q: Option<String>,
    /// Only products of the brand with this slug. An unknown brand has no products.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
    /// `hybrid` (words and meaning), `semantic` (only meaning) or `lexical` (only words). `lexical` searches for the
    /// words as typed, in one word or in two. The mode `lexical` corrects no spelling and completes no words.
    #[param(required = false, schema_with = modes)]
    pub mode: Option<String>,
    /// Maximum number of cards.
    #[param(default = 20, minimum = 1, maximum = 40, required = false)]
    pub limit: Option<i64>,
    /// Maximum number of cards of one brand; unlimited by default.
    #[param(minimum = 1, maximum = 40, required = false)]
    pub per_brand_max: Option<i64>,
    /// Product (`sha:` and 40 hex digits, or a UUID) to which results must be similar. The product itself is not a
    /// result. With `q`, text and similarity have equal weight; without `q`, only similarity counts.
    #[param(
        required = false,
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$"
    )]
    pub similar_to: Option<String>,
    /// `true` adds `provenance.facets` and `provenance.price`: the number of products for each facet value, and their
    /// prices. Not available with `mode=semantic`, where similarity is gradual and there is no set of matches to count.
    #[param(required = false)]
    pub facet_counts: Option<bool>,
    /// `false` searches only for the words of `q`. By default, `mode=hybrid` interprets prices, unwanted things, gifts,
    /// occasions, needs and quoted phrases in the query.
    #[param(default = true, required = false)]
    pub understand: Option<bool>,
    /// `true` adds `provenance.explain`: the score components of each card.
    #[param(required = false)]
    pub explain: Option<bool>,
}

/// Filters and sort order of every list of products.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FilterParameters {
    /// Lowest price, in minor units of `currency`.
    #[param(minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64, required = false)]
    pub price_min: Option<i64>,
    /// Highest price, in minor units of `currency`; not below `price_min`.
    #[param(minimum = -9_007_199_254_740_991_i64, maximum = 9_007_199_254_740_991_i64, required = false)]
    pub price_max: Option<i64>,
    /// `true` keeps only products with an available variant.
    #[param(required = false)]
    pub in_stock: Option<bool>,
    /// `true` keeps only products that are marked down.
    #[param(required = false)]
    pub on_sale: Option<bool>,
    /// JSON object that maps facet names (`category`, `brand`, `color`, …) to a value or a list of alternative values.
    /// Several names are combined with AND. Numbers are compared by value (`41.0` equals `41`). An empty object or
    /// string applies no filter.
    #[param(
        required = false,
        max_length = 4096,
        example = "{\"color\":[\"black\",\"navy\"],\"size\":\"M\"}"
    )]
    pub facets: Option<String>,
    /// Only products of these kinds, as repeated parameters or separated by commas; by default only goods.
    #[param(required = false, schema_with = kinds)]
    pub kind: Vec<String>,
    /// Sort order: `relevance`, `price_asc`, `price_desc`, `rating` or `newest`.
    #[param(required = false, schema_with = sorts)]
    pub sort: Option<String>,
    /// Currency code (ISO 4217) of price filters, price sorts and counted prices; lowercase is accepted. By default the
    /// only currency of the searched or browsed products (or of the brands in the facet `brand`), otherwise the
    /// market's currency.
    #[param(required = false, pattern = "^([A-Za-z]{3})?$")]
    pub currency: Option<String>,
    /// `color` combines products of one brand whose titles differ only by a colour into one card. The card shows the
    /// first product in sort order, and all products as `swatches`.
    #[param(required = false, schema_with = folds)]
    pub fold: Option<String>,
    /// Indian pincode. Adds the known delivery facts to every card as `delivery`. Unknown facts are null.
    #[param(required = false, pattern = "^([1-9][0-9]{5})?$", example = "560001")]
    pub pincode: Option<String>,
    /// Only products that are known to reach `pincode` by this day in the market's time zone. Requires `pincode`.
    /// Products with unknown delivery time are excluded.
    #[param(
        required = false,
        pattern = "^([0-9]{4}-[0-9]{2}-[0-9]{2})?$",
        example = "2026-11-24"
    )]
    pub deliver_by: Option<String>,
    /// Maximum number of values of each facet.
    #[param(default = 50, minimum = 1, maximum = 500, required = false)]
    pub facet_values_max: Option<i64>,
    /// Only facet values that start with this text. For categories and brands, names count too. Facets without such a
    /// value are omitted.
    #[param(required = false, max_length = 100)]
    pub facet_query: Option<String>,
}

/// Parameters of `GET /v1/browse`, besides [`ListParameters`] and [`FilterParameters`]: a brand, a category, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BrandParameter {
    /// Only products of the brand with this slug.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
}

/// Category and page of a list of products.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParameters {
    /// Only products in this category or its subcategories, by slug or id.
    #[param(required = false, max_length = 200)]
    pub category: Option<String>,
    /// Maximum number of products.
    #[param(default = 24, minimum = 1, maximum = 60, required = false)]
    pub limit: Option<i64>,
    /// `data.next_cursor` of the previous page.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// Parameters of `GET /v1/products/{ident}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IncludeParameters {
    /// Comma-separated list of `variants`, `media`, `offers`, `attributes`, `reviews`, `discounts`; by default all of
    /// them.
    #[param(
        required = false,
        max_length = 200,
        pattern = "^ *((variants|media|offers|attributes|reviews|discounts) *(, *|$))*$",
        example = "variants,offers"
    )]
    pub include: Option<String>,
    /// Indian pincode. Adds the known delivery facts as `delivery`. Unknown facts are null.
    #[param(required = false, pattern = "^([1-9][0-9]{5})?$", example = "560001")]
    pub pincode: Option<String>,
}

/// Parameters of `GET /v1/products/{ident}/reviews`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReviewsParameters {
    /// Maximum number of reviews.
    #[param(default = 20, minimum = 1, maximum = 100, required = false)]
    pub limit: Option<i64>,
    /// The number of reviews to skip.
    #[param(default = 0, minimum = 0, required = false)]
    pub offset: Option<i64>,
    /// `provenance.page.next_cursor` of the previous page; takes precedence over `offset`.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// Parameters of `GET /v1/brands`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BrandsParameters {
    /// Text to find in name, slug and domain.
    #[param(required = false, max_length = 200)]
    pub q: Option<String>,
    /// Only brands with a product in this category or its subcategories, by slug or id.
    #[param(required = false, max_length = 200)]
    pub category: Option<String>,
    /// Maximum number of brands.
    #[param(default = 50, minimum = 1, maximum = 100, required = false)]
    pub limit: Option<i64>,
    /// `provenance.page.next_cursor` of the previous page.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}
