//! Rereads landed answers of stores after a change of the parsing rules, without querying the stores again.

use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use async_trait::async_trait;
use data_lake::{LakeSnapshot, StoreUpdate};
use data_model::{BrandSlug, RunId, ShippingFact, ShippingPolicy, StoreHost, Timestamp};
use data_storage::Storage;
use pipeline_crawl::{RegisteredBrand, landed_policies, read_policies};
use pipeline_policies::policy;
use pipeline_task::{DueBrand, RereadCounts, RereadOptions, RereadOutcome, StoreDeps, StoreTask, TaskError, run};
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::landing::{newest, newest_at};
use crate::terms::{Place, StoreTexts, TextTerms, said, shipping_policy};

/// Result of rereading one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadBrand {
    /// Slug of the brand.
    pub brand: BrandSlug,
    /// Outcome for the brand.
    pub outcome: RereadOutcome,
    /// Time at which the store was queried for the texts that were read.
    pub asked_at: Option<Timestamp>,
    /// Number of facts stated now but not before.
    pub facts_added: u64,
    /// Number of facts stated before but not now.
    pub facts_gone: u64,
    /// Number of facts that did not change.
    pub facts_same: u64,
}

impl RereadBrand {
    fn new(brand: &BrandSlug) -> Self {
        Self {
            brand: brand.clone(),
            outcome: RereadOutcome::NotInLake,
            asked_at: None,
            facts_added: 0,
            facts_gone: 0,
            facts_same: 0,
        }
    }
}

/// Totals over all brands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RereadTotals {
    /// Number of brands by outcome.
    #[serde(flatten)]
    pub counts: RereadCounts,
    /// Number of facts stated now but not before.
    pub facts_added: u64,
    /// Number of facts stated before but not now.
    pub facts_gone: u64,
}

/// Report of a reread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadShipping {
    /// True if the run was a dry run, which writes nothing.
    pub dry_run: bool,
    /// Time for `haat lake restore` to undo the run. `None` if the lake had no terms before.
    pub undo_as_of: Option<Timestamp>,
    /// Totals over all brands.
    pub totals: RereadTotals,
    /// Result of each brand, by slug.
    pub brands: Vec<RereadBrand>,
}

type Terms = StoreUpdate<Option<ShippingPolicy>>;

/// Parses the landed answers of stores again and commits the resulting terms, as [`crate::refresh_shipping`] would for
/// the same answers. The newest answer in the range is used: the answer to a shipping refresh, or the policies that a
/// crawl landed. Commits before an error stay, and a second call resumes there.
#[boxed]
pub async fn reread_shipping(options: &RereadOptions, deps: &StoreDeps) -> Result<RereadShipping, TaskError> {
    let snapshot = deps.lake.snapshot().await?;
    let undo_as_of = snapshot.decided_at().await?;
    let mut task = TermsReread {
        options,
        deps,
        snapshot,
        crawled: landed_policies(&deps.storage).await?,
        held: BTreeMap::new(),
        brands: Vec::new(),
    };
    run(&mut task, deps, options.only.as_deref()).await?;
    let mut brands = task.brands;
    brands.sort_by(|one, other| one.brand.cmp(&other.brand));
    Ok(RereadShipping {
        dry_run: options.dry_run,
        undo_as_of,
        totals: totals(&brands),
        brands,
    })
}

struct TermsReread<'a> {
    options: &'a RereadOptions,
    deps: &'a StoreDeps,
    /// Snapshot of the lake from before the reread.
    snapshot: LakeSnapshot,
    crawled: BTreeMap<StoreHost, Vec<RunId>>,
    /// Terms in the lake of the stores of a batch.
    held: BTreeMap<StoreHost, ShippingPolicy>,
    brands: Vec<RereadBrand>,
}

#[derive(Debug)]
struct Reading {
    one: RereadBrand,
    change: Option<Change>,
}

#[derive(Debug)]
struct Change {
    terms: Terms,
    /// Time at which the store's newest answer was landed.
    newest: Option<Timestamp>,
    held: Option<ShippingPolicy>,
}

#[async_trait]
impl StoreTask for TermsReread<'_> {
    type Answer = Reading;
    const STORES_AT_ONCE: usize = 1;
    const BATCH: usize = 64;

    async fn is_due(&self, _: &RegisteredBrand, _: Timestamp) -> Result<bool, TaskError> {
        Ok(true)
    }

    fn leave_out(&mut self, brand: &RegisteredBrand) {
        self.brands.push(RereadBrand::new(&brand.slug));
    }

    async fn begin(&mut self, batch: &[DueBrand]) -> Result<(), TaskError> {
        let stores = batch.iter().map(|due| due.brand.store.clone()).collect();
        self.held = self.snapshot.shipping(&stores).await?;
        Ok(())
    }

    async fn ask(&self, due: &DueBrand) -> Result<Option<Reading>, TaskError> {
        let store = &due.brand.store;
        // The newest landing time is read before the texts, so that a later landing is noticed.
        let newest = newest_at(&self.deps.storage, store).await?;
        let held = self.held.get(store);
        let runs = self.crawled.get(store).map_or(&[][..], Vec::as_slice);
        let landed = in_range(self.options, &self.deps.storage, &due.brand, runs).await?;
        let (one, terms) = reread(self.options, due, landed, newest, held).await?;
        let change = terms.filter(|_| !self.options.dry_run).map(|terms| Change {
            terms,
            newest,
            held: held.cloned(),
        });
        Ok(Some(Reading { one, change }))
    }

    /// Commits the new terms of stores for which nothing was landed or committed meanwhile. A refresh lands an answer
    /// before it commits the terms, and newer terms must stay.
    async fn take(&mut self, read: Vec<Reading>) -> Result<(), TaskError> {
        let StoreDeps { lake, storage, .. } = self.deps;
        let changed = read.iter().filter_map(|read| read.change.as_ref());
        let stores: BTreeSet<StoreHost> = changed.map(|change| change.terms.store.clone()).collect();
        let held = match stores.is_empty() {
            true => BTreeMap::new(),
            false => lake.snapshot().await?.shipping(&stores).await?,
        };
        let mut told = Vec::new();
        for Reading { mut one, change } in read {
            if let Some(change) = change {
                let store = &change.terms.store;
                if held.get(store) == change.held.as_ref() && newest_at(storage, store).await? == change.newest {
                    told.push(change.terms);
                } else {
                    one.outcome = RereadOutcome::Older;
                    (one.facts_added, one.facts_gone, one.facts_same) = (0, 0, 0);
                }
            }
            self.brands.push(one);
        }
        if !told.is_empty() {
            lake.commit_shipping(told).await?;
        }
        Ok(())
    }
}

fn totals(brands: &[RereadBrand]) -> RereadTotals {
    RereadTotals {
        counts: RereadCounts::of(brands.iter().map(|one| one.outcome)),
        facts_added: brands.iter().map(|one| one.facts_added).sum(),
        facts_gone: brands.iter().map(|one| one.facts_gone).sum(),
    }
}

/// Newest answer of a store in the range, and the time of the store's newest answer of all.
#[derive(Debug)]
struct LandedAnswer {
    told: Option<(StoreTexts, Timestamp)>,
    last_at: Option<Timestamp>,
}

/// Rereads a brand's newest answer and returns the terms to commit if they differ from the lake.
async fn reread(
    options: &RereadOptions,
    due: &DueBrand,
    landed: LandedAnswer,
    newest: Option<Timestamp>,
    held: Option<&ShippingPolicy>,
) -> Result<(RereadBrand, Option<Terms>), TaskError> {
    let DueBrand { brand, currency } = due;
    let (mut one, currency) = (RereadBrand::new(&brand.slug), *currency);
    let Some((told, at)) = landed.told else {
        one.outcome = RereadOutcome::NothingLanded;
        return Ok((one, None));
    };
    one.asked_at = Some(at);
    // The lake does not record when a store stopped stating terms.
    let terms = held.and_then(|held| held.terms.as_deref());
    let known_at = [newest, landed.last_at, terms.map(|terms| terms.observed_at)];
    if known_at.into_iter().flatten().any(|known_at| known_at > at) && !options.older {
        one.outcome = RereadOutcome::Older;
        return Ok((one, None));
    }
    let now = match spawn_blocking(move || said(&told, currency)).await? {
        TextTerms::Terms { url, reading } => {
            let url = Some(url).filter(|url| !url.is_empty());
            Some(policy(reading, currency, url, at))
        }
        TextTerms::Nothing => None,
        TextTerms::Unknown => {
            one.outcome = RereadOutcome::Unclear;
            return Ok((one, None));
        }
    };
    let facts = |policy: Option<&ShippingPolicy>| -> Vec<ShippingFact> {
        let terms = policy.and_then(|policy| policy.terms.as_deref());
        terms.map(|terms| terms.facts.clone()).unwrap_or_default()
    };
    let (before, after) = (facts(held), facts(now.as_ref()));
    one.facts_same = after.iter().filter(|fact| before.contains(fact)).count() as u64;
    one.facts_added = after.len() as u64 - one.facts_same;
    one.facts_gone = before.iter().filter(|fact| !after.contains(fact)).count() as u64;
    let is_same = match (held, &now) {
        (Some(held), Some(now)) => says(held) == says(now),
        (None, None) => true,
        _ => false,
    };
    if is_same {
        one.outcome = RereadOutcome::Unchanged;
        return Ok((one, None));
    }
    one.outcome = RereadOutcome::Changed;
    Ok((
        one,
        Some(StoreUpdate::new(brand.store.clone(), brand.slug.clone(), now)),
    ))
}

async fn in_range(
    options: &RereadOptions,
    storage: &Storage,
    brand: &RegisteredBrand,
    runs: &[RunId],
) -> Result<LandedAnswer, TaskError> {
    // A landing from before the brand was registered belongs to a brand that was removed.
    let is_own = |at: Timestamp| at >= brand.added_at;
    let is_wanted = |at: Timestamp| {
        is_own(at) && options.from.is_none_or(|from| at >= from) && options.until.is_none_or(|until| at < until)
    };
    let last = newest_told(storage, &brand.store, runs, &is_own).await?;
    let last_at = last.as_ref().map(|(_, at)| *at);
    let told = match last.filter(|(_, at)| is_wanted(*at)) {
        Some(last) => Some(last),
        None => newest_told(storage, &brand.store, runs, &is_wanted).await?,
    };
    Ok(LandedAnswer { told, last_at })
}

fn says(policy: &ShippingPolicy) -> ShippingPolicy {
    let mut policy = policy.clone();
    if let Some(terms) = &mut policy.terms {
        terms.observed_at = Timestamp::from_micros(0);
    }
    policy
}

/// Returns the newest answer of a store, from a refresh or a crawl. Policies of a crawl without a shipping policy are
/// ignored, because the crawl did not request the store's other pages.
async fn newest_told(
    storage: &Storage,
    store: &StoreHost,
    runs: &[RunId],
    is_wanted: &(dyn Fn(Timestamp) -> bool + Sync),
) -> Result<Option<(StoreTexts, Timestamp)>, TaskError> {
    let asked = newest(storage, store, is_wanted).await?;
    let asked_at = asked.as_ref().map(|landed| landed.asked_at);
    for run in runs.iter().rev() {
        let Some(at) = begun_at(run).filter(|at| is_wanted(*at)) else {
            continue;
        };
        if asked_at.is_some_and(|asked_at| asked_at >= at) {
            break;
        }
        let answer = read_policies(storage, run, store).await?;
        if let Some(policy) = answer.and_then(|answer| shipping_policy(&answer)) {
            // The crawled policy is newer than the policy in the refresh's answer. The other texts of the refresh's
            // answer are still the newest.
            let before = asked.map(|landed| landed.told.documents).unwrap_or_default();
            let others = before.iter().filter(|document| document.place != Place::Policy);
            let mut told = StoreTexts {
                documents: std::iter::once(policy).chain(others.cloned()).collect(),
                is_everywhere: true,
            };
            told.recall(&before);
            return Ok(Some((told, at)));
        }
    }
    Ok(asked.map(|landed| (landed.told, landed.asked_at)))
}

/// Returns the start time of a run from its id, such as `20261121T012725Z-3f9a01c7`. Brands may have been registered
/// within that second, so that its end is used.
fn begun_at(run: &RunId) -> Option<Timestamp> {
    let id = run.as_str();
    let part = |from: usize, to: usize| id.get(from..to);
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0, 4)?,
        part(4, 6)?,
        part(6, 8)?,
        part(9, 11)?,
        part(11, 13)?,
        part(13, 15)?
    );
    let second: Timestamp = text.parse().ok()?;
    Some(second.plus_millis(999))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use data_lake::{Lake, LakeConfig, RunSummaryRow};
    use data_model::Clock;
    use kit::SetClock;
    use storefront::{Storefront, StorefrontConfig};

    use super::*;
    use crate::landing::{LandedTexts, land};

    #[test]
    fn the_id_of_a_run_tells_when_it_began() {
        let at = |id: &str| begun_at(&id.parse().unwrap());
        let expected = "2026-11-21T01:27:25.999Z".parse().unwrap();
        assert_eq!(at("20261121T012725Z-3f9a01c7"), Some(expected));
        assert_eq!(at("run-1"), None);
    }

    #[tokio::test]
    async fn what_a_store_answered_or_the_lake_took_meanwhile_stays() {
        let (storage, clock) = (Storage::memory(), SetClock::noon());
        let told: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
        let lake = Lake::open(storage.child("lake"), LakeConfig::default(), Arc::clone(&told))
            .await
            .unwrap();
        let brand = kit::brand("Tea");
        let refresh = kit::refresh(brand.clone(), 1, clock.now(), vec![kit::product(&brand, 1, "Assam")]);
        let run = RunSummaryRow::new(refresh.run.clone(), clock.now());
        lake.commit(vec![refresh], run).await.unwrap();

        let terms = |text: &str| {
            let reading = pipeline_policies::read(text, brand.currency);
            policy(reading, brand.currency, None, clock.now())
        };
        let (old, new) = (terms("Delivery takes 3-5 days."), terms("Delivery takes 6-8 days."));
        let stores = BTreeSet::from([brand.store.clone()]);
        let storefront = Storefront::new(StorefrontConfig::loopback(), Arc::clone(&told)).unwrap();
        let deps = StoreDeps::new(storage.clone(), lake.clone(), storefront, told);
        let options = RereadOptions::default();
        let taken = async |held: Option<&ShippingPolicy>, newest| {
            let mut task = TermsReread {
                options: &options,
                deps: &deps,
                snapshot: lake.snapshot().await.unwrap(),
                crawled: BTreeMap::new(),
                held: BTreeMap::new(),
                brands: Vec::new(),
            };
            let one = RereadBrand {
                outcome: RereadOutcome::Changed,
                facts_added: 1,
                ..RereadBrand::new(&brand.slug)
            };
            let change = Some(Change {
                terms: StoreUpdate::new(brand.store.clone(), brand.slug.clone(), Some(old.clone())),
                newest,
                held: held.cloned(),
            });
            task.take(vec![Reading { one, change }]).await.unwrap();
            let rows = lake.snapshot().await.unwrap().shipping(&stores).await.unwrap();
            (task.brands.remove(0), rows.get(&brand.store).cloned())
        };

        // A refresh has landed a newer answer but not committed it yet.
        let at = clock.now();
        let texts = LandedTexts {
            store: brand.store.clone(),
            asked_at: at,
            told: StoreTexts {
                documents: Vec::new(),
                is_everywhere: true,
            },
        };
        land(&storage, texts, at).await.unwrap();
        let (one, rows) = taken(None, None).await;
        assert_eq!((one.outcome, one.facts_added, rows), (RereadOutcome::Older, 0, None));

        // The lake has received other terms meanwhile.
        let newer = vec![StoreUpdate::new(
            brand.store.clone(),
            brand.slug.clone(),
            Some(new.clone()),
        )];
        lake.commit_shipping(newer).await.unwrap();
        let (one, rows) = taken(None, Some(at)).await;
        assert_eq!((one.outcome, rows.as_ref()), (RereadOutcome::Older, Some(&new)));

        // No other process has changed the store's texts or terms since they were read.
        let (one, rows) = taken(Some(&new), Some(at)).await;
        assert_eq!((one.outcome, rows.as_ref()), (RereadOutcome::Changed, Some(&old)));
    }
}
