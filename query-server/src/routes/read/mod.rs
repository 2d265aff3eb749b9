//! Parameters that several routes read. All faults of a request are reported in one 422 answer.

mod cursor;
mod delivery;
mod facets;
mod filters;

pub(super) use self::cursor::{EXPIRED, FOREIGN, cursor};
pub(super) use self::delivery::pincode;
pub(super) use self::filters::{facet_window, filters, fold, kinds};

use api::{PathParameters, Problem, QueryReader};
use data_model::{BrandSlug, CategoryId, ErrorCode, ProductIdent};
use search::Order;

use crate::operations::{Limit, ParsedName, Text};

/// Maximum length of a brand or category name, in characters.
const NAME_CHARS_MAX: usize = 200;

pub(super) fn limit<const DEFAULT: u16, const MAX: u16>(reader: &mut QueryReader<'_>) -> Limit<DEFAULT, MAX> {
    let limit = reader.optional("limit").integer(1..=Limit::<DEFAULT, MAX>::MAX);
    limit.and_then(Limit::new).unwrap_or_default()
}

pub(super) fn order(reader: &mut QueryReader<'_>) -> Order {
    reader
        .optional("sort")
        .choice(&Order::ALL, Order::as_str)
        .unwrap_or_default()
}

/// Reads the `q` parameter, which is empty if absent.
pub(super) fn text<const CHARS_MAX: usize>(reader: &mut QueryReader<'_>, required: bool) -> Text<CHARS_MAX> {
    let field = if required {
        reader.required("q")
    } else {
        reader.optional("q")
    };
    field.text(CHARS_MAX).and_then(Text::new).unwrap_or_default()
}

/// Reads the `brand` parameter. An empty value counts as absent.
pub(super) fn brand(reader: &mut QueryReader<'_>) -> Option<ParsedName<BrandSlug>> {
    let text = reader.optional("brand").text(NAME_CHARS_MAX)?;
    (!text.is_empty()).then(|| ParsedName::brand(&text))
}

/// Reads the `category` parameter. An empty value counts as absent.
pub(super) fn category(reader: &mut QueryReader<'_>) -> Option<ParsedName<CategoryId>> {
    let text = reader.optional("category").text(NAME_CHARS_MAX)?;
    (!text.is_empty()).then(|| ParsedName::category(&text))
}

pub(super) fn brand_of_path(path: &PathParameters) -> ParsedName<BrandSlug> {
    path.text("slug").map_or(ParsedName::Nothing, ParsedName::brand)
}

/// Reads the product from the URL path. All other parameters must have been read before.
///
/// # Errors
/// Returns a 422 with every fault of path and query.
pub(super) fn product(reader: QueryReader<'_>, mut path: PathParameters) -> Result<ProductIdent, Problem> {
    let product = path.product_ident("ident");
    let product = reader.finish(path, product)?;
    product.ok_or_else(|| Problem::new(ErrorCode::Internal))
}
