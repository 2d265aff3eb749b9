use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_index::HeldBrand;
use data_lake::{AsOf, Lake, LakeSnapshot, TableName};
use data_model::{BrandSlug, StoreHost, Timestamp};
use data_reports::{Finding, QualityConfig, QualityReport};
use data_storage::Storage;

use crate::error::QualityError;
use crate::kept::kept;
use crate::look::{Before, Look, Scope, look};

/// When a release is held back, or a brand of it.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The home: it has the record of checks, and what was counted before.
    pub storage: Storage,
    /// The thresholds.
    pub config: QualityConfig,
    /// How old a brand's last good check may be, in milliseconds.
    pub check_age_ms_max: i64,
    /// Whose data the operator says is right as it is.
    pub accepted: Accepted,
}

/// Whose data is right as it is: what is found of it is warned of, and holds nothing back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Accepted {
    /// Nobody's, for all that is known.
    #[default]
    Nobody,
    /// That of these brands.
    Brands(BTreeSet<BrandSlug>),
    /// Everybody's.
    Everybody,
}

/// What a release is compared with: what the one before it is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The versions of the lake's tables.
    pub lake: BTreeMap<String, u64>,
    /// The brands that are of earlier versions.
    pub held: Vec<HeldBrand>,
}

/// What is not to be released.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Doubts {
    /// What is about all brands, or about every one that there is: nothing is to be released.
    pub market: Vec<Finding>,
    /// The brands that are to stay as the release before has them, sorted by store.
    pub brands: Vec<HeldBrand>,
}

/// What holds a release back.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("data quality holds it back: {}", data_reports::summary(.findings))]
pub struct Held {
    /// What is beyond a threshold, at least one.
    pub findings: Vec<Finding>,
}

/// Looks what of `now` is not to be released, beside what the release before was made of. A state that has nothing new is
/// not looked at: what was held stays so.
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
    if !gate.config.hold {
        return Ok(Doubts::default());
    }
    let version = |of: &BTreeMap<String, u64>| of.get(TableName::Brands.as_str()).copied();
    let is_same =
        |released: &&Baseline| version(&released.lake).is_some_and(|was| version(now.versions()) == Some(was));
    let doubts = match released.filter(is_same) {
        Some(released) => Doubts {
            market: Vec::new(),
            brands: released.held.clone(),
        },
        None => doubts(gate, lake, now, released, at).await?,
    };
    Ok(gate.accepted.of(doubts))
}

impl Accepted {
    /// What is left of doubts.
    fn of(&self, mut doubts: Doubts) -> Doubts {
        let is_accepted = |slug: &BrandSlug| match self {
            Self::Nobody => false,
            Self::Brands(slugs) => slugs.contains(slug),
            Self::Everybody => true,
        };
        for brand in doubts.brands.extract_if(.., |brand| is_accepted(&brand.slug)) {
            tracing::warn!(brand.slug = %brand.slug, "accepted, as was asked for: {}", brand.reasons.join("; "));
        }
        let is_accepted = |finding: &Finding| match &finding.brand {
            Some(slug) => is_accepted(slug),
            None => *self == Self::Everybody,
        };
        for finding in doubts.market.extract_if(.., |finding| is_accepted(finding)) {
            tracing::warn!("accepted, as was asked for: {finding}");
        }
        doubts
    }
}

async fn doubts(
    gate: &Gate,
    lake: &Lake,
    now: &LakeSnapshot,
    released: Option<&Baseline>,
    at: Timestamp,
) -> Result<Doubts, QualityError> {
    let (known, checks) = (kept(&gate.storage).await?, data_checks::load(&gate.storage).await?);
    let nothing = Baseline::default();
    let released = released.unwrap_or(&nothing);
    let mut held: BTreeMap<&BTreeMap<String, u64>, BTreeSet<StoreHost>> = BTreeMap::new();
    for brand in &released.held {
        held.entry(&brand.lake).or_default().insert(brand.store.clone());
    }
    let others = Scope::AllBut(held.values().flatten().cloned().collect());
    let held = held.into_iter().map(|(lake, stores)| (lake, Scope::Only(stores)));
    let (mut market, mut doubted, mut brands) = (Vec::new(), BTreeMap::new(), 0);
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
        let QualityReport {
            brands: looked_at,
            findings,
            ..
        } = Box::pin(look(wanted)).await?;
        brands += looked_at.len();
        let stores: BTreeMap<_, _> = looked_at.iter().map(|brand| (&brand.slug, &brand.store)).collect();
        for finding in findings {
            match finding.brand.as_ref().and_then(|slug| stores.get(slug)) {
                Some(store) => {
                    let doubted = doubted.entry((*store).clone()).or_insert((versions, Vec::new()));
                    doubted.1.push(finding);
                }
                None if matches!(scope, Scope::AllBut(_)) => market.push(finding),
                // How many of the few are stale that were held says nothing of the market.
                None => {}
            }
        }
    }
    // A release in which every brand stays as it was is none.
    if doubted.len() == brands {
        let all = std::mem::take(&mut doubted).into_values();
        market.extend(all.flat_map(|(_, findings)| findings));
    }
    let brands = doubted.into_iter().filter_map(|(store, (versions, findings))| {
        let since = released.held.iter().find(|brand| brand.store == store);
        Some(HeldBrand {
            slug: findings.first()?.brand.clone()?,
            since: since.map_or(at, |brand| brand.since),
            reasons: findings.into_iter().map(Finding::of_brand).collect(),
            lake: versions.clone(),
            store,
        })
    });
    Ok(Doubts {
        brands: brands.collect(),
        market,
    })
}

/// The state that is compared with; `None` where there is none, or none that can be read.
async fn state(lake: &Lake, versions: &BTreeMap<String, u64>) -> Option<Before> {
    if versions.is_empty() {
        return None;
    }
    match lake.snapshot_at(&AsOf::Versions(versions.clone())).await {
        Ok(state) => Some(Before {
            state,
            called: "the current release".to_owned(),
        }),
        Err(error) => {
            // A release of before a table was added.
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "what the current release was made of cannot be compared with");
            None
        }
    }
}
