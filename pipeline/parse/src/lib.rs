//! Parses responses of stores: catalogue pages, self-descriptions, ratings on product pages, and codes, text and links
//! on front pages.
//!
//! Input: bytes as they were landed. Output: records in the store's own terms ([`RawProduct`]). Each record is
//! validated independently, so a malformed record does not affect the others ([`BadRecord`]). This crate does not
//! interpret values: prices stay text, and descriptions stay HTML.
//!
//! This crate does no I/O, reads no clock, and does not panic on any input. Nesting does not grow the stack. Prices are
//! never converted to binary floating point.
//!
//! Pages are read by a custom reader instead of a general JSON parser. Of the parsers that were tried, sonic-rs skips
//! unknown values with unbounded recursion. Neither sonic-rs nor serde_json keeps the digits of a price and continues
//! after a bad record without reading the page again. The custom reader is also the fastest of the three (see
//! `examples/throughput.rs`).

mod barcodes;
mod codes;
mod cursor;
mod error;
mod json_ld;
mod meta;
mod nodes;
mod page;
mod rating;
mod raw;
mod record;
mod shown;

pub use codes::lines::PageLink;
pub use codes::{FoundCode, stated_codes};
pub use cursor::RECORD_BYTES_MAX;
pub use error::{BadRecord, EXCERPT_BYTES_MAX, ParseError};
pub use json_ld::parse_product_html;
pub use meta::{StoreMeta, parse_meta};
pub use page::{
    PAGE_BYTES_MAX, ProductsPage, RECORDS_MAX, for_each_product, page_text, parse_products_page, parse_products_text,
    record_excerpts,
};
pub use rating::{PageFacts, RawReview};
pub use raw::{
    BAD_VARIANTS_MAX, BadVariant, IMAGES_MAX, OPTION_VALUES_MAX, OPTIONS_MAX, RawImage, RawOption, RawProduct,
    RawVariant, TAGS_MAX, VARIANTS_MAX,
};
pub use shown::{ShownPage, shown_page};
