use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum ShippingCommand {
    /// Request the shipping terms of stores, and write them to the lake
    ///
    /// The terms are read from a store's policy. If the policy states no terms, the store's shipping pages are read as
    /// far as robots.txt allows. Each fact is stored with the sentence that states it. If a store cannot be reached,
    /// its known terms stay.
    #[command(after_help = examples::SHIPPING_REFRESH)]
    Refresh(RefreshShippingArgs),
    /// Print the lake's facts about a brand's shipping, each with the sentence or response that states it
    #[command(after_help = examples::SHIPPING_SHOW)]
    Show(ShowShippingArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowShippingArgs {
    /// The brand's slug
    #[arg(value_name = "BRAND")]
    pub(crate) brand: String,
    /// Also show the facts that apply to this pincode
    #[arg(value_name = "PINCODE")]
    pub(crate) pincode: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RefreshShippingArgs {
    /// Only this brand, even if it is not due; may be given several times, or as a comma-separated list [default: all
    /// that are due]
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// Age in hours after which an answer is outdated and its store is queried again
    #[arg(long, value_name = "HOURS", default_value_t = 168, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) after_hours: u32,
    /// Ask and read, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
