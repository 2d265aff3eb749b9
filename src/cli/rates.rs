use clap::Subcommand;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum RatesCommand {
    /// Bring exchange rates of a CSV file or address into the lake
    ///
    /// The first line names the columns date, base, quote and rate, in any order: a unit of base is rate units of quote on that
    /// day. A rate of a day and pair that has one takes its place; all others stay. Where one row is wrong nothing is imported,
    /// and the lines are told. `haat lake restore --table exchange_rates` is the way back.
    #[command(after_help = examples::RATES_IMPORT)]
    Import {
        /// A file, `-` for standard input, or an http or https address, which is asked as stores are
        from: String,
        /// Say what would change, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
}
