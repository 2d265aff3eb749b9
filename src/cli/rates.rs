use clap::Subcommand;

use super::examples;

#[derive(Debug, Subcommand)]
pub(crate) enum RatesCommand {
    /// Import exchange rates from a CSV file or URL into the lake
    ///
    /// The first line names the columns date, base, quote and rate, in any order: one unit of base is worth rate units
    /// of quote on that day. A row replaces an existing rate of the same day and pair; all other rates stay. If one row
    /// is wrong, nothing is imported, and the wrong lines are reported. To undo an import, use `haat lake restore
    /// --table exchange_rates`.
    #[command(after_help = examples::RATES_IMPORT)]
    Import {
        /// A file, `-` for standard input, or an http or https URL, fetched by the same rules as stores
        from: String,
        /// Report what would change, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
}
