//! Reasons for holding a crawl back, and the conditions of its confirmation.

use data_model::{CurrencyCode, RunId};
use pipeline_crawl::{LastListed, StoreCrawl};
use serde::{Deserialize, Serialize};

use super::{ChangedSample, Drift, HeldCrawl};
use crate::CollapseConfig;
use crate::prepare::PreparedCrawl;

/// A difference of counts of at most this many is considered random.
const DIFFERENCE_IGNORED: u64 = 5;
/// A crawl is held back if more than one in this many products is newly unreadable.
const UNREADABLE_SHARE: u64 = 20;
/// A brand with at least this many products counts as replaced if fewer than one in [`REPLACED_SHARE`] is still listed.
const REPLACED_MIN: u64 = 10;
const REPLACED_SHARE: u64 = 5;

/// Reason for holding a crawl back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// The crawl found no products, although the brand has some or the store reports some.
    Emptied,
    /// The crawl found far fewer products.
    Shrank,
    /// The crawl found fewer products and did not reach the end of the catalogue.
    Cut,
    /// More than a few of the brand's products have records that cannot be parsed.
    Unreadable,
    /// Almost no product of the last crawl is still listed.
    Replaced,
    /// The prices are in another currency.
    Currency,
    /// Many prices fell to almost nothing.
    Prices,
    /// Many products have a completely different title.
    Titles,
    /// The crawl listed fewer products than the store reports, and the brand would lose some.
    Short,
    /// The brand would have lost most of its products in small steps over the last days.
    Dwindled,
}

impl HoldReason {
    /// Returns the reason as one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Emptied => "emptied",
            Self::Shrank => "shrank",
            Self::Cut => "cut",
            Self::Unreadable => "unreadable",
            Self::Replaced => "replaced",
            Self::Currency => "currency",
            Self::Prices => "prices",
            Self::Titles => "titles",
            Self::Short => "short",
            Self::Dwindled => "dwindled",
        }
    }

    /// Returns true if the reason is a loss of products.
    pub(crate) const fn is_of_loss(self) -> bool {
        matches!(
            self,
            Self::Emptied | Self::Shrank | Self::Cut | Self::Short | Self::Dwindled
        )
    }

    /// Returns true if a second crawl with the same result may confirm the first. A price of almost nothing and an
    /// unreadable record stay faults even if they are repeated.
    #[must_use]
    pub const fn may_be_repeated(self) -> bool {
        !matches!(self, Self::Prices | Self::Unreadable)
    }
}

/// Number of products or prices that a reason affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Affected {
    /// Number of affected products or prices.
    pub count: u64,
    /// Total number of products or prices.
    pub of: u64,
}

/// Figures of a brand in the lake.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LakeFigures {
    pub(crate) products: u64,
    /// Maximum number of products in the last days.
    pub(crate) most: u64,
    /// Number of products that the store reported but did not list at the last commit.
    pub(crate) unlisted: u64,
    /// Currency of the prices. `None` if the brand is not in the lake or the operator set its currency.
    pub(crate) currency: Option<CurrencyCode>,
}

/// Figures of a crawl.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrawlFigures {
    pub(crate) products: u64,
    /// Number of records from which no product could be parsed.
    pub(crate) unreadable: u64,
    /// Number of records from which no product could be parsed and that have a product of the brand.
    pub(crate) kept: u64,
    /// Number of kept products that were readable in the last crawl.
    pub(crate) newly_kept: u64,
    pub(crate) currency: CurrencyCode,
    /// Comparison with the products of the last crawl.
    pub(crate) last: Option<LastListed>,
    /// Number of products that the store reports.
    pub(crate) stated: Option<u64>,
    /// Number of products, including those that could not be parsed.
    pub(crate) listed: u64,
    /// Changes in the prices and titles of the other products.
    pub(crate) drift: Drift,
    /// True if the crawl ended before the end of the catalogue.
    pub(crate) truncated: bool,
}

impl CrawlFigures {
    pub(crate) fn of(prepared: &PreparedCrawl, crawl: &StoreCrawl, drift: Drift) -> Self {
        Self {
            products: prepared.understood,
            unreadable: prepared.unreadable,
            kept: prepared.kept,
            newly_kept: prepared.newly_kept,
            currency: prepared.refresh.brand.currency,
            last: crawl.last,
            stated: crawl.facts.published_products,
            listed: crawl.products(),
            drift,
            truncated: crawl.truncated,
        }
    }

    /// Returns the reasons to hold this crawl back, most severe first, and none if it is accepted.
    pub(crate) fn doubts(&self, config: &CollapseConfig, before: LakeFigures) -> Vec<HoldReason> {
        let LakeFigures { products, currency, .. } = before;
        // Records that were already unreadable are not new losses.
        let known = self.products + self.kept.saturating_sub(self.newly_kept);
        let missing = products.saturating_sub(known);
        // The precision of a float is sufficient for shares of counts.
        let is_few =
            |of: u64| (known as f64) < of as f64 * config.share_min && of.saturating_sub(known) >= config.drop_min;
        let lists_few = |last: LastListed| {
            let still = last.products.saturating_sub(last.gone);
            last.products >= REPLACED_MIN && still.saturating_mul(REPLACED_SHARE) < last.products
        };
        let is_lost = missing > self.newly_kept;
        let doubts = [
            // New brands are checked too. A store that reports products but lists none has a fault.
            (
                known == 0 && (products > 0 || self.unlisted() > before.unlisted),
                HoldReason::Emptied,
            ),
            (self.prices_fell(config), HoldReason::Prices),
            (is_few(products), HoldReason::Shrank),
            (
                self.newly_kept > DIFFERENCE_IGNORED && self.newly_kept.saturating_mul(UNREADABLE_SHARE) > products,
                HoldReason::Unreadable,
            ),
            (products > 0 && self.last.is_some_and(lists_few), HoldReason::Replaced),
            (
                products > 0 && currency.is_some_and(|before| before != self.currency),
                HoldReason::Currency,
            ),
            (self.titles_changed(config), HoldReason::Titles),
            // Products missing in an incomplete crawl may come after its end, even if they are few.
            (self.truncated && is_lost, HoldReason::Cut),
            // Products may also come later if the store reports more than it listed, and the difference is larger than
            // usual.
            (is_lost && self.unlisted() > before.unlisted, HoldReason::Short),
            (
                is_lost && !is_few(products) && is_few(before.most),
                HoldReason::Dwindled,
            ),
        ];
        let holding = doubts.into_iter().filter(|(holds, _)| *holds);
        holding.map(|(_, doubt)| doubt).collect()
    }

    fn prices_fell(&self, config: &CollapseConfig) -> bool {
        let Drift { variants, fallen, .. } = self.drift;
        let is_many = fallen > DIFFERENCE_IGNORED || fallen == variants;
        fallen > 0 && is_many && fallen as f64 >= variants as f64 * config.prices_fallen_share
    }

    fn titles_changed(&self, config: &CollapseConfig) -> bool {
        let Drift { products, retitled, .. } = self.drift;
        let is_many = retitled > DIFFERENCE_IGNORED || (retitled > 1 && retitled == products);
        is_many && retitled as f64 >= products as f64 * config.titles_replaced_share
    }

    fn unlisted(&self) -> u64 {
        self.stated.unwrap_or(0).saturating_sub(self.listed)
    }

    /// Returns `None` if the reason is the number of remaining products.
    pub(crate) fn affected(&self, doubt: HoldReason, before: LakeFigures) -> Option<Affected> {
        let (count, of) = match doubt {
            HoldReason::Prices => (self.drift.fallen, self.drift.variants),
            HoldReason::Titles => (self.drift.retitled, self.drift.products),
            HoldReason::Short => (self.listed, self.stated?),
            HoldReason::Dwindled => (self.products, before.most),
            _ => return None,
        };
        Some(Affected { count, of })
    }

    /// Returns true if a second crawl with the same result confirms the change of a brand with `before` products. A
    /// fault that may have hidden the products can repeat.
    pub(super) fn is_confirmed_by_repetition(self, before: u64) -> bool {
        if self.products == 0 {
            return self.stated == Some(0);
        }
        let missing = before.saturating_sub(self.products);
        let records = self.products.saturating_add(self.unreadable);
        let explains_half = self.unreadable > 0 && self.unreadable.saturating_mul(2) >= missing;
        !explains_half && self.unreadable.saturating_mul(10) <= records
    }
}

/// Crawl with reasons to hold it back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoubtedCrawl<'a> {
    pub(crate) before: LakeFigures,
    pub(crate) found: CrawlFigures,
    pub(crate) doubts: &'a [HoldReason],
    /// Products that the crawl would add or remove.
    pub(crate) changed: &'a ChangedSample,
}

/// Returns true if the crawl matches the held-back one and is now confirmed by the operator, or by another run if a
/// repetition is meaningful.
pub(crate) fn is_confirmed(config: &CollapseConfig, doubted: DoubtedCrawl<'_>, run: &RunId, held: &HeldCrawl) -> bool {
    let DoubtedCrawl {
        before,
        found,
        doubts,
        changed,
    } = doubted;
    let products = found.products;
    let difference = held.products_found.abs_diff(products);
    let tolerated = held.products_found.max(products) as f64 * config.tolerance;
    // Zero products do not match a few, and amounts in different currencies do not match.
    let both_empty = (held.products_found == 0) == (products == 0);
    let same_money = held.currency.is_none_or(|currency| currency == found.currency);
    let alike = both_empty && same_money && (difference <= DIFFERENCE_IGNORED || difference as f64 <= tolerated);
    // A crawl held back for another reason may have had the same size.
    let was_held = |doubt: &HoldReason| held.doubt == Some(*doubt) || held.doubts.contains(doubt);
    let same_doubts = doubts.iter().all(|doubt| doubt.is_of_loss() || was_held(doubt));
    let held_found = CrawlFigures {
        products: held.products_found,
        unreadable: held.quarantined,
        ..found
    };
    let repeated = held.run != *run
        && changed.repeats(&held.changed, config.tolerance)
        && doubts.iter().all(|doubt| doubt.may_be_repeated())
        && found.is_confirmed_by_repetition(before.products)
        && held_found.is_confirmed_by_repetition(before.products);
    alike && same_doubts && (held.confirmed || repeated)
}
