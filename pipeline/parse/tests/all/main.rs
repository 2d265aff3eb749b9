//! Parses pages from bytes to raw records.

mod kept;
mod page;
mod product_html;
mod random;
mod recorded;
