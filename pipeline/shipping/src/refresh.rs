use async_recursion::async_recursion as boxed;
use async_trait::async_trait;
use data_lake::StoreUpdate;
use data_model::{BrandSlug, ShippingPolicy, Timestamp};
use pipeline_crawl::RegisteredBrand;
use pipeline_policies::{ProposalCounts, policy};
use pipeline_task::{DueBrand, StoreDeps, StoreTask, TaskError, TaskRun, is_older, run};
use serde::Serialize;
use storefront::{NotAsked, under};

use crate::ask::{Failure, ask};
use crate::landing::{LandedTexts, land};
use crate::model::TermsModel;
use crate::propose::{Reader, with_proposals};
use crate::state;
use crate::terms::{StoreTexts, TextTerms};

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
    /// Its extent.
    #[serde(flatten)]
    pub run: TaskRun,
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

/// Asks the stores of brands that are due for their terms, and commits them; `model` reads what rules leave open. Brands that no
/// crawl brought yet are left out.
///
/// # Errors
/// [`TaskError`]; a store that fails is no error, and keeps what is known of it.
#[boxed]
pub async fn refresh_shipping(
    options: &ShippingOptions,
    deps: &StoreDeps,
    model: Option<&TermsModel>,
) -> Result<ShippingReport, TaskError> {
    let mut task = TermsRefresh {
        options,
        deps,
        reader: model.map(Reader::new),
        report: ShippingReport {
            proposals: model.map(|_| ProposalCounts::default()),
            ..ShippingReport::default()
        },
    };
    let extent = run(&mut task, deps, options.only.as_deref()).await?;
    let mut report = task.report;
    report.run = TaskRun {
        dry_run: options.dry_run,
        ..extent
    };
    report.asked.sort_by(|one, other| one.brand.cmp(&other.brand));
    Ok(report)
}

/// A refresh at work.
struct TermsRefresh<'a> {
    options: &'a ShippingOptions,
    deps: &'a StoreDeps,
    reader: Option<Reader<'a>>,
    report: ShippingReport,
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

#[async_trait]
impl StoreTask for TermsRefresh<'_> {
    type Answer = Answer;
    const STORES_AT_ONCE: usize = 16;
    const BATCH: usize = 64;

    async fn is_due(&self, brand: &RegisteredBrand, now: Timestamp) -> Result<bool, TaskError> {
        let asked_at = state::asked_at(&self.deps.storage, &brand.store).await?;
        Ok(is_older(asked_at, now, self.options.after_s))
    }

    async fn ask(&self, due: &DueBrand) -> Result<Option<Answer>, TaskError> {
        let (deps, mut requests) = (self.deps, 0);
        let asked = async {
            let store = deps.storefront.store(&due.brand.base_url)?;
            Box::pin(ask(&store, due.currency, &mut requests)).await
        };
        let (rights, stop) = (deps.rights.as_deref(), deps.cancel.cancelled());
        let asked = deps.cancel.run_until_cancelled(asked);
        let told = match under(rights, &due.brand.store, stop, asked).await {
            Ok(Some(told)) => told,
            Ok(None) | Err(NotAsked::Stopped) => return Ok(None),
            Err(error) => Err(error.into()),
        };
        let at = deps.clock.now();
        let mut proposals = ProposalCounts::default();
        let told = match (told, &self.reader) {
            (Ok((told, _)), Some(reader)) => {
                let read = Box::pin(with_proposals(reader, told, due, deps)).await;
                read.map(|read| {
                    proposals = read.counts;
                    (read.told, read.said)
                })
            }
            (told, _) => told,
        };
        Ok(Some(Answer {
            due: due.clone(),
            at,
            told,
            requests,
            proposals,
        }))
    }

    async fn take(&mut self, answers: Vec<Answer>) -> Result<(), TaskError> {
        let (deps, report) = (self.deps, &mut self.report);
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
            let (store, slug) = (due.brand.store.clone(), due.brand.slug.clone());
            let update = |policy| StoreUpdate::new(store, slug, policy);
            match told {
                Ok((told, said)) => {
                    asked.push(LandedTexts {
                        store: due.brand.store,
                        asked_at: at,
                        told,
                    });
                    match said {
                        TextTerms::Terms { url, reading } => {
                            (one.outcome, one.facts) = ("read", reading.facts.len());
                            one.source_url = Some(url).filter(|url| !url.is_empty());
                            one.policy = Some(policy(reading, due.currency, one.source_url.clone(), at));
                            terms.push(update(one.policy.clone()));
                        }
                        TextTerms::Nothing => terms.push(update(None)),
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
        if self.options.dry_run {
            return Ok(());
        }
        let mut landed = Vec::new();
        for texts in asked {
            let (store, at) = (texts.store.clone(), texts.asked_at);
            let keep_since = at.plus_millis(-i64::from(self.options.keep_days) * 24 * 3_600_000);
            // Before the lake: what is landed is never older than what the lake has of a store.
            land(&deps.storage, texts, keep_since).await?;
            landed.push((store, at));
        }
        report.changed += deps.lake.commit_shipping(terms).await?.changed.len() as u64;
        for (store, at) in landed {
            state::note(&deps.storage, &store, at).await?;
        }
        Ok(())
    }
}
