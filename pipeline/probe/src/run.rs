use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_recursion::async_recursion as boxed;
use data_lake::{BrandRow, LakeError, LakeSnapshot, StoreUpdate};
use data_model::{Brand, BrandSlug, DeliveryProbe, DeliveryZone, KnownDelivery};
use data_pincodes::directory;
use futures::future::BoxFuture;
use futures::{StreamExt as _, TryStreamExt as _};
use pipeline_delivery::{CartVariant, Carts, infer, next_questions};
use pipeline_task::StoreDeps;
use serde::Serialize;
use storefront::{NotAsked, Store, under};
use url::Url;

use crate::abroad::{nowhere, ships_to_india};
use crate::ask::AskError;
use crate::brand::{BrandProbed, ProbeContext, ProbeOutcome, ask_all};
use crate::config::ProbeOptions;

/// Period of the daily budget, in milliseconds.
const DAY_MS: i64 = 24 * 3_600_000;

/// Currency of stores that sell in India.
const RUPEE: &str = "INR";

/// Number of questions that the run may still send, for all stores together.
#[derive(Debug)]
struct QuestionBudget(AtomicUsize);

impl QuestionBudget {
    /// Reserves up to `wanted` questions from the budget and returns the number reserved.
    fn take(&self, wanted: usize) -> usize {
        let taken = |left: usize| Some(left - left.min(wanted));
        let before = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, taken);
        before.map_or(0, |before| before.min(wanted))
    }

    fn is_used(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    fn give_back(&self, unused: usize) {
        self.0.fetch_add(unused, Ordering::SeqCst);
    }
}

/// Report of a probe run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ProbeReport {
    /// Result of each brand, in the order of their stores.
    pub brands: Vec<BrandProbed>,
}

impl ProbeReport {
    /// Returns the number of answers in this run.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.brands.iter().map(|brand| brand.asked).sum()
    }

    /// Returns the number of brands with this outcome.
    #[must_use]
    pub fn count(&self, outcome: ProbeOutcome) -> usize {
        self.brands.iter().filter(|brand| brand.outcome == outcome).count()
    }
}

/// Error that stops a run.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The lake cannot be read or written.
    #[error(transparent)]
    Lake(#[from] LakeError),
    /// A named brand is not in the lake.
    #[error("the lake has no brand {slug}: run `haat crawl` to add it")]
    UnknownBrand {
        /// Slug of the brand.
        slug: String,
    },
}

/// Queries several brands concurrently and commits the answers of each brand when it is finished. If a brand fails, the
/// run continues.
///
/// # Errors
/// The lake cannot be read or written, or a brand is not in the lake.
#[boxed]
pub async fn probe(deps: &StoreDeps, options: &ProbeOptions) -> Result<ProbeReport, ProbeError> {
    let snapshot = deps.lake.newest_snapshot().await?;
    let mut rows = snapshot.brands().await?;
    if let Some(only) = &options.only {
        let has = |slug: &&BrandSlug| rows.iter().any(|row| row.brand.slug == **slug);
        if let Some(slug) = only.iter().find(|slug| !has(slug)) {
            return Err(ProbeError::UnknownBrand { slug: slug.to_string() });
        }
        rows.retain(|row| only.contains(&row.brand.slug));
    }
    let (snapshot, left) = (&snapshot, &QuestionBudget(AtomicUsize::new(options.budget_per_run)));
    let one = |row: BrandRow| -> BoxFuture<'_, Result<Option<BrandProbed>, ProbeError>> {
        Box::pin(async move {
            if deps.cancel.is_cancelled() {
                return Ok(None);
            }
            let probed = of_brand(deps, options, left, snapshot, &row).await?;
            tracing::info!(brand = %row.brand.slug, outcome = ?probed.outcome, asked = probed.asked, "a store was queried for delivery");
            Ok(Some(probed))
        })
    };
    let asked: Vec<_> = rows.into_iter().map(one).collect();
    let asked = futures::stream::iter(asked).buffered(options.stores_concurrent.max(1));
    let brands: Vec<Option<BrandProbed>> = asked.try_collect().await?;
    Ok(ProbeReport {
        brands: brands.into_iter().flatten().collect(),
    })
}

async fn of_brand(
    deps: &StoreDeps,
    options: &ProbeOptions,
    left: &QuestionBudget,
    snapshot: &LakeSnapshot,
    row: &BrandRow,
) -> Result<BrandProbed, ProbeError> {
    let brand = &row.brand;
    let (mut told, open) = open_questions(deps, options, snapshot, row).await?;
    let Some(open) = open else { return Ok(told) };
    if options.dry_run {
        let budget = left.take(open.of_day);
        told.asked = open.wanted.min(budget);
        left.give_back(budget - told.asked);
        return Ok(told);
    }
    if open.of_day == 0 || left.is_used() {
        return Ok(told);
    }
    let asking = async {
        match open.carts {
            // The future is large.
            Some(_) => Box::pin(ask_and_keep(deps, options, left, row)).await,
            None => of_countries(deps, left, brand, told.clone()).await,
        }
    };
    let asked = under(deps.rights.as_deref(), &brand.store, deps.cancel.cancelled(), asking).await;
    (told.outcome, told.detail) = match asked {
        Ok(asked) => return asked,
        Err(NotAsked::Stopped) => (ProbeOutcome::Stopped, None),
        Err(error @ NotAsked::ByAnother(_)) => (ProbeOutcome::Skipped, Some(error.to_string())),
        Err(error) => (ProbeOutcome::Failed, Some(error.to_string())),
    };
    Ok(told)
}

#[derive(Debug)]
struct OpenProbes {
    /// Carts for the questions. `None` if the store sells in another currency and is queried only for its shipping
    /// countries.
    carts: Option<Carts>,
    /// Answers that are recent enough to keep.
    probes: Vec<DeliveryProbe>,
    wanted: usize,
    /// Number of questions that may be sent today.
    of_day: usize,
}

impl OpenProbes {
    /// The single question is for the store's shipping countries.
    const fn countries() -> Self {
        Self {
            carts: None,
            probes: Vec::new(),
            wanted: 1,
            of_day: 1,
        }
    }
}

/// Returns the unanswered questions of a brand in a snapshot. If there are none, the outcome gives the reason.
async fn open_questions(
    deps: &StoreDeps,
    options: &ProbeOptions,
    snapshot: &LakeSnapshot,
    row: &BrandRow,
) -> Result<(BrandProbed, Option<OpenProbes>), ProbeError> {
    let brand = &row.brand;
    let mut told = BrandProbed {
        brand_slug: brand.slug.to_string(),
        outcome: ProbeOutcome::Abroad,
        asked: 0,
        probes: 0,
        zones: 0,
        detail: None,
    };
    let of_store = BTreeSet::from([brand.store.clone()]);
    let held = snapshot.known_delivery(Some(&of_store)).await?.remove(&brand.store);
    let held = held.unwrap_or_default();
    (told.probes, told.zones) = (held.probes.len(), held.zones.len());
    let now = deps.clock.now();
    // An answer with a date in the future, from a wrong clock, is requested again.
    let fresh_ms = i64::from(options.fresh_days) * DAY_MS;
    if brand.currency.as_str() != RUPEE {
        let is_fresh = |zone: &DeliveryZone| !zone.sampled_at.is_past_by(now, fresh_ms);
        let open = (!held.zones.iter().any(is_fresh)).then(OpenProbes::countries);
        return Ok((told, open));
    }
    let mut probes = held.probes;
    probes.retain(|probe| !probe.asked_at.is_past_by(now, fresh_ms));
    let today = probes
        .iter()
        .filter(|probe| !probe.asked_at.is_past_by(now, DAY_MS))
        .count();
    let on_sale = snapshot.on_sale(&brand.store).await?.into_iter();
    let variants: Vec<CartVariant> = on_sale
        .map(|(id, price_minor, grams)| CartVariant { id, price_minor, grams })
        .collect();
    let Some(carts) = Carts::of(brand.currency, &variants, &probes) else {
        told.outcome = ProbeOutcome::NothingToBuy;
        return Ok((told, None));
    };
    let wanted = next_questions(directory(), &carts, &probes).len();
    if wanted == 0 {
        told.outcome = ProbeOutcome::Complete;
        return Ok((told, None));
    }
    told.outcome = ProbeOutcome::BudgetUsed;
    let open = OpenProbes {
        carts: Some(carts),
        probes,
        wanted,
        of_day: options.budget_per_day.saturating_sub(today),
    };
    Ok((told, Some(open)))
}

/// The right to the store lasts until the commit, so that the answers of a concurrent run are not overwritten.
async fn ask_and_keep(
    deps: &StoreDeps,
    options: &ProbeOptions,
    left: &QuestionBudget,
    row: &BrandRow,
) -> Result<BrandProbed, ProbeError> {
    let brand = &row.brand;
    let snapshot = deps.lake.newest_snapshot().await?;
    let (mut told, open) = open_questions(deps, options, &snapshot, row).await?;
    let Some(OpenProbes {
        carts: Some(mut carts),
        mut probes,
        of_day,
        ..
    }) = open
    else {
        return Ok(told);
    };
    let budget = left.take(of_day);
    if budget == 0 {
        return Ok(told);
    }
    let before = probes.len();
    let asked = async {
        let store = store_of(deps, brand)?;
        let mut context = ProbeContext {
            store: &store,
            carts: &mut carts,
            deps,
        };
        Box::pin(ask_all(&mut context, &mut probes, budget)).await
    };
    (told.outcome, told.detail) = match asked.await {
        Ok(outcome) => (outcome, None),
        Err(AskError::OtherGoods) => (ProbeOutcome::CatalogueTooOld, None),
        Err(error) => (ProbeOutcome::Failed, Some(error.to_string())),
    };
    told.asked = probes.len() - before;
    left.give_back(budget.saturating_sub(told.asked));
    if told.asked > 0 {
        let known: KnownDelivery = infer(directory(), &carts, &probes);
        (told.probes, told.zones) = (known.probes.len(), known.zones.len());
        let known = vec![StoreUpdate::new(brand.store.clone(), brand.slug.clone(), known)];
        deps.lake.commit_delivery(known).await?;
    }
    Ok(told)
}

/// Queries a store with another currency for its shipping countries. If it does not ship to India, this is committed.
async fn of_countries(
    deps: &StoreDeps,
    left: &QuestionBudget,
    brand: &Brand,
    mut told: BrandProbed,
) -> Result<BrandProbed, ProbeError> {
    if left.take(1) == 0 {
        return Ok(told);
    }
    let asked = async { ships_to_india(&store_of(deps, brand)?).await };
    let known = match asked.await {
        Ok(Some(false)) => nowhere(brand, deps.clock.now()),
        Ok(_) => KnownDelivery::default(),
        Err(error) => {
            (told.outcome, told.detail) = (ProbeOutcome::Failed, Some(error.to_string()));
            return Ok(told);
        }
    };
    (told.asked, told.probes, told.zones) = (1, 0, known.zones.len());
    let known = vec![StoreUpdate::new(brand.store.clone(), brand.slug.clone(), known)];
    deps.lake.commit_delivery(known).await?;
    Ok(told)
}

fn store_of(deps: &StoreDeps, brand: &Brand) -> Result<Store, AskError> {
    let base_url = Url::parse(&brand.base_url).map_err(|error| AskError::Unreadable(error.to_string()))?;
    let store = deps.storefront.store(&base_url)?;
    Ok(store.with_own_hosts([brand.domain.as_str(), brand.store.as_str()]))
}
