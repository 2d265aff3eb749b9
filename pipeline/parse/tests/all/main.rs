//! Bytes of pages in, raw records out.

mod page;
mod product_html;
mod random;
mod recorded;
