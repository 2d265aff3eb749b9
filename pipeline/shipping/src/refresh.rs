use std::collections::BTreeMap;

use async_recursion::async_recursion as boxed;
use data_lake::LakeError;
use data_model::{BrandSlug, CurrencyCode, ShippingPolicy, StoreHost, Timestamp};
use data_storage::StorageError;
use futures::StreamExt;
use pipeline_crawl::{Registry, RegistryError};
use pipeline_policies::{ProposalCounts, policy};
use serde::Serialize;
use storefront::{NotAsked, under};

use crate::ask::ask;
use crate::deps::{DueBrand, Failure, ShippingDeps};
use crate::landing::land;
use crate::propose::{Reader, with_proposals};
use crate::state;
use crate::terms::{StoreTexts, TextTerms};

/// Stores asked at once; each keeps its own pace.
const STORES_AT_ONCE: usize = 16;
/// Stores committed at once.
const BATCH: usize = 64;

/// The brands that are to be refreshed.
#[derive(Debug, Clone, Default)]
pub struct ShippingOptions {
    /// These brands, whenever they were asked last; all that are due when `None`.
    pub only: Option<Vec<BrandSlug>>,
    /// Time for which an answer holds, in seconds.
    pub after_s: u64,
    /// The days for which the texts that stores answered are kept, beside the newest of each store.
    pub keep_days: u32,
    /// Asks and reads, and writes nothing.
    pub dry_run: bool,
}

/// The work of a refresh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ShippingReport {
    /// The run wrote nothing.
    pub dry_run: bool,
    /// It was cut short.
    pub interrupted: bool,
    /// Brands registered that the lake has.
    pub brands: u64,
    /// Of these, brands that were due.
    pub due: u64,
    /// Brands whose terms changed.
    pub changed: u64,
    /// Requests sent.
    pub requests: u64,
    /// Outcomes of a language model's proposals; `None` where none is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposals: Option<ProposalCounts>,
    /// Each brand that was asked, by its slug.
    pub asked: Vec<BrandShipping>,
}

impl ShippingReport {
    fn count(&mut self, proposals: ProposalCounts) {
        if let Some(all) = &mut self.proposals {
            all.add(proposals);
            for (outcome, count) in proposals.named() {
                metrics::counter!("shipping_proposals_total", "outcome" => outcome).increment(count);
            }
        }
    }
}

/// The outcome of one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrandShipping {
    /// The brand.
    pub brand: BrandSlug,
    /// `read`, `none` where it says nothing, `unknown` where it could not be asked everywhere, `skipped` where another process
    /// asks the store now, `failed`.
    pub outcome: &'static str,
    /// The address of its terms.
    pub source_url: Option<String>,
    /// Facts read.
    pub facts: usize,
    /// The terms.
    pub policy: Option<ShippingPolicy>,
    /// The reason why it failed, or was skipped.
    pub error: Option<String>,
}

/// The reason why a refresh could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RefreshShippingError {
    /// The registry cannot be read.
    #[error("the registry cannot be read")]
    Registry(#[from] RegistryError),
    /// The lake cannot be read or written.
    #[error("the lake cannot be read or written")]
    Lake(#[from] LakeError),
    /// The moment of the question cannot be noted.
    #[error("the times of questions cannot be read or written")]
    Storage(#[from] StorageError),
    /// A brand is not registered.
    #[error("no brand is registered as {0}")]
    Brand(BrandSlug),
}

/// Asks the stores of brands that are due for their terms, and commits them. Brands that no crawl brought yet are left out.
///
/// # Errors
/// [`RefreshShippingError`]; a store that fails is no error, and keeps what is known of it.
#[boxed]
pub async fn refresh_shipping(
    options: &ShippingOptions,
    deps: &ShippingDeps,
) -> Result<ShippingReport, RefreshShippingError> {
    let mut report = ShippingReport {
        dry_run: options.dry_run,
        ..ShippingReport::default()
    };
    let reader = deps.model.as_deref().map(Reader::new);
    report.proposals = reader.as_ref().map(|_| ProposalCounts::default());
    let due = due(options, deps, &mut report).await?;
    report.due = due.len() as u64;
    for batch in due.chunks(BATCH) {
        if deps.cancel.is_cancelled() {
            report.interrupted = true;
            break;
        }
        let asked = batch.iter().cloned().map(|due| ask_one(due, deps, reader.as_ref()));
        let answers: Vec<Answer> = futures::stream::iter(asked)
            .buffer_unordered(STORES_AT_ONCE)
            .filter_map(async |answer| answer)
            .collect()
            .await;
        take(answers, options, deps, &mut report).await?;
    }
    report.interrupted |= deps.cancel.is_cancelled();
    report.asked.sort_by(|one, other| one.brand.cmp(&other.brand));
    Ok(report)
}

async fn due(
    options: &ShippingOptions,
    deps: &ShippingDeps,
    report: &mut ShippingReport,
) -> Result<Vec<DueBrand>, RefreshShippingError> {
    let registry = Registry::load(&deps.storage).await?;
    for slug in options.only.iter().flatten() {
        if registry.brand(slug).is_none() {
            return Err(RefreshShippingError::Brand(slug.clone()));
        }
    }
    let rows = deps.lake.snapshot().await?.brands().await?;
    let currencies: BTreeMap<StoreHost, CurrencyCode> = rows
        .into_iter()
        .map(|row| (row.brand.store, row.brand.currency))
        .collect();
    let (now, mut due) = (deps.clock.now(), Vec::new());
    for brand in registry.brands() {
        let Some(currency) = currencies.get(&brand.store).copied() else {
            continue;
        };
        report.brands += 1;
        let is_due = match &options.only {
            Some(only) => only.contains(&brand.slug),
            None => is_older(
                state::asked_at(&deps.storage, &brand.store).await?,
                now,
                options.after_s,
            ),
        };
        if is_due {
            let brand = brand.clone();
            due.push(DueBrand { brand, currency });
        }
    }
    Ok(due)
}

fn is_older(asked_at: Option<Timestamp>, now: Timestamp, after_s: u64) -> bool {
    let after_ms = i64::try_from(after_s.saturating_mul(1000)).unwrap_or(i64::MAX);
    asked_at.is_none_or(|asked_at| asked_at.is_past_by(now, after_ms))
}

/// The answer of one store.
#[derive(Debug)]
struct Answer {
    due: DueBrand,
    at: Timestamp,
    told: Result<(StoreTexts, TextTerms), Failure>,
    requests: u32,
    proposals: ProposalCounts,
}

/// `None` where the refresh was to end before the store was asked.
async fn ask_one(due: DueBrand, deps: &ShippingDeps, reader: Option<&Reader<'_>>) -> Option<Answer> {
    let mut requests = 0;
    let asked = async {
        let store = deps.storefront.store(&due.brand.base_url)?;
        Box::pin(ask(&store, due.currency, &mut requests)).await
    };
    let (rights, stop) = (deps.rights.as_deref(), deps.cancel.cancelled());
    let asked = deps.cancel.run_until_cancelled(asked);
    let told = match under(rights, &due.brand.store, stop, asked).await {
        Ok(told) => told?,
        Err(NotAsked::Stopped) => return None,
        Err(error) => Err(error.into()),
    };
    let at = deps.clock.now();
    let mut proposals = ProposalCounts::default();
    let told = match (told, reader) {
        (Ok((told, _)), Some(reader)) => {
            let read = Box::pin(with_proposals(reader, told, &due, deps)).await;
            read.map(|read| {
                proposals = read.counts;
                (read.told, read.said)
            })
        }
        (told, _) => told,
    };
    Some(Answer {
        due,
        at,
        told,
        requests,
        proposals,
    })
}

/// Brings what stores answered into the lake, and notes that they were asked.
async fn take(
    answers: Vec<Answer>,
    options: &ShippingOptions,
    deps: &ShippingDeps,
    report: &mut ShippingReport,
) -> Result<(), RefreshShippingError> {
    let (mut terms, mut asked) = (Vec::new(), Vec::new());
    for Answer {
        due,
        at,
        told,
        requests,
        proposals,
    } in answers
    {
        report.requests += u64::from(requests);
        report.count(proposals);
        let mut one = BrandShipping {
            brand: due.brand.slug.clone(),
            outcome: "none",
            source_url: None,
            facts: 0,
            policy: None,
            error: None,
        };
        let key = (due.brand.store.clone(), due.brand.slug.clone());
        match told {
            Ok((told, said)) => {
                asked.push((due.brand.store, at, told));
                match said {
                    TextTerms::Terms { url, reading } => {
                        (one.outcome, one.facts) = ("read", reading.facts.len());
                        one.source_url = Some(url).filter(|url| !url.is_empty());
                        one.policy = Some(policy(reading, due.currency, one.source_url.clone(), at));
                        terms.push((key.0, key.1, one.policy.clone()));
                    }
                    TextTerms::Nothing => terms.push((key.0, key.1, None)),
                    TextTerms::Unknown => one.outcome = "unknown",
                }
            }
            Err(error @ Failure::NotAsked(NotAsked::ByAnother(_))) => {
                tracing::warn!(brand.slug = %due.brand.slug, "left for later: {error}");
                (one.outcome, one.error) = ("skipped", Some(error.to_string()));
            }
            Err(error) => {
                tracing::warn!(brand.slug = %due.brand.slug, %error, "a store could not be asked for its shipping terms");
                (one.outcome, one.error) = ("failed", Some(error.to_string()));
            }
        }
        report.asked.push(one);
    }
    if options.dry_run {
        return Ok(());
    }
    let mut landed = Vec::new();
    for (store, at, told) in asked {
        let keep_since = at.plus_millis(-i64::from(options.keep_days) * 24 * 3_600_000);
        // Before the lake: what is landed is never older than what the lake has of a store.
        land(&deps.storage, &store, (told, at), keep_since).await?;
        landed.push((store, at));
    }
    report.changed += deps.lake.commit_shipping(terms).await?.changed.len() as u64;
    for (store, at) in landed {
        state::note(&deps.storage, &store, at).await?;
    }
    Ok(())
}
