//! Doubts for which a crawl is not believed at once, and the word that confirms it.

use data_model::{CurrencyCode, RunId};
use pipeline_crawl::{LastListed, StoreCrawl};
use serde::{Deserialize, Serialize};

use super::{Drift, HeldCrawl};
use crate::CollapseConfig;
use crate::prepare::PreparedCrawl;

/// Counts this small differ by chance.
const DIFFERENCE_IGNORED: u64 = 5;
/// Of so many products that cannot be read any more one is a few percent.
const UNREADABLE_SHARE: u64 = 20;
/// A brand of so many products at least is replaced when fewer than one of [`REPLACED_SHARE`] are still listed.
const REPLACED_MIN: u64 = 10;
const REPLACED_SHARE: u64 = 5;

/// The reason why a crawl is not believed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    /// It found nothing where the brand has products, or the store counts some.
    Emptied,
    /// It found far fewer products.
    Shrank,
    /// It found fewer without having come to the catalogue's end.
    Cut,
    /// More than a few products that the brand has are listed in a way that cannot be understood.
    Unreadable,
    /// Hardly a product that the last crawl listed is listed still.
    Replaced,
    /// Its prices are in another currency.
    Currency,
    /// Many prices fell to next to nothing.
    Prices,
    /// Many products have quite another title.
    Titles,
    /// It listed fewer products than the store counts, and the brand would lose some.
    Short,
    /// Over the last days the brand would have lost most of its products, though little by little.
    Dwindled,
}

impl HoldReason {
    /// It in one word.
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

    /// True where it is about products that would be gone.
    pub(crate) const fn is_of_loss(self) -> bool {
        matches!(
            self,
            Self::Emptied | Self::Shrank | Self::Cut | Self::Short | Self::Dwindled
        )
    }

    /// True where a second crawl that finds the same may confirm it: a price of next to nothing is a fault however often it is
    /// shown, and so is a record that cannot be read.
    #[must_use]
    pub const fn may_be_repeated(self) -> bool {
        !matches!(self, Self::Prices | Self::Unreadable)
    }
}

/// The number of products or prices that a doubt is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Affected {
    /// So many …
    pub count: u64,
    /// … of so many.
    pub of: u64,
}

/// The lake's content of a brand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LakeFigures {
    /// Products.
    pub(crate) products: u64,
    /// The most that it had in the last days.
    pub(crate) most: u64,
    /// The excess of the store's own count over the products that it listed when the lake took them in.
    pub(crate) unlisted: u64,
    /// The currency of their prices; `None` of a brand that it does not have, and of one whose currency the operator
    /// states.
    pub(crate) currency: Option<CurrencyCode>,
}

/// The finds of a crawl of a brand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrawlFigures {
    /// Products.
    pub(crate) products: u64,
    /// Records that make no product.
    pub(crate) unreadable: u64,
    /// Products of the brand among these.
    pub(crate) kept: u64,
    /// Of these the ones of which that is new.
    pub(crate) newly_kept: u64,
    /// The currency of the prices.
    pub(crate) currency: CurrencyCode,
    /// The fate of the products of the last crawl.
    pub(crate) last: Option<LastListed>,
    /// Products that the store says it has.
    pub(crate) stated: Option<u64>,
    /// Products that it listed, those that could not be understood too.
    pub(crate) listed: u64,
    /// The degree to which the others have become other ones.
    pub(crate) drift: Drift,
    /// The crawl ended before the store's catalogue did.
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

    /// The reasons not to believe at once that a brand has become this, the gravest first; empty if it is believed.
    pub(crate) fn doubts(&self, config: &CollapseConfig, before: LakeFigures) -> Vec<HoldReason> {
        let LakeFigures { products, currency, .. } = before;
        // A record that could not be read before either is no news.
        let known = self.products + self.kept.saturating_sub(self.newly_kept);
        let missing = products.saturating_sub(known);
        // Shares of counts need no more precision than a float has.
        let is_few =
            |of: u64| (known as f64) < of as f64 * config.share_min && of.saturating_sub(known) >= config.drop_min;
        let lists_few = |last: LastListed| {
            let still = last.products.saturating_sub(last.gone);
            last.products >= REPLACED_MIN && still.saturating_mul(REPLACED_SHARE) < last.products
        };
        let is_lost = missing > self.newly_kept;
        let doubts = [
            // Of a new brand too: a store that counts products and lists none shows a fault.
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
            // Products that a crawl that did not come to the end lacks may be behind that end, however few they are.
            (self.truncated && is_lost, HoldReason::Cut),
            // So may what the store counts and did not list, as far as that is more than it never lists.
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

    /// The number of products or prices that the doubt is about, where that is not the products that are left.
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

    /// True where a second crawl that finds the same says anything about a brand that had `before` products: the cause that
    /// makes products disappear here may well be a fault, and faults come twice.
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

/// A crawl that is not believed at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoubtedCrawl<'a> {
    pub(crate) before: LakeFigures,
    pub(crate) found: CrawlFigures,
    pub(crate) doubts: &'a [HoldReason],
}

/// True where the find is the one that was held back, and that is confirmed by now: by the operator, or by another run, where
/// finding the same again says anything.
pub(crate) fn is_confirmed(
    config: &CollapseConfig,
    DoubtedCrawl { before, found, doubts }: DoubtedCrawl<'_>,
    run: &RunId,
    held: &HeldCrawl,
) -> bool {
    let products = found.products;
    let difference = held.products_found.abs_diff(products);
    let tolerated = held.products_found.max(products) as f64 * config.tolerance;
    // Few products are not about the same as none, nor are amounts in one currency like those in another.
    let both_empty = (held.products_found == 0) == (products == 0);
    let same_money = held.currency.is_none_or(|currency| currency == found.currency);
    let alike = both_empty && same_money && (difference <= DIFFERENCE_IGNORED || difference as f64 <= tolerated);
    // A crawl that was held back for another reason may have been of the same size.
    let was_held = |doubt: &HoldReason| held.doubt == Some(*doubt) || held.doubts.contains(doubt);
    let same_doubts = doubts.iter().all(|doubt| doubt.is_of_loss() || was_held(doubt));
    let held_found = CrawlFigures {
        products: held.products_found,
        unreadable: held.quarantined,
        ..found
    };
    let repeated = held.run != *run
        && doubts.iter().all(|doubt| doubt.may_be_repeated())
        && found.is_confirmed_by_repetition(before.products)
        && held_found.is_confirmed_by_repetition(before.products);
    alike && same_doubts && (held.confirmed || repeated)
}
