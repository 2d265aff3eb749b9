//! A statement, and what becomes of its rows.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct SqlArgs {
    /// One statement; `-` reads it from standard input; `describe TABLE` lists a table's columns with their comments
    pub(crate) statement: String,
    /// Read the lake as it was at this moment (RFC 3339)
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Read the current release instead of the lake: products, variants, reviews, facets, brands, product_matches
    #[arg(long, conflicts_with = "as_of")]
    pub(crate) release: bool,
    /// The most rows [default: 1000 as a table, otherwise all of them]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// The format of rows [default: as a table, or as JSON with --json; with --out, by the ending of FILE]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<SqlFormat>,
    /// Write rows to this file, whole or not at all; standard output then says how many
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Write over FILE where it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// The format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SqlFormat {
    /// Laid out for people
    Table,
    /// One array of objects
    Json,
    /// Comma-separated values with a line of names; lists and structs have no form in it
    Csv,
    /// Apache Parquet, with types, nested columns and comments
    Parquet,
}
