// These types document parameters; the routes read them one by one, because every fault of a request is listed.
use data_model::Kinds;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

/// One of these words; the first where none is given. What it is about is told of the parameter in the end: the macro leaves
/// the words of a field out that has a schema of its own.
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
    let about = "Only products of these kinds, given several times or with commas between; goods alone by default.";
    Schema::Array(ArrayBuilder::new().description(Some(about)).items(name).build())
}

fn modes() -> Schema {
    one_of(
        &["hybrid", "semantic", "lexical"],
        "`hybrid` looks for words and meaning, `semantic` for meaning alone, `lexical` for words alone, as they were typed.",
    )
}

fn folds() -> Schema {
    one_of(
        &["none", "color"],
        "`color`: products of one brand whose titles differ by a colour alone are one card, with all of them as its `swatches`.",
    )
}

fn sorts() -> Schema {
    one_of(
        &["relevance", "price_asc", "price_desc", "rating", "newest"],
        "The order of the products.",
    )
}

/// The product that a path names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct ProductPath {
    /// `sha:` and 40 hex digits, or a UUID.
    #[param(pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$")]
    pub ident: String,
}

/// Parameters of `GET /v1/search`, besides [`FilterParameters`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchParameters {
    /// Free text, at most 512 characters.
    #[param(default = "", max_length = 512, required = false)]
    pub q: Option<String>,
    /// Only this brand's products, by its slug. An unknown brand has none.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
    /// `hybrid` (words and meaning), `semantic` (meaning alone) or `lexical` (words alone). `lexical` looks for the words
    /// as they were typed, in one word or in two: none is mended, none stands for the beginning of a longer one.
    #[param(required = false, schema_with = modes)]
    pub mode: Option<String>,
    /// Most cards wanted.
    #[param(default = 20, minimum = 1, maximum = 40, required = false)]
    pub limit: Option<i64>,
    /// Most cards of one brand; by default as many as fit.
    #[param(minimum = 1, maximum = 40, required = false)]
    pub per_brand_max: Option<i64>,
    /// A product (`sha:` and 40 hex digits, or a UUID) that what is found must be like; it is not found itself. With `q`
    /// both count alike, without `q` likeness alone.
    #[param(
        required = false,
        pattern = "^(sha:[0-9a-fA-F]{40}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$"
    )]
    pub similar_to: Option<String>,
    /// `true` adds `provenance.facets` and `provenance.price`: how many products have each facet value, and what they
    /// cost. Not in `mode=semantic`, where nearness is a matter of degree and there is nothing to count.
    #[param(required = false)]
    pub facet_counts: Option<bool>,
    /// `false` looks for the words of `q` alone. By default prices, what is not wanted, gifts, occasions, needs and quoted
    /// phrases are read out of it in `mode=hybrid`.
    #[param(default = true, required = false)]
    pub understand: Option<bool>,
    /// `true` adds `provenance.explain`: what the place of each card is made of.
    #[param(required = false)]
    pub explain: Option<bool>,
}

/// The filters and the order of every list of products.
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
    /// A JSON object of facet names (`category`, `brand`, `color`, …) to a value, or to a list of values of which any will do. Names combine with AND.
    /// A number counts by its value (`41.0` is `41`); an empty object or an empty text filters by nothing.
    #[param(
        required = false,
        max_length = 4096,
        example = "{\"color\":[\"black\",\"navy\"],\"size\":\"M\"}"
    )]
    pub facets: Option<String>,
    /// Only products of these kinds, given several times or with commas between; goods alone by default.
    #[param(required = false, schema_with = kinds)]
    pub kind: Vec<String>,
    /// `relevance`, `price_asc`, `price_desc`, `rating` or `newest`.
    #[param(required = false, schema_with = sorts)]
    pub sort: Option<String>,
    /// ISO 4217: the currency of price filters, price sorts and of prices that are counted; by default the only one of what is
    /// searched or browsed (of the brands that the facet `brand` names), else the market's. Small letters are taken as well.
    #[param(required = false, pattern = "^([A-Za-z]{3})?$")]
    pub currency: Option<String>,
    /// `color`: products of one brand whose titles differ by a colour alone are one card, the first of them in the order that
    /// is asked for, with all of them as its `swatches`.
    #[param(required = false, schema_with = folds)]
    pub fold: Option<String>,
    /// An Indian postal index number: every card has `delivery`, what is known of delivery there. Unknown is null.
    #[param(required = false, pattern = "^([1-9][0-9]{5})?$", example = "560001")]
    pub pincode: Option<String>,
    /// Only products that are known to be delivered to `pincode`, which it needs, by this day in the market's time zone. What is
    /// not known to be there in time is left out.
    #[param(
        required = false,
        pattern = "^([0-9]{4}-[0-9]{2}-[0-9]{2})?$",
        example = "2026-11-24"
    )]
    pub deliver_by: Option<String>,
    /// Most values of each facet.
    #[param(default = 50, minimum = 1, maximum = 500, required = false)]
    pub facet_values_max: Option<i64>,
    /// Only facet values that begin so; of categories and brands also those whose names do. Facets without any are left out.
    #[param(required = false, max_length = 100)]
    pub facet_query: Option<String>,
}

/// Parameters of `GET /v1/browse`, besides [`ListParameters`] and [`FilterParameters`]: a brand, or a category, or both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BrandParameter {
    /// Only this brand's products, by its slug.
    #[param(required = false, max_length = 200)]
    pub brand: Option<String>,
}

/// The page of a list of products.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParameters {
    /// Only products in this category or below it, by slug or id.
    #[param(required = false, max_length = 200)]
    pub category: Option<String>,
    /// Most products wanted.
    #[param(default = 24, minimum = 1, maximum = 60, required = false)]
    pub limit: Option<i64>,
    /// `data.next_cursor` of the page before.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// Parameters of `GET /v1/products/{ident}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IncludeParameters {
    /// A list with commas of `variants`, `media`, `offers`, `attributes`, `reviews`; all five by default.
    #[param(
        required = false,
        max_length = 200,
        pattern = "^ *((variants|media|offers|attributes|reviews|discounts) *(, *|$))*$",
        example = "variants,offers"
    )]
    pub include: Option<String>,
    /// An Indian postal index number: the product has `delivery`, what is known of delivery there. Unknown is null.
    #[param(required = false, pattern = "^([1-9][0-9]{5})?$", example = "560001")]
    pub pincode: Option<String>,
}

/// Parameters of `GET /v1/products/{ident}/reviews`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReviewsParameters {
    /// Most reviews wanted.
    #[param(default = 20, minimum = 1, maximum = 100, required = false)]
    pub limit: Option<i64>,
    /// The number of reviews to skip.
    #[param(default = 0, minimum = 0, required = false)]
    pub offset: Option<i64>,
    /// `provenance.page.next_cursor` of the page before; wins over `offset`.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}

/// Parameters of `GET /v1/brands`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct BrandsParameters {
    /// Looked for in name, slug and domain.
    #[param(required = false, max_length = 200)]
    pub q: Option<String>,
    /// Only brands with a product in this category or below it, by slug or id.
    #[param(required = false, max_length = 200)]
    pub category: Option<String>,
    /// Most brands wanted.
    #[param(default = 50, minimum = 1, maximum = 100, required = false)]
    pub limit: Option<i64>,
    /// `provenance.page.next_cursor` of the page before.
    #[param(required = false, max_length = 200)]
    pub cursor: Option<String>,
}
