//! The sources of emulated stores, and their network addresses.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use data_model::CurrencyCode;

use crate::listen::ListenAddress;

#[derive(Debug, Clone, Args)]
pub(crate) struct SourceArgs {
    /// Serve recorded pages: a folder with one folder of products*.json per store (and optionally meta.json)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["products", "stores", "seed"])]
    pub(crate) recorded: Option<PathBuf>,
    /// ISO 4217 code of the prices of recorded stores without a meta.json [default: INR, with a warning]
    #[arg(long, value_name = "CODE", requires = "recorded")]
    pub(crate) currency: Option<CurrencyCode>,
    /// Number of products to generate over all stores
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=5_000_000))]
    pub(crate) products: u64,
    /// Number of stores to generate
    #[arg(long, value_name = "M", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) stores: u32,
    /// Number of generated stores that also sell products of other brands; the last stores are used
    #[arg(long, value_name = "R", default_value_t = 0, conflicts_with = "recorded", value_parser = clap::value_parser!(u32).range(0..=1_000))]
    pub(crate) resellers: u32,
    /// Seed of the generated catalogue: the same seed gives the same stores
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Address to serve the market on, HOST:PORT; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: ListenAddress,
    /// Days of history, 1 to 90: the stores are crawled once for each day up to today, while prices, stock and products
    /// change daily
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=90))]
    pub(crate) days: u32,
}

#[derive(Debug, Args)]
pub(crate) struct EmulateArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Address of the stores; port 0 picks a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: ListenAddress,
    /// Epoch of the generated catalogue: a higher number gives the same catalogue at a later time
    #[arg(long, value_name = "E", default_value_t = 0)]
    pub(crate) epoch: u64,
    /// Send every response uncompressed, regardless of the client's Accept-Encoding, to benchmark clients
    #[arg(long)]
    pub(crate) identity: bool,
    /// Allow changes to running stores: POST {store}/emulator/change with JSON such as {"kind": "reprice", "item":
    /// "HANDLE", "price": "499.00"}, set-stock, remove-product, restore or faults
    #[arg(long)]
    pub(crate) control: bool,
    /// Give four of five stores a review app, and emulate the apps: Judge.me, Yotpo, Stamped and Okendo
    #[arg(long)]
    pub(crate) widgets: bool,
    /// Let Indian stores differ in delivery areas, delivery costs and policies, as those of the demo do
    #[arg(long)]
    pub(crate) varied_shipping: bool,
    /// Let some stores state the categories of their products, all or a part, as those of the demo do
    #[arg(long)]
    pub(crate) categories: bool,
    /// Addressing scheme that gives each store an address of its own [default: ip on Linux, port elsewhere]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) addressing: Option<AddressingArg>,
    /// Share in thousandths of these that change from epoch to epoch: stores, repriced, restocked, replaced or touched;
    /// may be given several times
    #[arg(long, value_name = "WHAT=N", value_parser = drift)]
    pub(crate) drift: Vec<(DriftArg, u16)>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum AddressingArg {
    /// One loopback IP address per store
    Ip,
    /// One port per store
    Port,
    /// One name below `.localhost` per store
    Host,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DriftArg {
    Stores,
    Repriced,
    Restocked,
    Replaced,
    Touched,
}

/// Parses a drift argument such as `repriced=50`.
fn drift(text: &str) -> Result<(DriftArg, u16), String> {
    let (what, thousandths) = text.split_once('=').ok_or("must have the form WHAT=N")?;
    let what =
        DriftArg::from_str(what, false).map_err(|_| "WHAT must be stores, repriced, restocked, replaced or touched")?;
    let number = thousandths.parse().ok().filter(|number| *number <= 1000);
    Ok((what, number.ok_or("N must be a number from 0 to 1000")?))
}
