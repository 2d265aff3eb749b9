use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct FeedArgs {
    /// A brand (its slug); may be given several times, or as a comma-separated list
    #[arg(
        long = "brand",
        alias = "brands",
        value_name = "SLUG",
        value_delimiter = ',',
        required_unless_present = "all"
    )]
    pub(crate) brands: Vec<String>,
    /// All brands of the market
    #[arg(long, conflicts_with = "brands")]
    pub(crate) all: bool,
    /// Format of the feed [default: google-tsv; jsonl with --json on standard output]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FeedFormatArg>,
    /// File to write, created only when it is complete [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// The lake at an earlier time (RFC 3339), or after the tick with this number
    #[arg(long, value_name = "TIME|TICK")]
    pub(crate) as_of: Option<String>,
    /// The lake state from which the current release was built
    #[arg(long, conflicts_with = "as_of")]
    pub(crate) release: bool,
    /// Write the SKU of each variant as its mpn: correct only if the SKUs are the manufacturers' own part numbers
    #[arg(long)]
    pub(crate) sku_as_mpn: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeedFormatArg {
    /// Google product data: one tab-separated line per variant, after a header line
    GoogleTsv,
    /// One JSON object per variant, with the same attributes and haat's ids
    Jsonl,
    /// Feed of the Agentic Commerce Protocol (2026-04-17): one JSON object per product, with its variants
    Acp,
}
