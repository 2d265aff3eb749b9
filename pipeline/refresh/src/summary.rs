use std::fmt;

use data_lake::CrawlSpan;
use data_model::{BrandSlug, CurrencyCode, RunId, StoreHost, Timestamp};
use pipeline_crawl::StoreFacts;
use serde::{Deserialize, Serialize};

use crate::collapse::{Affected, Changes, HoldReason};
use crate::memory::MemoryReport;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The run is in progress, or was killed.
    Running,
    /// The run was stopped on request. The next run resumes it.
    Interrupted,
    /// All stores of the run are finished.
    Finished,
    /// The run was never finished and is too old to resume.
    Abandoned,
}

/// Outcome for one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The lake got new data.
    Changed,
    /// The lake already has the same data.
    Unchanged,
    /// The crawl is held back, because it found an almost completely different catalogue.
    HeldBack {
        /// Number of the brand's products in the lake.
        products_before: u64,
        /// Number of products in the crawl.
        products_found: u64,
        /// Reason for holding the crawl back. `None` in reports of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doubt: Option<HoldReason>,
        /// Number of affected products or prices, unless the reason is the number of remaining products.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        affected: Option<Affected>,
        /// Currency of the prices before and now, if that is the reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        currencies: Option<(CurrencyCode, CurrencyCode)>,
    },
    /// The store could not be read or its data not written. Its products stay unchanged.
    Failed {
        /// One-word error code from a fixed set.
        code: String,
        /// Error message and its causes.
        reason: String,
    },
    /// The run was stopped before the store was completely read.
    Skipped,
}

impl Outcome {
    /// Returns the outcome as one word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::HeldBack { .. } => "held_back",
            Self::Failed { .. } => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Returns details about the outcome, if any.
    #[must_use]
    pub fn detail(&self) -> Option<String> {
        match self {
            Self::Failed { code, reason } => Some(format!("{code}: {reason}")),
            Self::HeldBack {
                products_before,
                products_found,
                doubt,
                affected,
                currencies,
            } => {
                if let (Some(HoldReason::Currency), Some((before, found))) = (doubt, currencies) {
                    return Some(format!("prices are in {found}, but were in {before} before"));
                }
                let counts = format!("{products_found} products, compared with {products_before} before");
                Some(match doubt.and_then(|doubt| why(doubt, *affected)) {
                    Some(why) => format!("{why}: {counts}"),
                    None => counts,
                })
            }
            Self::Changed | Self::Unchanged | Self::Skipped => None,
        }
    }
}

/// Returns `None` if the reason is the product count.
fn why(doubt: HoldReason, affected: Option<Affected>) -> Option<String> {
    let of = affected.map_or_else(String::new, |Affected { count, of }| format!("{count} of {of}"));
    Some(match doubt {
        HoldReason::Currency => "prices are in another currency".to_owned(),
        HoldReason::Replaced => "hardly any earlier product is still listed".to_owned(),
        HoldReason::Unreadable => "many products can no longer be parsed".to_owned(),
        HoldReason::Cut => "the catalogue's end was not reached".to_owned(),
        HoldReason::Prices => format!("{of} prices fell to almost nothing"),
        HoldReason::Titles => format!("{of} products have completely different titles"),
        HoldReason::Short => format!("only {of} products are listed, by the store's own count"),
        HoldReason::Dwindled => format!("only {of} products of the last days are still listed"),
        HoldReason::Emptied | HoldReason::Shrank => return None,
    })
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Currencies of a store that shows prices in another currency than its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignPrices {
    /// The store's own currency.
    pub own: CurrencyCode,
    /// Currency of the shown and stored prices.
    pub shown: CurrencyCode,
}

impl ForeignPrices {
    pub(crate) fn of(facts: &StoreFacts) -> Option<Self> {
        let (own, shown) = (facts.currency?, facts.presented?);
        (own != shown).then_some(Self { own, shown })
    }
}

impl fmt::Display for ForeignPrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { own, shown } = self;
        write!(
            f,
            "prices are shown in {shown}, but the store's own currency is {own}: set storefront.country to the country \
            whose prices you want"
        )
    }
}

/// Result of one store in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreSummary {
    /// Slug of the brand.
    pub slug: BrandSlug,
    /// Store of the brand.
    pub store: StoreHost,
    /// Outcome for the store.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Number of the brand's products in this crawl, or in the lake if nothing was read.
    pub products: u64,
    /// Number of variants in the crawl. `None` if nothing was read.
    pub variants: Option<u64>,
    /// Number of records that could not be parsed. `None` if nothing was read.
    pub quarantined: Option<u64>,
    /// Number of catalogue pages.
    pub pages: u32,
    /// Number of requests for the catalogue.
    pub requests: u32,
    /// Number of received decoded bytes.
    pub bytes: u64,
    /// True if a limit was reached before the end of the catalogue.
    #[serde(default)]
    pub truncated: bool,
    /// Set if prices are in another currency than the store's own although no country was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_prices: Option<ForeignPrices>,
    /// Cost of reading the store's discount codes, which the catalogue's numbers exclude. `None` if they were not due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codes: Option<CodesRead>,
    /// Changes of the brand. If the crawl is held back, it would make these changes. `None` if unknown, for example
    /// because no page was read.
    #[serde(flatten)]
    pub changes: Option<Changes>,
    /// Number of pages that the run landed before an interruption and did not request again.
    #[serde(default)]
    pub reused_pages: u32,
    /// Time of the first page request. `None` if the catalogue was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_since: Option<Timestamp>,
    /// Time at which the catalogue was completely read. `None` if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<Timestamp>,
    /// End of the store's processing.
    pub ended_at: Timestamp,
    /// Milliseconds from the start of the crawl to the commit, including waiting.
    pub duration_ms: u64,
}

impl StoreSummary {
    /// Returns `None` if the store was not read.
    pub(crate) fn span(&self) -> Option<CrawlSpan> {
        Some(CrawlSpan {
            began_at: self.read_since?,
            ended_at: self.read_at?,
        })
    }
}

/// Discount codes that stores state, and the cost of reading them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodesRead {
    /// Number of requests for front pages and policies.
    pub requests: u64,
    /// Number of received decoded bytes.
    pub bytes: u64,
    /// Number of codes now.
    pub codes: u64,
}

impl CodesRead {
    /// Returns true if nothing was read.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Totals of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Number of stores.
    pub stores: u64,
    /// Number of stores with new data for the lake.
    pub changed: u64,
    /// Number of unchanged stores.
    pub unchanged: u64,
    /// Number of held-back stores.
    pub held_back: u64,
    /// Number of stores that could not be read or whose data could not be written.
    pub failed: u64,
    /// Number of stores skipped because the run was stopped.
    pub skipped: u64,
    /// Number of products of all stores.
    pub products: u64,
    /// Number of variants in the crawls.
    pub variants: u64,
    /// Number of records that could not be parsed, in stores that were read.
    pub quarantined: u64,
    /// Number of requests.
    pub requests: u64,
    /// Number of received decoded bytes.
    pub bytes: u64,
    /// Number of pages that the run landed before an interruption and did not request again.
    #[serde(default)]
    pub reused_pages: u64,
    /// Number of added products in stores that changed.
    #[serde(default)]
    pub products_added: u64,
    /// Number of removed products in stores that changed.
    #[serde(default)]
    pub products_removed: u64,
    /// Number of variants with a changed price in stores that changed.
    #[serde(default)]
    pub prices_changed: u64,
    /// Discount codes that stores state, and the cost of reading them. Not written if none were due.
    #[serde(default, skip_serializing_if = "CodesRead::is_none")]
    pub codes: CodesRead,
    /// Results of merging live observations. Not written if there were none.
    #[serde(default, skip_serializing_if = "LiveTotals::is_none")]
    pub live: LiveTotals,
}

/// Results of merging live observations in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveTotals {
    /// Number of observation files that were read.
    pub files: u64,
    /// Number of invalid observation files, which are not deleted.
    pub files_damaged: u64,
    /// Number of commits to the lake.
    pub commits: u64,
    /// Number of observations newer than the known data.
    pub folded: u64,
    /// Number of rows added to the price history, including those for stores that a crawl found unchanged after a
    /// differing live observation.
    pub price_changes: u64,
    /// Number of observations of brands or products outside of the lake.
    pub dropped_unknown: u64,
    /// Number of observations that are not newer than the known data.
    pub dropped_outdated: u64,
    /// Number of observations in another currency than the product's.
    pub dropped_other_currency: u64,
    /// Number of observations with a time ahead of this machine's clock.
    pub dropped_ahead: u64,
}

impl LiveTotals {
    /// Returns true if all counts are zero.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn merge(&mut self, more: &Self) {
        self.files += more.files;
        self.files_damaged += more.files_damaged;
        self.commits += more.commits;
        self.folded += more.folded;
        self.price_changes += more.price_changes;
        self.dropped_unknown += more.dropped_unknown;
        self.dropped_outdated += more.dropped_outdated;
        self.dropped_other_currency += more.dropped_other_currency;
        self.dropped_ahead += more.dropped_ahead;
    }
}

/// Report of a run, stored in `runs/{run}.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Id of the run.
    pub run: RunId,
    /// State of the run.
    pub state: RunState,
    /// Brands of a limited run.
    pub only: Option<Vec<BrandSlug>>,
    /// True if the run read everything, even unchanged catalogues.
    pub force: bool,
    /// True if the run wrote nothing to the lake.
    #[serde(default)]
    pub dry_run: bool,
    /// True if workers took the stores from a queue. Only the committer of the queue resumes such a run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// Number of resumptions.
    #[serde(default)]
    pub resumed: u32,
    /// Start of the run.
    pub started_at: Timestamp,
    /// Time of the last activity.
    pub ended_at: Timestamp,
    /// Number of commits to the lake.
    #[serde(default)]
    pub commits: u64,
    /// Totals of the stores.
    pub totals: Totals,
    /// Memory used by the run. `None` while it is in progress, and in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryReport>,
    /// Finished stores, by slug.
    pub stores: Vec<StoreSummary>,
}

impl RunReport {
    /// Returns the report of a run over all brands that begins.
    pub(crate) fn new(run: RunId, started_at: Timestamp, now: Timestamp) -> Self {
        Self {
            run,
            state: RunState::Running,
            only: None,
            force: false,
            dry_run: false,
            queued: false,
            resumed: 0,
            started_at,
            ended_at: now,
            commits: 0,
            totals: Totals::default(),
            memory: None,
            stores: Vec::new(),
        }
    }

    /// Returns the report of an interrupted run that is resumed.
    pub(crate) fn resumed(self) -> Self {
        Self {
            state: RunState::Running,
            resumed: self.resumed.saturating_add(1),
            ..self
        }
    }
}

impl Totals {
    /// Computes the totals of these stores.
    #[must_use]
    pub fn of(stores: &[StoreSummary]) -> Self {
        let mut totals = Self::default();
        for store in stores {
            totals.stores += 1;
            *match store.outcome {
                Outcome::Changed => &mut totals.changed,
                Outcome::Unchanged => &mut totals.unchanged,
                Outcome::HeldBack { .. } => &mut totals.held_back,
                Outcome::Failed { .. } => &mut totals.failed,
                Outcome::Skipped => &mut totals.skipped,
            } += 1;
            totals.products += store.products;
            totals.variants += store.variants.unwrap_or(0);
            totals.quarantined += store.quarantined.unwrap_or(0);
            totals.requests += u64::from(store.requests);
            totals.bytes += store.bytes;
            totals.reused_pages += u64::from(store.reused_pages);
            let codes = store.codes.unwrap_or_default();
            totals.codes.requests += codes.requests;
            totals.codes.bytes += codes.bytes;
            totals.codes.codes += codes.codes;
            if let (Outcome::Changed, Some(changes)) = (&store.outcome, &store.changes) {
                totals.products_added += changes.products_added;
                totals.products_removed += changes.products_removed;
                totals.prices_changed += changes.prices_changed;
            }
        }
        totals
    }
}
