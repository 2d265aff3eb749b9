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

/// Decides if a release, or a brand in it, is held back.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Storage of the home, with the record of checks and the statistics of earlier runs.
    pub storage: Storage,
    /// Thresholds for holding back.
    pub config: QualityConfig,
    /// Maximum age of a brand's last good check, in milliseconds.
    pub check_age_ms_max: i64,
    /// Brands whose data the operator has accepted.
    pub accepted: AcceptedBrands,
}

/// Brands whose data is accepted. Findings about them only cause warnings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AcceptedBrands {
    /// No brand is accepted.
    #[default]
    Nobody,
    /// These brands are accepted.
    Brands(BTreeSet<BrandSlug>),
    /// All brands are accepted.
    Everybody,
}

/// Contents of the previous release, used for comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Versions of the lake's tables.
    pub lake: BTreeMap<String, u64>,
    /// Brands that the release contains at earlier versions.
    pub held: Vec<HeldBrand>,
}

/// Data that must not be released.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Doubts {
    /// Findings about the market as a whole, or about every brand. If there are any, nothing is released.
    pub market: Vec<Finding>,
    /// Brands that stay as in the previous release, sorted by store.
    pub brands: Vec<HeldBrand>,
}

/// Findings that hold a release back.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the release is held back because of data quality: {}", data_reports::summary(.findings))]
pub struct ReleaseHold {
    /// Findings beyond a threshold, at least one.
    pub findings: Vec<Finding>,
}

/// Decides which data of `now` must not be released, compared with the previous release. The checks are skipped without
/// new data and held-back brands.
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
        tracing::warn!(brand.slug = %slug, "accepted at the operator's request: {}", reasons.join("; "));
    }
    if gate.accepted == AcceptedBrands::Everybody {
        for finding in found.market.drain(..) {
            tracing::warn!("accepted at the operator's request: {finding}");
        }
    }
    let mut doubts = Doubts {
        market: found.market,
        brands: Vec::new(),
    };
    // If findings hold all brands back, the whole release is held back, because it would contain no change. A brand
    // that could not be checked has no findings.
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

#[derive(Debug)]
struct DoubtedBrand {
    slug: BrandSlug,
    /// Findings about the brand, empty if the brand could not be checked and stays held back.
    findings: Vec<Finding>,
    reasons: Vec<String>,
    /// Versions of the lake's tables with which the brand was compared.
    lake: BTreeMap<String, u64>,
}

/// Findings before the accepted ones are removed.
#[derive(Debug, Default)]
struct QualityFindings {
    market: Vec<Finding>,
    doubted: BTreeMap<StoreHost, DoubtedBrand>,
    brands: usize,
}

impl QualityFindings {
    fn add(&mut self, report: QualityReport, versions: &BTreeMap<String, u64>, scope: &Scope) {
        self.brands += report.brands.len();
        let stores: BTreeMap<_, _> = report.brands.iter().map(|brand| (&brand.slug, &brand.store)).collect();
        for finding in report.findings {
            let brand = finding.brand.as_ref();
            let Some((slug, store)) = brand.and_then(|slug| Some((slug.clone(), (*stores.get(slug)?).clone()))) else {
                // The share of stale brands among the few held-back brands does not indicate the state of the market.
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

    /// Brands that could not be compared with their released data stay held back.
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
        // The future is large, because it reads two states of a lake.
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

/// Returns the brands that could not be compared with their earlier data although there is some. If `is_first`, no
/// release contained them, so that there is no earlier data.
async fn unjudged(report: &QualityReport, before: Option<&BaselineState>, is_first: bool) -> BTreeSet<StoreHost> {
    let rows = match before {
        // A lost file is an error here, because no brand may be left out silently.
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

/// Returns the state of the lake to compare with, or `None` if there is none that can be read.
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
            // The release may be older than a table.
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "the lake's state of the current release cannot be read for a comparison"
            );
            None
        }
    }
}
