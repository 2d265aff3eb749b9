use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum DeliveryCommand {
    /// Ask the carts of stores, as far as each one's budget of the day goes; the next run goes on
    #[command(after_help = examples::DELIVERY_PROBE)]
    Probe(ProbeArgs),
    /// Print every pincode with its district, state, kind and area, as CSV: what zones are joined with
    #[command(after_help = examples::DELIVERY_PINCODES)]
    Pincodes,
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// Only this brand; may be given several times, or as a list with commas
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// Most questions to a store within 24 hours, those of earlier runs counted [default: delivery.questions_per_day_max]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=150))]
    pub(crate) budget: Option<u16>,
    /// Say how much would be asked, but ask nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
