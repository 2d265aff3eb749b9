//! The crawl of stores that are values, through the public door.

mod crawl;
mod probe;
mod support;
