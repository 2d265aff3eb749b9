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

/// Options that select the brands to refresh.
#[derive(Debug, Clone, Default)]
pub struct ShippingOptions {
    /// Brands to refresh even if they are not due. `None` means all brands that are due.
    pub only: Option<Vec<BrandSlug>>,
    /// Age in seconds after which an answer is requested again.
    pub after_s: u64,
    /// Number of days after which landed texts are deleted. The newest texts of each store stay.
    pub keep_days: u32,
    /// True to query stores and read their answers, but write nothing.
    pub dry_run: bool,
}

/// Report of a refresh.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ShippingReport {
    /// Extent of the run.
    #[serde(flatten)]
    pub run: TaskRun,
    /// Number of brands whose terms changed.
    pub changed: u64,
    /// Number of requests sent.
    pub requests: u64,
    /// Outcomes of the language model's proposals. `None` if no model is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposals: Option<ProposalCounts>,
    /// Brands that were queried, by slug.
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

/// Outcome for one brand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BrandShipping {
    /// Slug of the brand.
    pub brand: BrandSlug,
    /// Outcome: `read`, `none` if the store states no terms, `unknown` if some pages could not be read, `skipped` if
    /// another process is querying the store, or `failed`.
    pub outcome: &'static str,
    /// URL of the page with the terms.
    pub source_url: Option<String>,
    /// Number of facts read.
    pub facts: usize,
    /// Terms of the brand.
    pub policy: Option<ShippingPolicy>,
    /// Reason why the brand failed or was skipped.
    pub error: Option<String>,
}

/// Requests the terms of stores that are due and commits these. `model` reads terms that the rules do not find. Brands
/// that are not in the lake yet are left out.
///
/// # Errors
/// [`TaskError`]. The failure of a store is not an error, and its known terms stay.
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

struct TermsRefresh<'a> {
    options: &'a ShippingOptions,
    deps: &'a StoreDeps,
    reader: Option<Reader<'a>>,
    report: ShippingReport,
}

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
                    tracing::warn!(brand.slug = %due.brand.slug, "deferred to a later run: {error}");
                    (one.outcome, one.error) = ("skipped", Some(error.to_string()));
                }
                Err(error) => {
                    tracing::warn!(brand.slug = %due.brand.slug, %error, "a store could not be queried for its shipping terms");
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
            // Landing comes before the commit, so that the landing of a store is never older than its terms in the
            // lake.
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
