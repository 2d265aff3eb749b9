use clap::Args;
use pipeline_backfill::Stage;

#[derive(Debug, Args)]
pub(crate) struct BackfillArgs {
    /// A brand (its slug); may be given several times, or as a list with commas
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
    /// The first day of the crawls and answers to take, by the clocks of market_time_zone, or the moment of the first
    /// (RFC 3339) [default: all that is landed]
    #[arg(long, value_name = "DATE")]
    pub(crate) from: Option<String>,
    /// The last day of the crawls and answers to take, or the moment of the last
    #[arg(long, value_name = "DATE")]
    pub(crate) to: Option<String>,
    /// From where on things are made again: parse, reviews, shipping or index
    ///
    /// parse: landed pages of products, parsed and normalised anew, into the lake; normalise is another word for it, since
    /// nothing is kept between the two. reviews: what review apps answered, into their reviews and
    /// ratings; what product pages say of these is part of parse. shipping: what stores answered when they were asked for
    /// their terms, into the terms of the lake. index: the whole lake into a release, as `haat release build --full`.
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Stage,
    /// Take landings too that are older than what the lake has of a store: their prices and products are the present ones
    /// again until its next crawl
    #[arg(long)]
    pub(crate) older: bool,
    /// Take catalogues too that a crawl would hold back
    #[arg(long)]
    pub(crate) accept_collapse: bool,
    /// Read, compare and tell, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
