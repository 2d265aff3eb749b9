use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct QualityArgs {
    /// Look at the lake as it was at this moment (RFC 3339) [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Compare with the lake as it was at this moment (RFC 3339) [default: what the current release was made of, or the
    /// state of the run before]
    #[arg(long, value_name = "TIME")]
    pub(crate) against: Option<String>,
    /// Write the report as a page to this file; `-` writes it to standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,
}
