use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct QualityArgs {
    /// Check the lake at this time (RFC 3339) [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Compare with the lake at this time (RFC 3339) [default: the data of the current release, or the state of the
    /// previous run]
    #[arg(long, value_name = "TIME")]
    pub(crate) against: Option<String>,
    /// Write the report as an HTML page to this file; `-` writes it to standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
}
