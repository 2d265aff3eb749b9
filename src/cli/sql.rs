//! Arguments of `haat sql`: a statement, and the output of its rows.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// One statement; `-` reads it from standard input; `describe TABLE` lists a table's columns with their comments
    pub(crate) statement: String,
    /// Read the lake at this time (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Read the current release instead of the lake: products, variants, reviews, facets, brands, product_matches
    #[arg(long, conflicts_with = "as_of")]
    pub(crate) release: bool,
    /// Maximum number of rows [default: 1000 as a table, otherwise all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Format of the rows [default: a table, or JSON with --json; with --out, by the extension of FILE]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<SqlFormat>,
    /// Write rows to this file, completely or not at all; standard output then reports the number of rows
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite FILE if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// The format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SqlFormat {
    /// A table for people
    Table,
    /// One JSON array of objects
    Json,
    /// Comma-separated values with a header line; cannot represent lists and structs
    Csv,
    /// Apache Parquet, with types, nested columns and comments
    Parquet,
}
