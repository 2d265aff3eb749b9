use clap::{Args, Subcommand};

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum SearchesCommand {
    /// Show the words that are searched for most, or those that find nothing
    ///
    /// Words are counted by day, without a caller or an address. Words that a server saw fewer than three times in a
    /// day are not stored. Days older than 90 days are deleted. Searches with filters are not counted. Servers write
    /// the counts every five minutes. A crawl moves days that are over into the table searches of the lake.
    #[command(after_help = examples::SEARCHES_TOP)]
    Top(TopArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// Number of days to include, with today
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=90))]
    pub(crate) days: u32,
    /// Only words that found nothing, the most frequent ones first
    #[arg(long)]
    pub(crate) without_hits: bool,
    /// Maximum number of words
    #[arg(long, value_name = "WORDS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5000))]
    pub(crate) limit: u32,
}
