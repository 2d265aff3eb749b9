use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_index::HeldBrand;
use data_lake::{AsOf, Lake, LakeSnapshot, TableName};
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_reports::{BrandQuality, Finding, QualityConfig, QualityReport};
use data_storage::Storage;

use crate::error::QualityError;
use crate::kept::kept;
use crate::look::{BaselineState, Look, Scope, look};

/// The rule by which a release is held back, or a brand of it.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The home: it has the record of checks, and what was counted before.
    pub storage: Storage,
    /// The thresholds.
    pub config: QualityConfig,
    /// Age that a brand's last good check may have, in milliseconds.
    pub check_age_ms_max: i64,
    /// The brands whose data the operator says is right as it is.
    pub accepted: AcceptedBrands,
}

/// The brands whose data is right as it is: findings about it are warned of, and hold nothing back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AcceptedBrands {
    /// The data of no brand, as far as is known.
    #[default]
    Nobody,
    /// The data of these brands.
    Brands(BTreeSet<BrandSlug>),
    /// The data of all brands.
    Everybody,
}

/// The contents of the release before, with which one is compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The versions of the lake's tables.
    pub lake: BTreeMap<String, u64>,
    /// The brands that are of earlier versions.
    pub held: Vec<HeldBrand>,
}

/// The data that is not to be released.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Doubts {
    /// Findings about all brands, or about every one that there is: nothing is to be released.
    pub market: Vec<Finding>,
    /// The brands that are to stay as the release before has them, sorted by store.
    pub brands: Vec<HeldBrand>,
}

/// The findings that hold a release back.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("data quality holds it back: {}", data_reports::summary(.findings))]
pub struct ReleaseHold {
    /// Findings beyond a threshold, at least one.
    pub findings: Vec<Finding>,
}

/// Looks what of `now` is not to be released, beside what the release before was made of. A state that has nothing new, of
/// which nothing is held, is not looked at.
///
/// # Errors
/// See [`QualityError`].
#[boxed]
pub async fn hold(
    gate: &Gate,
    lake: &Lake,
    now: &LakeSnapshot,
    released: Option<&Baseline>,
    at: Timestamp,
) -> Result<Doubts, QualityError> {
    let nothing = Baseline::default();
    let released = released.unwrap_or(&nothing);
    let version = |of: &BTreeMap<String, u64>| of.get(TableName::Brands.as_str()).copied();
    let is_same = version(&released.lake).is_some_and(|was| version(now.versions()) == Some(was));
    if !gate.config.hold || (is_same && released.held.is_empty()) {
        return Ok(Doubts::default());
    }
    let mut found = found(gate, lake, now, released, at).await?;
    let is_accepted = |slug: &BrandSlug| match &gate.accepted {
        AcceptedBrands::Nobody => false,
        AcceptedBrands::Brands(slugs) => slugs.contains(slug),
        AcceptedBrands::Everybody => true,
    };
    let doubted = std::mem::take(&mut found.doubted);
    let (accepted, doubted): (BTreeMap<_, _>, BTreeMap<_, _>) =
        doubted.into_iter().partition(|(_, doubted)| is_accepted(&doubted.slug));
    for DoubtedBrand { slug, reasons, .. } in accepted.into_values() {
        tracing::warn!(brand.slug = %slug, "accepted, as was asked for: {}", reasons.join("; "));
    }
    if gate.accepted == AcceptedBrands::Everybody {
        for finding in found.market.drain(..) {
            tracing::warn!("accepted, as was asked for: {finding}");
        }
    }
    let mut doubts = Doubts {
        market: found.market,
        brands: Vec::new(),
    };
    // A release in which every brand stays as it was is none. One that could not be judged has no finding of its own.
    if doubted.len() == found.brands && doubted.values().all(|doubted| !doubted.findings.is_empty()) {
        doubts
            .market
            .extend(doubted.into_values().flat_map(|doubted| doubted.findings));
        return Ok(doubts);
    }
    let since = |store: &StoreHost| released.held.iter().find(|brand| brand.store == *store);
    let brands = doubted.into_iter().map(|(store, doubted)| HeldBrand {
        slug: doubted.slug,
        since: since(&store).map_or(at, |brand| brand.since),
        reasons: doubted.reasons,
        lake: doubted.lake,
        store,
    });
    doubts.brands = brands.collect();
    Ok(doubts)
}

/// A brand that is not to be released.
#[derive(Debug)]
struct DoubtedBrand {
    slug: BrandSlug,
    /// The findings about it; none where it could not be judged and stays held.
    findings: Vec<Finding>,
    reasons: Vec<String>,
    /// The versions of the lake's tables that it was compared with.
    lake: BTreeMap<String, u64>,
}

/// The outcome of a look, before anything of it is accepted.
#[derive(Debug, Default)]
struct QualityFindings {
    market: Vec<Finding>,
    doubted: BTreeMap<StoreHost, DoubtedBrand>,
    /// The number of brands.
    brands: usize,
}

impl QualityFindings {
    fn add(&mut self, report: QualityReport, versions: &BTreeMap<String, u64>, scope: &Scope) {
        self.brands += report.brands.len();
        let stores: BTreeMap<_, _> = report.brands.iter().map(|brand| (&brand.slug, &brand.store)).collect();
        for finding in report.findings {
            let brand = finding.brand.as_ref();
            let Some((slug, store)) = brand.and_then(|slug| Some((slug.clone(), (*stores.get(slug)?).clone()))) else {
                // The share of stale ones among the few that were held says nothing of the market.
                if matches!(scope, Scope::AllBut(_)) {
                    self.market.push(finding);
                }
                continue;
            };
            let doubted = self.doubted.entry(store).or_insert_with(|| DoubtedBrand {
                slug,
                findings: Vec::new(),
                reasons: Vec::new(),
                lake: versions.clone(),
            });
            doubted.reasons.push(finding.clone().of_brand());
            doubted.findings.push(finding);
        }
    }

    /// Of brands that were held, those that could not be compared with what the release has of them stay so.
    fn keep(&mut self, unjudged: &BTreeSet<StoreHost>, held: &[HeldBrand]) {
        for brand in held.iter().filter(|brand| unjudged.contains(&brand.store)) {
            self.doubted.entry(brand.store.clone()).or_insert_with(|| DoubtedBrand {
                slug: brand.slug.clone(),
                findings: Vec::new(),
                reasons: brand.reasons.clone(),
                lake: brand.lake.clone(),
            });
        }
    }
}

async fn found(
    gate: &Gate,
    lake: &Lake,
    now: &LakeSnapshot,
    released: &Baseline,
    at: Timestamp,
) -> Result<QualityFindings, QualityError> {
    let (known, checks) = (kept(&gate.storage).await?, data_checks::load(&gate.storage).await?);
    let mut held: BTreeMap<&BTreeMap<String, u64>, BTreeSet<StoreHost>> = BTreeMap::new();
    for brand in &released.held {
        held.entry(&brand.lake).or_default().insert(brand.store.clone());
    }
    let others = Scope::AllBut(held.values().flatten().cloned().collect());
    let held = held.into_iter().map(|(lake, stores)| (lake, Scope::Only(stores)));
    let mut found = QualityFindings::default();
    for (versions, scope) in std::iter::once((&released.lake, others)).chain(held) {
        let before = state(lake, versions).await;
        let wanted = Look {
            now,
            before: before.as_ref(),
            scope: &scope,
            changed_only: true,
            known: &known,
            checks: &checks,
            check_age_ms_max: gate.check_age_ms_max,
            config: &gate.config,
            at,
        };
        // Boxed: it reads two states of a lake.
        let report = Box::pin(look(wanted)).await?;
        let unjudged = match &scope {
            Scope::AllBut(_) => BTreeSet::new(),
            Scope::Only(_) => unjudged(&report, before.as_ref(), versions.is_empty()).await,
        };
        found.add(report, versions, &scope);
        found.keep(&unjudged, &released.held);
    }
    Ok(found)
}

/// The brands of a look that could not be compared with how they were, though there is something to compare with; where
/// `is_first`, no release had them, and there is nothing.
async fn unjudged(report: &QualityReport, before: Option<&BaselineState>, is_first: bool) -> BTreeSet<StoreHost> {
    let rows = match before {
        // A lost file is an error here: no brand is to be missing unsaid.
        Some(before) => before.state.brands().await.ok(),
        None if is_first => Some(Vec::new()),
        None => None,
    };
    let hashes = rows.map(|rows| {
        let hashes = rows.into_iter().map(|row| (row.brand.store, row.catalogue_hash));
        hashes.collect::<BTreeMap<_, _>>()
    });
    let is_judged = |brand: &BrandQuality| match hashes.as_ref().map(|hashes| hashes.get(&brand.store)) {
        None => false,
        Some(Some(hash)) if *hash == brand.catalogue_hash => true,
        Some(None) => brand.now.is_some(),
        Some(Some(_)) => brand
            .now
            .as_ref()
            .zip(brand.before.as_ref())
            .is_some_and(|(now, before)| brand.moves.is_some() || now.products == 0 || before.products == 0),
    };
    let unjudged = report.brands.iter().filter(|brand| !is_judged(brand));
    unjudged.map(|brand| brand.store.clone()).collect()
}

/// The state that is compared with; `None` where there is none, or none that can be read.
async fn state(lake: &Lake, versions: &BTreeMap<String, u64>) -> Option<BaselineState> {
    if versions.is_empty() {
        return None;
    }
    match lake.snapshot_at(&AsOf::Versions(versions.clone())).await {
        Ok(state) => Some(BaselineState {
            state,
            called: "the current release".to_owned(),
        }),
        Err(error) => {
            // A release of before a table was added.
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the state behind the current release cannot be compared with");
            None
        }
    }
}
