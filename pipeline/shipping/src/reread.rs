//! Reads what stores answered before again, without asking them: after a change of how texts are understood.

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

/// One brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadBrand {
    /// The brand.
    pub brand: BrandSlug,
    /// Its outcome.
    pub outcome: RereadOutcome,
    /// The moment at which it was asked for the texts that were read.
    pub asked_at: Option<Timestamp>,
    /// Facts that are stated now and were not.
    pub facts_added: u64,
    /// Facts that were stated and are not.
    pub facts_gone: u64,
    /// Facts that stay.
    pub facts_same: u64,
}

impl RereadBrand {
    /// A brand of which nothing is known yet.
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

/// All brands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RereadTotals {
    /// Brands.
    #[serde(flatten)]
    pub counts: RereadCounts,
    /// Facts that are stated now and were not.
    pub facts_added: u64,
    /// Facts that were stated and are not.
    pub facts_gone: u64,
}

/// The work of reading again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RereadShipping {
    /// The run wrote nothing.
    pub dry_run: bool,
    /// The moment that `haat lake restore` takes the terms back to; `None` where nothing was there.
    pub undo_as_of: Option<Timestamp>,
    /// In numbers.
    pub totals: RereadTotals,
    /// Each brand, by its slug.
    pub brands: Vec<RereadBrand>,
}

type Terms = StoreUpdate<Option<ShippingPolicy>>;

/// Makes of what stores answered the terms that the lake has, as [`crate::refresh_shipping`] would of the same answers. It is
/// the newest answer in the range that counts: to a refresh of shipping terms, or the policies that a crawl landed. What was
/// done before an error stays, and a second call goes on.
///
/// # Errors
/// [`TaskError`].
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

/// A reading at work.
struct TermsReread<'a> {
    options: &'a RereadOptions,
    deps: &'a StoreDeps,
    /// The lake before it.
    snapshot: LakeSnapshot,
    /// The runs that landed policies, by store.
    crawled: BTreeMap<StoreHost, Vec<RunId>>,
    /// The terms that the lake has of the stores of a batch.
    held: BTreeMap<StoreHost, ShippingPolicy>,
    brands: Vec<RereadBrand>,
}

/// A brand that was read, and its terms that are to come.
#[derive(Debug)]
struct Reading {
    one: RereadBrand,
    change: Option<Change>,
}

/// A brand's terms that are to come.
#[derive(Debug)]
struct Change {
    terms: Terms,
    /// The moment at which the newest of all was landed.
    newest: Option<Timestamp>,
    /// The terms that the lake had.
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
        // Before anything of it is read.
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

    /// Commits the terms of stores of which nothing was landed or committed meanwhile: a refresh lands what it was answered
    /// before it commits that, and what is newer stays.
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

/// The newest answer of a store in the range, and when the newest of all was given.
#[derive(Debug)]
struct LandedAnswer {
    told: Option<(StoreTexts, Timestamp)>,
    last_at: Option<Timestamp>,
}

/// Reads one brand's newest answer, and what the lake is to have of it where that is something else.
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
    // The lake itself does not have the moment at which a store said that it has no terms any more.
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
    // A landing of before the brand was registered is that of a brand that was removed.
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

/// Terms without when they were read.
fn says(policy: &ShippingPolicy) -> ShippingPolicy {
    let mut policy = policy.clone();
    if let Some(terms) = &mut policy.terms {
        terms.observed_at = Timestamp::from_micros(0);
    }
    policy
}

/// The newest answer of a store, to whomever it was given. Of the policies that crawls landed, those without one for shipping
/// say nothing: the store's pages were not asked then.
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
            // The policy is newer than the one that was read then; the other texts are the newest of their place.
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

/// The moment at which a run had begun, as its id states: `20261121T012725Z-3f9a01c7`. It is the end of that second,
/// since brands may have been registered within it.
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

        // A refresh landed an answer since, and has not committed it.
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

        // The lake has other terms since.
        let newer = vec![StoreUpdate::new(
            brand.store.clone(),
            brand.slug.clone(),
            Some(new.clone()),
        )];
        lake.commit_shipping(newer).await.unwrap();
        let (one, rows) = taken(None, Some(at)).await;
        assert_eq!((one.outcome, rows.as_ref()), (RereadOutcome::Older, Some(&new)));

        // No other write came between.
        let (one, rows) = taken(Some(&new), Some(at)).await;
        assert_eq!((one.outcome, rows.as_ref()), (RereadOutcome::Changed, Some(&old)));
    }
}
