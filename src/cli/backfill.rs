use clap::Args;
use pipeline_backfill::Stage;

#[derive(Debug, Args)]
pub(crate) struct BackfillArgs {
    /// A brand (its slug); may be given several times, or as a comma-separated list
    #[arg(
        long = "brand",
        alias = "brands",
        value_name = "SLUG",
        value_delimiter = ',',
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) brands: Vec<String>,
    /// All registered brands
    #[arg(long)]
    pub(crate) all: bool,
    /// First day of the crawls and responses to read, in market_time_zone, or a timestamp (RFC 3339) [default:
    /// everything that is landed]
    #[arg(long, value_name = "DATE")]
    pub(crate) from: Option<String>,
    /// Last day of the crawls and responses to read, or a timestamp (RFC 3339)
    #[arg(long, value_name = "DATE")]
    pub(crate) to: Option<String>,
    /// Stage from which data is rebuilt: parse, reviews, shipping or index
    ///
    /// parse: parses and normalises landed product pages again, into the lake. `normalise` is another name for this
    /// stage, because no data is stored between the two steps. reviews: parses landed responses of review apps again,
    /// into the reviews and ratings of the lake. Reviews and ratings on product pages belong to parse. shipping: parses
    /// landed responses about shipping terms again, into the terms of the lake. index: builds a release from the whole
    /// lake, like `haat release build --full`.
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Stage,
    /// Also read landed pages that are older than the lake's data about a store; the old prices and products are then
    /// current until the store's next crawl
    #[arg(long)]
    pub(crate) older: bool,
    /// Also accept catalogues that a crawl would hold back
    #[arg(long)]
    pub(crate) accept_collapse: bool,
    /// Read, compare and report, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
