use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum DeliveryCommand {
    /// Ask stores for delivery costs, within each store's daily budget; the next run continues
    #[command(after_help = examples::DELIVERY_PROBE)]
    Probe(ProbeArgs),
    /// Print every pincode with its district, state, kind and area, as CSV, to join with delivery zones
    #[command(after_help = examples::DELIVERY_PINCODES)]
    Pincodes,
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// Only this brand; may be given several times, or as a comma-separated list
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// Maximum number of questions to a store within 24 hours, including those of earlier runs [default:
    /// delivery.questions_per_day_max]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=150))]
    pub(crate) budget: Option<u16>,
    /// Report the number of requests that would be sent, but send none
    #[arg(long)]
    pub(crate) dry_run: bool,
}
