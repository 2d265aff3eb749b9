use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct FeedArgs {
    /// A brand (its slug); may be given several times, or as a list with commas
    #[arg(
        long = "brand",
        alias = "brands",
        value_name = "SLUG",
        value_delimiter = ',',
        required_unless_present = "all"
    )]
    pub(crate) brands: Vec<String>,
    /// Every brand of the market
    #[arg(long, conflicts_with = "brands")]
    pub(crate) all: bool,
    /// Form of the feed
    #[arg(long, value_enum, default_value_t = FeedFormatArg::GoogleTsv)]
    pub(crate) format: FeedFormatArg,
    /// File to write, which appears when it is complete [default: standard output]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file where it is there already
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// The lake as it was: at this time (RFC 3339), or after the tick of this number
    #[arg(long, value_name = "TIME|TICK")]
    pub(crate) as_of: Option<String>,
    /// The lake as it was when the current release was built of it
    #[arg(long, conflicts_with = "as_of")]
    pub(crate) release: bool,
    /// Give the SKU of each variant as its mpn: right only where the SKUs are the makers' own part numbers
    #[arg(long)]
    pub(crate) sku_as_mpn: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeedFormatArg {
    /// Google product data: one line a variant, columns divided by tabs, names of columns first
    GoogleTsv,
    /// One JSON object a variant, with the same attributes, and the ids of haat
    Jsonl,
    /// Feed of the Agentic Commerce Protocol (2026-04-17): one JSON object a product, with its variants
    Acp,
}
