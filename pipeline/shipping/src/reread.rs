//! Reads what stores answered before again, without asking them: after a change of how texts are understood.

use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_lake::{Lake, LakeError};
use data_model::{BrandSlug, CurrencyCode, RunId, ShippingFact, ShippingPolicy, StoreHost, Timestamp};
use data_storage::{Storage, StorageError};
use pipeline_crawl::{LandingError, RegisteredBrand, Registry, RegistryError, landed_policies, read_policies};
use pipeline_policies::policy;
use serde::Serialize;
use tokio::task::spawn_blocking;

use crate::landing::{newest, newest_at};
use crate::terms::{Place, StoreTexts, TextTerms, said, shipping_policy};

/// Stores committed at once.
const BATCH: usize = 64;

/// The texts that are to be read again.
#[derive(Debug, Clone, Default)]
pub struct RereadShippingOptions {
    /// These brands; all when `None`.
    pub only: Option<Vec<BrandSlug>>,
    /// Answers from this moment on; of these the newest counts.
    pub from: Option<Timestamp>,
    /// Answers before this moment.
    pub until: Option<Timestamp>,
    /// Takes texts too that are older than what the lake has read, or than what the store answered later.
    pub older: bool,
    /// Reads and compares, and writes nothing.
    pub dry_run: bool,
}

/// The outcome of one brand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RereadOutcome {
    /// Its terms are others now.
    Changed,
    /// They are as they were.
    Unchanged,
    /// No answer of the store was landed in the range.
    NothingLanded,
    /// The store answered something newer, or the lake has that.
    Older,
    /// The texts say nothing now, and more may stand where it was not asked: what is known stays.
    Unclear,
    /// No crawl brought it yet.
    NotInLake,
}

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

/// All brands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RereadTotals {
    /// Brands that were to be read.
    pub brands: u64,
    /// Of these, whose terms changed.
    pub changed: u64,
    /// Those whose terms are as they were.
    pub unchanged: u64,
    /// The brands that were left as they are.
    pub left: u64,
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

/// The reason why nothing more could be read again.
#[derive(Debug, thiserror::Error)]
pub enum RereadShippingError {
    /// The registry cannot be read.
    #[error("the registry cannot be read")]
    Registry(#[from] RegistryError),
    /// The lake cannot be read or written.
    #[error("the lake cannot be read or written")]
    Lake(#[from] LakeError),
    /// The landed texts cannot be read.
    #[error("the landed answers cannot be read")]
    Storage(#[from] StorageError),
    /// The landings of crawls cannot be listed or read.
    #[error("the landed pages of crawls cannot be read")]
    Landing(#[from] LandingError),
    /// A task of this program broke off.
    #[error("a worker broke off")]
    Worker(#[from] tokio::task::JoinError),
    /// A brand is not registered.
    #[error("no brand is registered as {0}")]
    Brand(BrandSlug),
}

type Terms = (StoreHost, BrandSlug, Option<ShippingPolicy>);

/// Makes of what stores answered the terms that the lake has, as [`crate::refresh_shipping`] would of the same answers. It is
/// the newest answer in the range that counts: to a refresh of shipping terms, or the policies that a crawl landed. What was
/// done before an error stays, and a second call goes on.
///
/// # Errors
/// [`RereadShippingError`].
#[boxed]
pub async fn reread_shipping(
    options: &RereadShippingOptions,
    storage: &Storage,
    lake: &Lake,
) -> Result<RereadShipping, RereadShippingError> {
    let registry = Registry::load(storage).await?;
    for slug in options.only.iter().flatten() {
        if registry.brand(slug).is_none() {
            return Err(RereadShippingError::Brand(slug.clone()));
        }
    }
    let snapshot = lake.snapshot().await?;
    let rows = snapshot.brands().await?;
    let currencies: BTreeMap<StoreHost, CurrencyCode> = rows
        .into_iter()
        .map(|row| (row.brand.store, row.brand.currency))
        .collect();
    let crawled = landed_policies(storage).await?;
    let wanted = |brand: &&RegisteredBrand| options.only.as_ref().is_none_or(|only| only.contains(&brand.slug));
    let brands: Vec<RegisteredBrand> = registry.brands().into_iter().filter(wanted).cloned().collect();
    let mut report = RereadShipping {
        dry_run: options.dry_run,
        undo_as_of: snapshot.decided_at().await?,
        totals: RereadTotals::default(),
        brands: Vec::new(),
    };
    for batch in brands.chunks(BATCH) {
        let stores: BTreeSet<StoreHost> = batch.iter().map(|brand| brand.store.clone()).collect();
        let held = snapshot.shipping(&stores).await?;
        let mut changes = Vec::new();
        for brand in batch {
            let known = (currencies.get(&brand.store).copied(), held.get(&brand.store));
            let runs = crawled.get(&brand.store).map_or(&[][..], Vec::as_slice);
            // Before anything of it is read.
            let newest = newest_at(storage, &brand.store).await?;
            let (one, terms) = Box::pin(reread(options, storage, (brand, runs, newest), known)).await?;
            changes.extend(terms.map(|terms| Change {
                at: report.brands.len(),
                terms,
                newest,
                held: held.get(&brand.store).cloned(),
            }));
            report.brands.push(one);
        }
        if !options.dry_run {
            Box::pin(write(changes, &mut report.brands, (storage, lake))).await?;
        }
    }
    report.brands.sort_by(|one, other| one.brand.cmp(&other.brand));
    report.totals = totals(&report.brands);
    Ok(report)
}

/// A brand's terms that are to come.
#[derive(Debug)]
struct Change {
    /// The index of the brand among those that are listed.
    at: usize,
    terms: Terms,
    /// The moment at which the newest of all was landed.
    newest: Option<Timestamp>,
    /// The terms that the lake had.
    held: Option<ShippingPolicy>,
}

/// Commits the terms of stores of which nothing was landed or committed meanwhile: a refresh lands what it was answered before it
/// commits that, and what is newer stays.
async fn write(
    changes: Vec<Change>,
    brands: &mut [RereadBrand],
    (storage, lake): (&Storage, &Lake),
) -> Result<(), RereadShippingError> {
    if changes.is_empty() {
        return Ok(());
    }
    let stores: BTreeSet<StoreHost> = changes.iter().map(|change| change.terms.0.clone()).collect();
    let held = lake.snapshot().await?.shipping(&stores).await?;
    let mut told = Vec::new();
    for change in changes {
        let store = &change.terms.0;
        let is_overtaken = held.get(store) != change.held.as_ref() || newest_at(storage, store).await? != change.newest;
        if !is_overtaken {
            told.push(change.terms);
        } else if let Some(one) = brands.get_mut(change.at) {
            one.outcome = RereadOutcome::Older;
            (one.facts_added, one.facts_gone, one.facts_same) = (0, 0, 0);
        }
    }
    if !told.is_empty() {
        lake.commit_shipping(told).await?;
    }
    Ok(())
}

fn totals(brands: &[RereadBrand]) -> RereadTotals {
    let count = |outcome| brands.iter().filter(|one| one.outcome == outcome).count() as u64;
    let (changed, unchanged) = (count(RereadOutcome::Changed), count(RereadOutcome::Unchanged));
    RereadTotals {
        brands: brands.len() as u64,
        changed,
        unchanged,
        left: brands.len() as u64 - changed - unchanged,
        facts_added: brands.iter().map(|one| one.facts_added).sum(),
        facts_gone: brands.iter().map(|one| one.facts_gone).sum(),
    }
}

/// Reads one brand's newest answer, and what the lake is to have of it where that is something else.
async fn reread(
    options: &RereadShippingOptions,
    storage: &Storage,
    (brand, runs, newest): (&RegisteredBrand, &[RunId], Option<Timestamp>),
    (currency, held): (Option<CurrencyCode>, Option<&ShippingPolicy>),
) -> Result<(RereadBrand, Option<Terms>), RereadShippingError> {
    let mut one = RereadBrand {
        brand: brand.slug.clone(),
        outcome: RereadOutcome::NotInLake,
        asked_at: None,
        facts_added: 0,
        facts_gone: 0,
        facts_same: 0,
    };
    let Some(currency) = currency else {
        return Ok((one, None));
    };
    let (told, last_at) = in_range(options, storage, (brand, runs)).await?;
    let Some((told, at)) = told else {
        one.outcome = RereadOutcome::NothingLanded;
        return Ok((one, None));
    };
    one.asked_at = Some(at);
    // The lake itself does not have the moment at which a store said that it has no terms any more.
    let terms = held.and_then(|held| held.terms.as_deref());
    let known_at = [newest, last_at, terms.map(|terms| terms.observed_at)];
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
    Ok((one, Some((brand.store.clone(), brand.slug.clone(), now))))
}

/// The newest answer in the range, and when the newest of all was given.
async fn in_range(
    options: &RereadShippingOptions,
    storage: &Storage,
    (brand, runs): (&RegisteredBrand, &[RunId]),
) -> Result<(Option<(StoreTexts, Timestamp)>, Option<Timestamp>), RereadShippingError> {
    // A landing of before the brand was registered is that of a brand that was removed.
    let is_own = |at: Timestamp| at >= brand.added_at;
    let is_wanted = |at: Timestamp| {
        is_own(at) && options.from.is_none_or(|from| at >= from) && options.until.is_none_or(|until| at < until)
    };
    let last = newest_told(storage, (&brand.store, runs), &is_own).await?;
    let last_at = last.as_ref().map(|(_, at)| *at);
    let told = match last.filter(|(_, at)| is_wanted(*at)) {
        Some(last) => Some(last),
        None => newest_told(storage, (&brand.store, runs), &is_wanted).await?,
    };
    Ok((told, last_at))
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
    (store, runs): (&StoreHost, &[RunId]),
    is_wanted: &(dyn Fn(Timestamp) -> bool + Sync),
) -> Result<Option<(StoreTexts, Timestamp)>, RereadShippingError> {
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

    use data_lake::{LakeConfig, RunSummaryRow};
    use data_model::Clock;
    use kit::SetClock;

    use super::*;
    use crate::landing::land;

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
        let lake = Lake::open(storage.child("lake"), LakeConfig::default(), told)
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
        let changed = |held: Option<&ShippingPolicy>, newest| Change {
            at: 0,
            terms: (brand.store.clone(), brand.slug.clone(), Some(old.clone())),
            newest,
            held: held.cloned(),
        };
        let one = RereadBrand {
            brand: brand.slug.clone(),
            outcome: RereadOutcome::Changed,
            asked_at: None,
            facts_added: 1,
            facts_gone: 0,
            facts_same: 0,
        };
        let rows = || async {
            let snapshot = lake.snapshot().await.unwrap();
            snapshot.shipping(&stores).await.unwrap().remove(&brand.store)
        };

        // A refresh landed an answer since, and has not committed it.
        let at = clock.now();
        let silent = StoreTexts {
            documents: Vec::new(),
            is_everywhere: true,
        };
        land(&storage, &brand.store, (silent, at), at).await.unwrap();
        let mut brands = [one.clone()];
        let write_of = write(vec![changed(None, None)], &mut brands, (&storage, &lake));
        write_of.await.unwrap();
        assert_eq!((brands[0].outcome, brands[0].facts_added), (RereadOutcome::Older, 0));
        assert_eq!(rows().await, None);

        // The lake has other terms since.
        let told = vec![(brand.store.clone(), brand.slug.clone(), Some(new.clone()))];
        lake.commit_shipping(told).await.unwrap();
        let mut brands = [one.clone()];
        let write_of = write(vec![changed(None, Some(at))], &mut brands, (&storage, &lake));
        write_of.await.unwrap();
        assert_eq!(brands[0].outcome, RereadOutcome::Older);
        assert_eq!(rows().await.as_ref(), Some(&new));

        // No other write came between.
        let mut brands = [one];
        let write_of = write(vec![changed(Some(&new), Some(at))], &mut brands, (&storage, &lake));
        write_of.await.unwrap();
        assert_eq!(brands[0].outcome, RereadOutcome::Changed);
        assert_eq!(rows().await.as_ref(), Some(&old));
    }
}
