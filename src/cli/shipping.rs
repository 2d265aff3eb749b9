use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum ShippingCommand {
    /// Ask stores for their shipping terms, and bring what they say into the lake
    ///
    /// A store is asked for its policy, and where it tells none, for its pages on shipping as far as robots.txt allows. What
    /// its text says is kept fact by fact, each with its sentence. A store that cannot be asked keeps what is known of it.
    #[command(after_help = examples::SHIPPING_REFRESH)]
    Refresh(RefreshShippingArgs),
    /// Print what the lake knows of a brand's shipping, each fact with the sentence or the answer that it follows from
    #[command(after_help = examples::SHIPPING_SHOW)]
    Show(ShowShippingArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowShippingArgs {
    /// The brand's slug
    #[arg(value_name = "BRAND")]
    pub(crate) brand: String,
    /// Also what follows for this pincode
    #[arg(value_name = "PINCODE")]
    pub(crate) pincode: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RefreshShippingArgs {
    /// Only this brand, whenever it was asked last; may be given several times, or as a list with commas [default: all that are due]
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// The age at which an answer is old, and its store is asked again
    #[arg(long, value_name = "HOURS", default_value_t = 168, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) after_hours: u32,
    /// Ask and read, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
