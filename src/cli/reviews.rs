use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewsCommand {
    /// Read what stores' review apps publish, and bring it into the lake
    ///
    /// The app of a store follows from its own pages: Judge.me, Yotpo, Stamped or Okendo. A store costs one request
    /// where nothing changed. An app that cannot be asked, or whose answer cannot be read, keeps what is known of it.
    #[command(after_help = examples::REVIEWS_REFRESH)]
    Refresh(RefreshReviewsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RefreshReviewsArgs {
    /// Only this brand, whenever it was read last; may be given several times, or as a list with commas [default: all that are due]
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// Read every review again, changed or not: texts that were edited do not change what apps count
    #[arg(long)]
    pub(crate) sweep: bool,
    /// Ask and read, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
