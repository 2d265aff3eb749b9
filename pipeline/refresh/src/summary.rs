use std::fmt;

use data_lake::CrawlSpan;
use data_model::{BrandSlug, CurrencyCode, RunId, StoreHost, Timestamp};
use pipeline_crawl::StoreFacts;
use serde::{Deserialize, Serialize};

use crate::collapse::{Affected, Changes, HoldReason};
use crate::memory::MemoryReport;

/// The stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// At work, or killed while at work.
    Running,
    /// Stopped on request; the next run goes on with it.
    Interrupted,
    /// All its stores are through.
    Finished,
    /// It was never finished and is too old to go on with.
    Abandoned,
}

/// The outcome of one store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The lake took in something new.
    Changed,
    /// The lake has it as it is.
    Unchanged,
    /// The crawl found almost entirely another catalogue than the brand had and is not believed yet.
    HeldBack {
        /// Products that the brand has in the lake.
        products_before: u64,
        /// Products that the crawl found.
        products_found: u64,
        /// The reason why it is not believed; `None` in reports of earlier versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doubt: Option<HoldReason>,
        /// The number of products or prices that it is about, where it is not the products that are left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        affected: Option<Affected>,
        /// The currency of its prices before and now, where that is the doubt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        currencies: Option<(CurrencyCode, CurrencyCode)>,
    },
    /// It could not be read or written; its products stay as they were.
    Failed {
        /// One word of a closed list.
        code: String,
        /// The fault, with its causes.
        reason: String,
    },
    /// The run was stopped before its turn came or while it was read.
    Skipped,
}

impl Outcome {
    /// The outcome in one word.
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

    /// The detail that there is to say beyond the word.
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
                    return Some(format!("prices are in {found}, were in {before}"));
                }
                let counts = format!("{products_found} products, where there were {products_before}");
                Some(match doubt.and_then(|doubt| why(doubt, *affected)) {
                    Some(why) => format!("{why}: {counts}"),
                    None => counts,
                })
            }
            Self::Changed | Self::Unchanged | Self::Skipped => None,
        }
    }
}

/// The reason why a crawl is held back, where that is not the count of its products.
fn why(doubt: HoldReason, affected: Option<Affected>) -> Option<String> {
    let of = affected.map_or_else(String::new, |Affected { count, of }| format!("{count} of {of}"));
    Some(match doubt {
        HoldReason::Currency => "prices are in another currency".to_owned(),
        HoldReason::Replaced => "hardly a product of before is listed".to_owned(),
        HoldReason::Unreadable => "many products cannot be read any more".to_owned(),
        HoldReason::Cut => "the catalogue's end was not reached".to_owned(),
        HoldReason::Prices => format!("{of} prices fell to next to nothing"),
        HoldReason::Titles => format!("{of} products have entirely different titles"),
        HoldReason::Short => format!("only {of} products that the store counts are listed"),
        HoldReason::Dwindled => format!("{of} products of the last days are left"),
        HoldReason::Emptied | HoldReason::Shrank => return None,
    })
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A store that shows its prices in another currency than its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignPrices {
    /// The store's own currency.
    pub own: CurrencyCode,
    /// The one in which its prices were shown, and taken.
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
            "prices are shown in {shown}, the store's own currency is {own}: storefront.country sets the country \
            whose prices are wanted"
        )
    }
}

/// One store's part in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoreSummary {
    /// The brand.
    pub slug: BrandSlug,
    /// Its store.
    pub store: StoreHost,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Products of the brand: found by this crawl or, where nothing was read, those that the lake has.
    pub products: u64,
    /// Variants found; `None` where nothing was read.
    pub variants: Option<u64>,
    /// Records that could not be understood; `None` where nothing was read.
    pub quarantined: Option<u64>,
    /// Pages of the catalogue.
    pub pages: u32,
    /// Requests sent for the catalogue.
    pub requests: u32,
    /// Decoded bytes received.
    pub bytes: u64,
    /// A bound was met before the catalogue's end.
    #[serde(default)]
    pub truncated: bool,
    /// Its prices are shown in another currency than its own, though no country's were asked for; absent where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_prices: Option<ForeignPrices>,
    /// The cost of reading the codes that the store states, beside the catalogue; absent where that was not due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codes: Option<CodesRead>,
    /// The changes of the brand, or those that there would be where the crawl is held back; absent where they are not known, as
    /// where nothing was read.
    #[serde(flatten)]
    pub changes: Option<Changes>,
    /// Pages that the run had landed before it was interrupted, and did not ask for again.
    #[serde(default)]
    pub reused_pages: u32,
    /// The moment at which its first page was asked for; absent where its catalogue was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_since: Option<Timestamp>,
    /// The moment at which its catalogue was read to the end; absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<Timestamp>,
    /// The moment at which its turn was over.
    pub ended_at: Timestamp,
    /// From the beginning of its crawl to the lake, waiting included.
    pub duration_ms: u64,
}

impl StoreSummary {
    /// The time in which the store was read; `None` where it was not.
    pub(crate) fn span(&self) -> Option<CrawlSpan> {
        Some(CrawlSpan {
            began_at: self.read_since?,
            ended_at: self.read_at?,
        })
    }
}

/// The cost of reading the discount codes that stores state, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodesRead {
    /// Requests sent for front pages and policies; those of the catalogue do not count among them.
    pub requests: u64,
    /// Decoded bytes received.
    pub bytes: u64,
    /// Codes that are stated now.
    pub codes: u64,
}

impl CodesRead {
    /// True where nothing was read.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Counts of a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Stores that the run is about.
    pub stores: u64,
    /// Of these, stores of which the lake took in something new.
    pub changed: u64,
    /// Stores that are as they were.
    pub unchanged: u64,
    /// Stores whose crawl is not believed yet.
    pub held_back: u64,
    /// Stores that could not be read or written.
    pub failed: u64,
    /// Stores whose turn did not come.
    pub skipped: u64,
    /// Products of all stores.
    pub products: u64,
    /// Variants found.
    pub variants: u64,
    /// Records that could not be understood, of the stores that were read.
    pub quarantined: u64,
    /// Requests sent.
    pub requests: u64,
    /// Decoded bytes received.
    pub bytes: u64,
    /// Pages that the run had landed before it was interrupted, and did not ask for again.
    #[serde(default)]
    pub reused_pages: u64,
    /// Products that came, of the stores that changed.
    #[serde(default)]
    pub products_added: u64,
    /// Products that went, of the stores that changed.
    #[serde(default)]
    pub products_removed: u64,
    /// Variants with another price, of the stores that changed.
    #[serde(default)]
    pub prices_changed: u64,
    /// The cost of reading the codes that stores state; absent where it was not due at any.
    #[serde(default, skip_serializing_if = "CodesRead::is_none")]
    pub codes: CodesRead,
    /// The live words of stores; absent where there are none.
    #[serde(default, skip_serializing_if = "LiveTotals::is_none")]
    pub live: LiveTotals,
}

/// The work of a run with what stores said live.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveTotals {
    /// Files of observations that were read.
    pub files: u64,
    /// Files that are none of observations; they stay where they are.
    pub files_damaged: u64,
    /// Commits to the lake.
    pub commits: u64,
    /// Observations that were newer than what was known.
    pub folded: u64,
    /// Rows added to the history of prices, those included that a crawl brought by finding a store as it was before what
    /// was seen live.
    pub price_changes: u64,
    /// Observations of brands or products that the lake does not have.
    pub dropped_unknown: u64,
    /// Observations no newer than what was known.
    pub dropped_outdated: u64,
    /// Observations in another currency than the product's.
    pub dropped_other_currency: u64,
    /// Observations from ahead of this machine's clock.
    pub dropped_ahead: u64,
}

impl LiveTotals {
    /// True where nothing was seen live, and nothing came of it.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in what was folded in besides.
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

/// The work of a run: `runs/{run}.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// The run.
    pub run: RunId,
    /// Its stage.
    pub state: RunState,
    /// The brands it was limited to, if it was.
    pub only: Option<Vec<BrandSlug>>,
    /// It read everything anew, whatever it knew.
    pub force: bool,
    /// It only looked: nothing was written to the lake.
    #[serde(default)]
    pub dry_run: bool,
    /// Its stores were taken from a queue by workers; whoever commits for them goes on with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub queued: bool,
    /// The number of times that it was gone on with after an interruption.
    #[serde(default)]
    pub resumed: u32,
    /// Its beginning.
    pub started_at: Timestamp,
    /// The moment at which it was last at work.
    pub ended_at: Timestamp,
    /// Commits to the lake.
    #[serde(default)]
    pub commits: u64,
    /// Counts over the stores.
    pub totals: Totals,
    /// The memory that the run took; `None` while it is at work, and in reports of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryReport>,
    /// Each store that is through, by slug.
    pub stores: Vec<StoreSummary>,
}

impl Totals {
    /// Counts these.
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
