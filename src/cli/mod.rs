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
/// Crawls the public catalogues of brand stores into an open lake (Delta tables), builds immutable releases
/// from it and serves them over HTTP.
#[derive(Debug, Parser)]
#[command(
    name = "haat",
    version,
    propagate_version = true,
    after_help = "Exit codes: 0 done · 1 failed · 2 wrong usage or configuration · 3 done in part (some stores failed or were held back, a signal came, or `doctor` found something that needs you) · 4 lost a race to another writer.\n\nEvery key of the configuration can be set in a file (--config), in the environment (HAAT_REFRESH__CRAWL__STORES_CONCURRENT=8) and, for the common ones, by a flag; `haat config` shows what holds and why."
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
    /// The home, which holds everything: a folder, or s3://bucket/prefix; only `brands add` and `demo` make one that is
    /// absent [default: haat-home, or HAAT_HOME; of `demo` a temporary folder]
    #[arg(long, global = true, value_name = "DIR|URL")]
    pub(crate) home: Option<String>,
    /// Configuration file [default: haat.toml where it exists]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON on standard output, one document per result
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// The log lines on standard error: error, warn, info, debug, trace, off, or a filter such as `storefront=debug`
    #[arg(long, global = true, value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// No progress bars, and no lines of progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Stores on this machine, crawled, released and served: the whole path in one command
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Serve emulated stores and print their addresses
    #[command(after_help = examples::EMULATE)]
    Emulate(EmulateArgs),
    /// Crawl registered brands into the lake
    #[command(after_help = examples::CRAWL)]
    Crawl(CrawlArgs),
    /// Read landed pages again into the lake, without a crawl; or build the release anew
    #[command(after_help = examples::BACKFILL)]
    Backfill(BackfillArgs),
    /// Register, list and remove brands
    #[command(subcommand, after_help = examples::BRANDS)]
    Brands(BrandsCommand),
    /// Build, list, show, roll back and clean up releases
    #[command(subcommand, after_help = examples::RELEASE)]
    Release(ReleaseCommand),
    /// Show how good the data in the lake is, beside how it was, and what holds a release back (exit code 3: something does)
    #[command(after_help = examples::QUALITY)]
    Quality(QualityArgs),
    /// Run jobs on schedule: crawls, releases, upkeep; list them, and show what they did
    #[command(subcommand, after_help = examples::JOBS)]
    Jobs(JobsCommand),
    /// Take stores from the queue and refresh them, with any number of workers on any number of machines
    #[command(long_about = queue::WORKER, after_help = examples::WORKER)]
    Worker(WorkerArgs),
    /// Show the queue of stores that workers take from, and decide about dead letters
    #[command(subcommand, after_help = examples::QUEUE)]
    Queue(QueueCommand),
    /// Ask stores what delivery costs, for zones of pincodes
    #[command(subcommand, after_help = examples::DELIVERY)]
    Delivery(DeliveryCommand),
    /// Make, list, rotate and revoke API keys, and show who did
    #[command(subcommand, after_help = examples::KEYS)]
    Keys(KeysCommand),
    /// Read what stores say of shipping
    #[command(subcommand, after_help = examples::SHIPPING)]
    Shipping(ShippingCommand),
    /// Read what stores' review apps publish
    #[command(subcommand, after_help = examples::REVIEWS)]
    Reviews(ReviewsCommand),
    /// Import exchange rates, for prices in one currency
    #[command(subcommand, after_help = examples::RATES)]
    Rates(RatesCommand),
    /// Show what shoppers search for, and what they do not find
    #[command(subcommand, after_help = examples::SEARCHES)]
    Searches(SearchesCommand),
    /// Look after the lake's tables
    #[command(subcommand, after_help = examples::LAKE)]
    Lake(LakeCommand),
    /// Back the home up, list, verify and prune backups
    #[command(subcommand, after_help = examples::BACKUP)]
    Backup(BackupCommand),
    /// Fill an empty home from a backup; a restore that was cut short goes on
    #[command(after_help = examples::RESTORE)]
    Restore(RestoreArgs),
    /// Serve the current release over HTTP
    #[command(after_help = examples::QUERY_SERVER)]
    QueryServer(QueryServerArgs),
    /// Ask stores live over HTTP: exact prices; looks products up at a query server (query_server.internal_listen)
    #[command(after_help = examples::LIVE_GATEWAY)]
    LiveGateway(LiveGatewayArgs),
    /// Serve everything on one port: the current release, and what stores say live
    #[command(after_help = examples::UP)]
    Up(QueryServerArgs),
    /// Query the lake with SQL; print rows, or write them to a file as CSV, Parquet or JSON
    #[command(after_help = examples::SQL)]
    Sql(SqlArgs),
    /// Write a brand's products, or the market's, as a feed: Google product data, or JSON lines
    #[command(after_help = examples::FEED)]
    Feed(FeedArgs),
    /// Show the configuration that holds, and where each value comes from
    #[command(after_help = examples::CONFIG)]
    Config(ConfigArgs),
    /// Check storage, crawls, lake, release and configuration, and say what to do (exit code 1: broken, 3: needs you)
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Ask a probe of a server on this machine (exit code 1: no answer, or one that is no success)
    #[command(after_help = examples::HEALTH)]
    Health {
        /// Address of the probe [default: /healthz where the query server of the configuration listens]
        url: Option<Url>,
    },
    /// Print a completion script for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell to complete in
        shell: Shell,
    },
    /// Write a manual page for every command
    #[command(after_help = examples::MAN)]
    Man {
        /// Folder to write to, made where it is absent
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        to: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Say what each key means; what is printed can be kept as a configuration file
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Read every data file of the lake and of earlier releases from end to end, not names and sizes alone; takes as long as
    /// reading all of it
    #[arg(long)]
    pub(crate) thorough: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CrawlArgs {
    /// Crawl this brand only (its slug); may be given several times, or as a list with commas
    #[arg(long = "brand", alias = "brands", value_name = "SLUG", value_delimiter = ',')]
    pub(crate) brands: Vec<String>,
    /// Read every page anew, whatever the validators say
    #[arg(long)]
    pub(crate) force: bool,
    /// Crawl, parse and compare, but write nothing to the lake
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Accept the held-back crawl of these brands (their slugs): their catalogue is right as it was found
    #[arg(long = "confirm", value_name = "SLUG", conflicts_with = "dry_run")]
    pub(crate) confirm: Vec<String>,
    #[command(flatten)]
    pub(crate) queued: QueuedArgs,
    /// Build a release of the lake afterwards, and publish it when it differs from the current one; where a signal comes
    /// first, nothing is released and the exit code is 3
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) release: bool,
    /// Publish that release even though the counts fell sharply
    #[arg(long, requires = "release")]
    pub(crate) accept_collapse: bool,
    /// Publish what the lake has of every brand, even where its quality is beyond a threshold (`haat quality`)
    #[arg(long, requires = "release")]
    pub(crate) accept_quality: bool,
    /// Publish that release even though the current one is pinned, which ends the pin
    #[arg(long, requires = "release")]
    pub(crate) despite_pin: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BrandsCommand {
    /// Probe domains, say what was found, and register the stores, each as soon as it has answered
    #[command(after_help = examples::BRANDS_ADD)]
    Add {
        /// Domains or base URLs
        #[arg(required_unless_present = "from", value_name = "DOMAIN|URL")]
        stores: Vec<String>,
        /// Read further domains from this file, one a line, or from standard input with `-`; empty lines and what follows
        /// a `#` do not count
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        from: Option<PathBuf>,
        /// ISO 4217 code of the store's prices, where the store does not say
        #[arg(long, value_name = "CODE")]
        currency: Option<String>,
        /// A store that says it is a brand registered at another address: believe it, the brand moved there
        #[arg(long)]
        moved: bool,
        /// Public access token of the one store's Storefront API, which signing customers in there needs; kept sealed.
        /// `-` reads it from standard input
        #[arg(long, value_name = "TOKEN", conflicts_with = "from")]
        storefront_token: Option<String>,
        /// Probe and say what was found, but register nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List the registered brands, with when each was last checked and what came of it
    #[command(after_help = examples::BRANDS_LIST)]
    List,
    /// Take a brand out of the registry, its products out of the lake, and what else is kept of it
    #[command(after_help = examples::BRANDS_REMOVE)]
    Remove {
        /// The brand's slug
        slug: String,
        /// Say what would go, but remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReleaseCommand {
    /// Build a release from the lake and publish it
    #[command(after_help = examples::RELEASE_BUILD)]
    Build {
        /// Build from nothing instead of from the release before
        #[arg(long)]
        full: bool,
        /// Build and check, but do not publish
        #[arg(long)]
        dry_run: bool,
        /// Publish even though the counts fell sharply
        #[arg(long)]
        accept_collapse: bool,
        /// Publish what the lake has of every brand, even where its quality is beyond a threshold (`haat quality`)
        #[arg(long)]
        accept_quality: bool,
        /// Publish what the lake has of this brand, even where its quality is beyond a threshold; may be
        /// given several times, or as a list with commas
        #[arg(long, value_name = "SLUG", value_delimiter = ',', conflicts_with = "accept_quality")]
        accept_brand: Vec<BrandSlug>,
        /// Publish even though the current release is pinned, which ends the pin
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
    /// Point readers at an older release
    #[command(after_help = examples::RELEASE_ROLLBACK)]
    Rollback {
        /// Release id [default: the one that was current before; after a roll-back, the one before that]
        id: Option<String>,
        /// Pin it too: nothing is published over it until `release unpin`
        #[arg(long)]
        pin: bool,
        /// Say what would be current, but change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Keep a release current: builds publish nothing over it until `release unpin`, and exit with 3
    #[command(after_help = examples::RELEASE_PIN)]
    Pin {
        /// Release id; one that is not current is gone to first [default: the current one]
        id: Option<String>,
    },
    /// Let builds publish again
    #[command(after_help = examples::RELEASE_UNPIN)]
    Unpin,
    /// Remove files that no kept release needs
    #[command(after_help = examples::RELEASE_GC)]
    Gc {
        /// The number of newest releases to keep [default: release.keep]
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// Give up damaged manifests, but for the current release's, and damaged entries of the log, but for the newest:
        /// files that they may need are kept until then
        #[arg(long)]
        drop_damaged: bool,
        /// List what would go, but remove nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum LakeCommand {
    /// Show the tables, their versions and how many rows they have
    #[command(after_help = examples::LAKE_TABLES)]
    Tables,
    /// Merge small files of the tables
    #[command(after_help = examples::LAKE_COMPACT)]
    Compact {
        /// Say what would be merged, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// List the Parquet files that hold the tables' rows, now or as they were, for engines that cannot read Delta
    #[command(after_help = examples::LAKE_FILES)]
    Files(LakeFilesArgs),
    /// Answer SQL over the lake by HTTP and Arrow Flight SQL, as it is or as it was
    #[command(after_help = examples::LAKE_SERVE)]
    Serve {
        /// Address to serve on, HOST:PORT; port 0 takes a free one [default: 127.0.0.1:8083, or sql.listen]
        #[arg(long, value_name = "ADDR")]
        listen: Option<ListenAddress>,
    },
    /// Give tables the rows again that they had at an earlier moment, in a commit of its own
    #[command(after_help = examples::LAKE_RESTORE)]
    Restore {
        /// The moment (RFC 3339): the state after the last commit before it
        #[arg(long, value_name = "TIME")]
        as_of: String,
        /// A table to restore; may be given more than once [default: all that crawls replace]
        #[arg(long = "table", value_name = "TABLE")]
        tables: Vec<String>,
        /// Say what would change, but write nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Write lost parts of the registry, of the tables' logs and of the release log again, and give up the rows of data files that
    /// are lost: lists both, and does it
    #[command(after_help = examples::LAKE_REPAIR)]
    Repair {
        /// Only list what would be written again and what would be given up
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove files that neither the retention nor a kept release needs
    #[command(after_help = examples::LAKE_VACUUM)]
    Vacuum {
        /// List what would go, but remove nothing
        #[arg(long)]
        dry_run: bool,
        /// Hours of time travel to keep [default: lake.retention_hours]
        #[arg(long, value_name = "HOURS")]
        retention_hours: Option<u64>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct QueryServerArgs {
    /// Address to serve on, HOST:PORT; port 0 takes a free one [default: 127.0.0.1:8080, or query_server.listen]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<ListenAddress>,
}

#[derive(Debug, Args)]
pub(crate) struct LiveGatewayArgs {
    /// Address to serve on, HOST:PORT; port 0 takes a free one [default: 127.0.0.1:8081, or live_gateway.listen]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<ListenAddress>,
}

impl Command {
    /// True where the command works on a home that must be there: all but those that make one or need none.
    pub(crate) const fn needs_home(&self) -> bool {
        match self {
            Self::Demo(_) | Self::Emulate(_) | Self::Config(_) => false,
            Self::Health { .. } | Self::Completions { .. } | Self::Man { .. } => false,
            // Says what is wrong with the home among its findings.
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

    /// True where the command changes nothing under home.
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

    /// True where the command shows its changes to the lake without making them.
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
