//! Reads what a store answered: catalogue pages, its own description, ratings on product pages, codes, text and links on its front page.
//!
//! In: bytes as they were landed. Out: records in the store's own terms ([`RawProduct`]), each judged alone, so that
//! a record of a shape we do not know costs nothing but itself ([`BadRecord`]). Meaning is not this crate's business:
//! a price is still text here, a description still HTML.
//!
//! It never does I/O, never reads a clock, never panics whatever the bytes are, never lets nesting grow the stack,
//! and never takes a price through a binary fraction.
//!
//! Pages are read by a reader of our own rather than by a general JSON parser. Of those that were tried, sonic-rs
//! skips unknown values by unbounded recursion, and neither it nor serde_json keeps a price's digits and goes on
//! after a wrong record without reading the page again. Made for these records, ours is also the fastest of the three
//! (see `examples/throughput.rs`).

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

pub use barcodes::PageBarcode;
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
