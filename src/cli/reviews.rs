use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewsCommand {
    /// Read reviews and ratings from the stores' review apps into the lake
    ///
    /// The app of a store is found in the store's own pages: Judge.me, Yotpo, Stamped or Okendo. A store without
    /// changes costs one request. If an app cannot be reached or its answer cannot be parsed, the known reviews stay.
    #[command(after_help = examples::REVIEWS_REFRESH)]
    Refresh(RefreshReviewsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RefreshReviewsArgs {
    /// Only this brand, even if it is not due; may be given several times, or as a comma-separated list [default: all
    /// that are due]
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// Read every review again, changed or not: edited texts do not change the counts that apps report
    #[arg(long)]
    pub(crate) sweep: bool,
    /// Ask and read, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
