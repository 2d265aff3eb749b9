use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum SearchesCommand {
    /// The words that are searched for most, or those that find nothing
    ///
    /// Words are counted by day, without a caller or an address; those that a server saw fewer than three times in a day are not
    /// kept, nor are days of more than 90 days ago. Searches with filters are not counted. Servers write every five minutes.
    #[command(after_help = examples::SEARCHES_TOP)]
    Top(TopArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Days that are looked at, today included
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=90))]
    pub(crate) days: u32,
    /// Only words that found nothing, those first that did so most often
    #[arg(long)]
    pub(crate) without_hits: bool,
    /// Most words
    #[arg(long, value_name = "WORDS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5000))]
    pub(crate) limit: u32,
}
