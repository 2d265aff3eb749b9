use data_checks::{Check, CheckOutcome, Checks};
use data_index::{DeliveryMatrix, Release};
use data_model::{KnownShipping, ShippingCoverage};
use data_release::Current;

use super::{TIER, provenance};
use crate::schema::{
    CheckStats, CurrencyStats, OutcomeStats, RefreshStats, ReleaseStats, ShippingStats, Stats, StatsAnswer,
};

/// Counts the brands for which each shipping fact is known.
pub(crate) fn coverage(release: &Release) -> ShippingCoverage {
    let mut coverage = ShippingCoverage::default();
    for (at, brand) in release.brands().iter().enumerate() {
        let matrix = release.delivery(at);
        coverage.count(KnownShipping {
            policy: brand.facts.shipping.as_ref(),
            has_matrix: matrix.is_some(),
            has_days: matrix.is_some_and(DeliveryMatrix::has_days),
        });
    }
    coverage
}

/// Returns the totals of a release and of the last checks of its brands.
pub(crate) fn stats<'a>(release: &Release, current: &Current, id: &'a str, checks: &Checks) -> StatsAnswer<'a> {
    let counts = release.counts();
    let currencies = counts.currencies.iter().map(|one| CurrencyStats {
        currency: one.currency.as_str().into(),
        products: one.products,
    });
    let known = coverage(release);
    let refreshed = || release.brands().iter().map(|brand| brand.facts.refreshed_at);
    StatsAnswer {
        data: Stats {
            brands: counts.brands,
            products: counts.products,
            variants: counts.variants,
            in_stock: counts.in_stock,
            on_sale: counts.on_sale,
            reviews: counts.reviews,
            categories: counts.categories,
            currencies: currencies.collect(),
            pincodes_covered: release.pincodes_covered(),
            shipping_known: ShippingStats {
                threshold: known.threshold,
                cod: known.cod,
                days: known.days,
                matrix: known.matrix,
            },
            release: ReleaseStats {
                id: id.into(),
                published_at: current.published_at,
            },
            refreshed_at: RefreshStats {
                oldest: refreshed().min(),
                newest: refreshed().max(),
            },
            checked_at: checked_at(release, checks),
            check_outcomes: outcomes(release, checks),
        },
        provenance: provenance(id),
        tier: TIER,
    }
}

fn known<'a>(release: &'a Release, checks: &'a Checks) -> impl Iterator<Item = &'a Check> {
    let brands = release.brands().iter();
    brands.filter_map(|brand| checks.of(&brand.facts.brand.store))
}

fn checked_at(release: &Release, checks: &Checks) -> CheckStats {
    let checked = || known(release, checks).map(|check| check.checked_at);
    CheckStats {
        oldest: checked().min(),
        newest: checked().max(),
    }
}

fn outcomes(release: &Release, checks: &Checks) -> OutcomeStats {
    let of = |outcome| known(release, checks).filter(|check| check.outcome == outcome).count() as u64;
    OutcomeStats {
        changed: of(CheckOutcome::Changed),
        unchanged: of(CheckOutcome::Unchanged),
        held_back: of(CheckOutcome::HeldBack),
        failed: of(CheckOutcome::Failed),
        never_checked: (release.brands().len() - known(release, checks).count()) as u64,
    }
}
