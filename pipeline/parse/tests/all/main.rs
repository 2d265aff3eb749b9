//! Bytes of pages in, raw records out.

mod kept;
mod page;
mod product_html;
mod random;
mod recorded;
