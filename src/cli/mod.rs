pub(crate) mod backfill;
pub(crate) mod backup;
pub(crate) mod delivery;
mod emulate;
mod examples;
pub(crate) mod feed;
pub(crate) mod jobs;
pub(crate) mod keys;
mod lake_files;
pub(crate) mod quality;
pub(crate) mod queue;
pub(crate) mod rates;
pub(crate) mod reviews;
pub(crate) mod searches;
pub(crate) mod shipping;
pub(crate) mod sql;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use data_model::BrandSlug;
use url::Url;

pub(crate) use self::emulate::{AddressingArg, DemoArgs, DriftArg, EmulateArgs, SourceArgs};
pub(crate) use self::lake_files::LakeFilesArgs;
use crate::cli::backfill::BackfillArgs;
use crate::cli::backup::{BackupCommand, RestoreArgs};
use crate::cli::delivery::{DeliveryCommand, ProbeArgs};
use crate::cli::feed::FeedArgs;
use crate::cli::jobs::JobsCommand;
use crate::cli::keys::KeysCommand;
use crate::cli::quality::QualityArgs;
use crate::cli::queue::{QueueCommand, QueuedArgs, WorkerArgs};
use crate::cli::rates::RatesCommand;
use crate::cli::reviews::{RefreshReviewsArgs, ReviewsCommand};
use crate::cli::searches::SearchesCommand;
use crate::cli::shipping::{RefreshShippingArgs, ShippingCommand};
use crate::cli::sql::SqlArgs;
use crate::listen::ListenAddress;

/// haat: one market of many brand stores.
///
/// Crawls the public catalogues of brand stores into an open lake (Delta tables). Builds immutable releases from the
/// lake and serves them over HTTP.
#[derive(Debug, Parser)]
#[command(
    name = "haat",
    version,
    propagate_version = true,
    after_help = "Exit codes: 0 done · 1 failed · 2 wrong usage or configuration · 3 done in part (some stores failed \
         or were held back, a signal stopped the command, or `doctor` found something that needs you) · 4 another \
         writer was first.\n\nEvery key of the configuration can be set in a file (--config) or in the environment \
         (HAAT_REFRESH__CRAWL__STORES_CONCURRENT=8). Common keys can also be set by a flag. `haat config` shows each \
         value and where it comes from."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The home, which contains all data: a folder, or s3://bucket/prefix; only `brands add` and `demo` create an
    /// absent one [default: haat-home, or HAAT_HOME; for `demo` a temporary folder]
    #[arg(long, global = true, value_name = "DIR|URL")]
    pub(crate) home: Option<String>,
    /// Configuration file [default: haat.toml if it exists]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON on standard output, one document per result
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log level or filter for standard error: error, warn, info, debug, trace, off, or a filter such as
    /// `storefront=debug`
    #[arg(long, global = true, value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// Show no progress bars and no progress lines
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start emulated stores on this machine, crawl them, build a release and serve it: the whole pipeline in one
    /// command
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Serve emulated stores and print their addresses
    #[command(after_help = examples::EMULATE)]
    Emulate(EmulateArgs),
    /// Crawl registered brands into the lake
    #[command(after_help = examples::CRAWL)]
    Crawl(CrawlArgs),
    /// Read landed pages into the lake again, without a crawl; or rebuild the release
    #[command(after_help = examples::BACKFILL)]
    Backfill(BackfillArgs),
    /// Register, list and remove brands
    #[command(subcommand, after_help = examples::BRANDS)]
    Brands(BrandsCommand),
    /// Build, list, show, roll back and clean up releases
    #[command(subcommand, after_help = examples::RELEASE)]
    Release(ReleaseCommand),
    /// Show the quality of the data in the lake, compared with an earlier state, and what holds a release back (exit
    /// code 3: something does)
    #[command(after_help = examples::QUALITY)]
    Quality(QualityArgs),
    /// Run jobs on schedule: crawls, releases, maintenance; list them, and show what they did
    #[command(subcommand, after_help = examples::JOBS)]
    Jobs(JobsCommand),
    /// Take stores from the queue and refresh them, with any number of workers on any number of machines
    #[command(long_about = queue::WORKER, after_help = examples::WORKER)]
    Worker(WorkerArgs),
    /// Show the queue of stores for workers, and handle dead letters
    #[command(subcommand, after_help = examples::QUEUE)]
    Queue(QueueCommand),
    /// Ask stores for delivery costs, for zones of pincodes
    #[command(subcommand, after_help = examples::DELIVERY)]
    Delivery(DeliveryCommand),
    /// Create, list, rotate and revoke API keys, and show who did
    #[command(subcommand, after_help = examples::KEYS)]
    Keys(KeysCommand),
    /// Read what stores say about shipping
    #[command(subcommand, after_help = examples::SHIPPING)]
    Shipping(ShippingCommand),
    /// Read reviews and ratings from the stores' review apps
    #[command(subcommand, after_help = examples::REVIEWS)]
    Reviews(ReviewsCommand),
    /// Import exchange rates, to show prices in one currency
    #[command(subcommand, after_help = examples::RATES)]
    Rates(RatesCommand),
    /// Show what shoppers search for, and which searches find nothing
    #[command(subcommand, after_help = examples::SEARCHES)]
    Searches(SearchesCommand),
    /// Maintain the lake's tables
    #[command(subcommand, after_help = examples::LAKE)]
    Lake(LakeCommand),
    /// Back the home up, list, verify and prune backups
    #[command(subcommand, after_help = examples::BACKUP)]
    Backup(BackupCommand),
    /// Fill an empty home from a backup; an interrupted restore continues
    #[command(after_help = examples::RESTORE)]
    Restore(RestoreArgs),
    /// Serve the current release over HTTP
    #[command(after_help = examples::QUERY_SERVER)]
    QueryServer(QueryServerArgs),
    /// Ask stores live for exact prices over HTTP; looks products up at a query server (query_server.internal_listen)
    #[command(after_help = examples::LIVE_GATEWAY)]
    LiveGateway(LiveGatewayArgs),
    /// Serve everything on one port: the current release, and live answers of stores
    #[command(after_help = examples::UP)]
    Up(QueryServerArgs),
    /// Query the lake with SQL; print rows, or write them to a file as CSV, Parquet or JSON
    #[command(after_help = examples::SQL)]
    Sql(SqlArgs),
    /// Write a brand's products, or the market's, as a feed: Google product data, or JSON lines
    #[command(after_help = examples::FEED)]
    Feed(FeedArgs),
    /// Show the effective configuration, and where each value comes from
    #[command(after_help = examples::CONFIG)]
    Config(ConfigArgs),
    /// Check storage, crawls, lake, release and configuration, and give advice (exit code 1: broken, 3: needs the
    /// operator)
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Query the health probe of a server on this machine (exit code 1: no answer, or an error status)
    #[command(after_help = examples::HEALTH)]
    Health {
        /// URL of the probe [default: /healthz at the configured address of the query server]
        url: Option<Url>,
    },
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
    /// Write a manual page for every command
    #[command(after_help = examples::MAN)]
    Man {
        /// Folder to write to, created if absent
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        to: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Explain each key; the output can be saved as a configuration file
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Read every data file of the lake and of earlier releases completely, instead of only checking names and sizes;
    /// takes as long as reading all of it
    #[arg(long)]
    pub(crate) thorough: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// Crawl this brand only (its slug); may be given several times, or as a comma-separated list
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// Read every page again, even if HTTP validators say that it is unchanged
    #[arg(long)]
    pub(crate) force: bool,
    /// Crawl, parse and compare, but write nothing to the lake
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Accept the held-back crawl of these brands (their slugs): their new catalogue is correct
    #[arg(long = "confirm", value_name = "SLUG", conflicts_with = "dry_run")]
    pub(crate) confirm: Vec<String>,
    #[command(flatten)]
    pub(crate) queued: QueuedArgs,
    /// Build a release of the lake afterwards, and publish it if it differs from the current one; after an earlier
    /// signal nothing is released and the exit code is 3
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) release: bool,
    /// Publish that release even if the counts fell sharply
    #[arg(long, requires = "release")]
    pub(crate) accept_collapse: bool,
    /// Publish the lake's data of every brand, even if its quality is beyond a threshold (`haat quality`)
    #[arg(long, requires = "release")]
    pub(crate) accept_quality: bool,
    /// Publish that release even if the current one is pinned, which ends the pin
    #[arg(long, requires = "release")]
    pub(crate) despite_pin: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BrandsCommand {
    /// Probe domains, report what was found, and register each store as soon as it has responded
    #[command(after_help = examples::BRANDS_ADD)]
    Add {
        /// Domains or base URLs
        #[arg(required_unless_present = "from", value_name = "DOMAIN|URL")]
        stores: Vec<String>,
        /// Read further domains from this file, one per line, or from standard input with `-`; empty lines and text
        /// after a `#` are ignored
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        from: Option<PathBuf>,
        /// ISO 4217 code of the store's prices, if the store does not state it
        #[arg(long, value_name = "CODE")]
        currency: Option<String>,
        /// If a store says that it is a brand registered at another address, accept that the brand moved there
        #[arg(long)]
        moved: bool,
        /// Public Storefront API access token of the only given store, needed to sign customers in there; stored
        /// sealed. `-` reads it from standard input
        #[arg(long, value_name = "TOKEN", conflicts_with = "from")]
        storefront_token: Option<String>,
        /// Probe and report what was found, but register nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List the registered brands, with the time and result of each one's last check
    #[command(after_help = examples::BRANDS_LIST)]
    List,
    /// Remove a brand from the registry, its products from the lake, and all its other stored data
    #[command(after_help = examples::BRANDS_REMOVE)]
    Remove {
        /// The brand's slug
        slug: String,
        /// Report what would be removed, but remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReleaseCommand {
    /// Build a release from the lake and publish it
    #[command(after_help = examples::RELEASE_BUILD)]
    Build {
        /// Rebuild the release completely instead of updating the previous release
        #[arg(long)]
        full: bool,
        /// Build and check, but do not publish
        #[arg(long)]
        dry_run: bool,
        /// Publish even if the counts fell sharply
        #[arg(long)]
        accept_collapse: bool,
        /// Publish the lake's data of every brand, even if its quality is beyond a threshold (`haat quality`)
        #[arg(long)]
        accept_quality: bool,
        /// Publish the lake's data of this brand, even if its quality is beyond a threshold; may be given several
        /// times, or as a comma-separated list
        #[arg(long, value_name = "SLUG", value_delimiter = ',', conflicts_with = "accept_quality")]
        accept_brand: Vec<BrandSlug>,
        /// Publish even if the current release is pinned, which ends the pin
        #[arg(long)]
        despite_pin: bool,
    },
    /// List releases, newest event first
    #[command(after_help = examples::RELEASE_LIST)]
    List,
    /// Show one release's manifest
    #[command(after_help = examples::RELEASE_SHOW)]
    Show {
        /// Release id [default: the current one]
        id: Option<String>,
    },
    /// Make an older release the current one
    #[command(after_help = examples::RELEASE_ROLLBACK)]
    Rollback {
        /// Release id [default: the previous current release; after a rollback, the one before that]
        id: Option<String>,
        /// Pin it too: builds publish nothing over it until `release unpin`
        #[arg(long)]
        pin: bool,
        /// Report which release would be current, but change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Pin a release: builds publish nothing over it until `release unpin`, and exit with 3
    #[command(after_help = examples::RELEASE_PIN)]
    Pin {
        /// Release id; one that is not current becomes current first [default: the current one]
        id: Option<String>,
    },
    /// Let builds publish again
    #[command(after_help = examples::RELEASE_UNPIN)]
    Unpin,
    /// Remove files that no retained release needs
    #[command(after_help = examples::RELEASE_GC)]
    Gc {
        /// Number of newest releases to keep [default: release.keep]
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// Discard damaged manifests except the current release's, and damaged log entries except the newest; until
        /// then, files that they may need are kept
        #[arg(long)]
        drop_damaged: bool,
        /// List what would be removed, but remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum LakeCommand {
    /// Show the tables with their versions and row counts
    #[command(after_help = examples::LAKE_TABLES)]
    Tables,
    /// Merge small files of the tables
    #[command(after_help = examples::LAKE_COMPACT)]
    Compact {
        /// Report what would be merged, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List the Parquet files with the tables' rows, now or at an earlier time, for engines that cannot read Delta
    #[command(after_help = examples::LAKE_FILES)]
    Files(LakeFilesArgs),
    /// Answer SQL over the lake by HTTP and Arrow Flight SQL, for the current or an earlier state
    #[command(after_help = examples::LAKE_SERVE)]
    Serve {
        /// Address to serve on, HOST:PORT; port 0 picks a free one [default: 127.0.0.1:8083, or sql.listen]
        #[arg(long, value_name = "ADDR")]
        listen: Option<ListenAddress>,
    },
    /// Restore tables to their rows at an earlier time, in a new commit
    #[command(after_help = examples::LAKE_RESTORE)]
    Restore {
        /// The time (RFC 3339): the state after the last commit before it is restored
        #[arg(long, value_name = "TIME")]
        as_of: String,
        /// A table to restore; may be given more than once [default: all tables that crawls replace]
        #[arg(long = "table", value_name = "TABLE")]
        tables: Vec<String>,
        /// Report what would change, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Rewrite lost parts of the registry, the tables' logs and the release log, and drop the rows of lost data files;
    /// lists both
    #[command(after_help = examples::LAKE_REPAIR)]
    Repair {
        /// Only list what would be rewritten and what would be dropped
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove files that are older than the retention and not needed by a retained release
    #[command(after_help = examples::LAKE_VACUUM)]
    Vacuum {
        /// List what would be removed, but remove nothing
        #[arg(long)]
        dry_run: bool,
        /// Hours of time travel to keep [default: lake.retention_hours]
        #[arg(long, value_name = "HOURS")]
        retention_hours: Option<u64>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct QueryServerArgs {
    /// Address to serve on, HOST:PORT; port 0 picks a free one [default: 127.0.0.1:8080, or query_server.listen]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<ListenAddress>,
}

#[derive(Debug, Args)]
pub(crate) struct LiveGatewayArgs {
    /// Address to serve on, HOST:PORT; port 0 picks a free one [default: 127.0.0.1:8081, or live_gateway.listen]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<ListenAddress>,
}

impl Command {
    /// True if the command needs an existing home. Some commands create a home or need none.
    pub(crate) const fn needs_home(&self) -> bool {
        match self {
            Self::Demo(_) | Self::Emulate(_) | Self::Config(_) => false,
            Self::Health { .. } | Self::Completions { .. } | Self::Man { .. } => false,
            // `haat doctor` reports faults of the home as findings.
            Self::Doctor(_) => false,
            Self::Brands(BrandsCommand::Add { .. }) | Self::Restore(_) => false,
            Self::Backup(command) => matches!(command, BackupCommand::Create { .. }),
            Self::Delivery(command) => matches!(command, DeliveryCommand::Probe(_)),
            Self::Crawl(_)
            | Self::Backfill(_)
            | Self::Brands(_)
            | Self::Release(_)
            | Self::Quality(_)
            | Self::Jobs(_)
            | Self::Worker(_)
            | Self::Queue(_)
            | Self::Keys(_)
            | Self::Lake(_)
            | Self::Shipping(_)
            | Self::Reviews(_)
            | Self::Rates(_)
            | Self::Searches(_)
            | Self::QueryServer(_)
            | Self::LiveGateway(_)
            | Self::Up(_)
            | Self::Feed(_)
            | Self::Sql(_) => true,
        }
    }

    /// True if the command changes nothing under the home.
    pub(crate) const fn only_reads(&self) -> bool {
        matches!(
            self,
            Self::Sql(_)
                | Self::Feed(_)
                | Self::Quality(_)
                | Self::Searches(_)
                | Self::Doctor(_)
                | Self::QueryServer(_)
                | Self::LiveGateway(_)
                | Self::Up(_)
                | Self::Health { .. }
                | Self::Backup(_)
                | Self::Brands(BrandsCommand::List)
                | Self::Queue(QueueCommand::List { .. } | QueueCommand::Dead { .. })
                | Self::Jobs(JobsCommand::List | JobsCommand::History { .. })
                | Self::Keys(KeysCommand::List | KeysCommand::Audit { .. })
                | Self::Release(ReleaseCommand::List | ReleaseCommand::Show { .. })
                | Self::Lake(LakeCommand::Tables | LakeCommand::Files(_) | LakeCommand::Serve { .. })
        ) || self.only_tries()
    }

    /// True if the command only shows its changes to the lake.
    const fn only_tries(&self) -> bool {
        matches!(
            self,
            Self::Crawl(CrawlArgs { dry_run: true, .. })
                | Self::Delivery(DeliveryCommand::Probe(ProbeArgs { dry_run: true, .. }))
                | Self::Shipping(ShippingCommand::Refresh(RefreshShippingArgs { dry_run: true, .. }))
                | Self::Reviews(ReviewsCommand::Refresh(RefreshReviewsArgs { dry_run: true, .. }))
                | Self::Rates(RatesCommand::Import { dry_run: true, .. })
        )
    }
}

#[cfg(test)]
mod tests;
