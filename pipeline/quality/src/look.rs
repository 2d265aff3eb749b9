use std::collections::{BTreeMap, BTreeSet};

use async_recursion::async_recursion as boxed;
use data_checks::Checks;
use data_lake::{AsOf, BrandRow, Lake, LakeSnapshot, TableName};
use data_model::{KnownShipping, ShippingCoverage, StoreHost, Timestamp};
use data_reports::{
    BrandFigures, BrandQuality, COLUMNS, FiguresError, PRICE_COLUMNS, PriceMoves, QualityConfig, QualityReport, Totals,
    judge,
};
use data_storage::Storage;
use futures::future::BoxFuture;
use futures::{StreamExt, TryStreamExt};

use crate::error::QualityError;
use crate::kept::{KeptRuns, keep, kept};
use crate::unfound::unfound;

/// Number of partitions that are read and counted at the same time.
const PARTITIONS_AT_ONCE: usize = 2;

/// State of the lake used for comparison.
#[derive(Debug)]
pub struct BaselineState {
    /// Snapshot of the lake.
    pub state: LakeSnapshot,
    /// Description of the state for people.
    pub called: String,
}

/// Brands to check.
#[derive(Debug)]
pub enum Scope {
    /// All brands except these.
    AllBut(BTreeSet<StoreHost>),
    /// Only the given brands.
    Only(BTreeSet<StoreHost>),
}

impl Scope {
    /// Covers all brands.
    pub const ALL: Self = Self::AllBut(BTreeSet::new());

    fn has(&self, store: &StoreHost) -> bool {
        match self {
            Self::AllBut(stores) => !stores.contains(store),
            Self::Only(stores) => stores.contains(store),
        }
    }
}

/// Input of a check.
#[derive(Debug)]
pub struct Look<'a> {
    /// State of the lake to check.
    pub now: &'a LakeSnapshot,
    /// State of the lake to compare with.
    pub before: Option<&'a BaselineState>,
    /// Brands to check.
    pub scope: &'a Scope,
    /// True to leave out statistics of unchanged brands and report only their counts, which suffice for a decision
    /// about a release.
    pub changed_only: bool,
    /// Statistics that are already known.
    pub known: &'a KeptRuns,
    /// Record of the brands' checks.
    pub checks: &'a Checks,
    /// Maximum age of a brand's last good check, in milliseconds.
    pub check_age_ms_max: i64,
    /// Thresholds for findings.
    pub config: &'a QualityConfig,
    /// Current time.
    pub at: Timestamp,
}

#[derive(Debug)]
struct BaselineBrand {
    catalogue_hash: String,
    quarantined: u64,
    figures: Option<BrandFigures>,
}

type Figures = BTreeMap<StoreHost, BrandFigures>;

/// Counts the data and applies the thresholds.
///
/// # Errors
/// A [`QualityError`]. A lost file of the lake or an unreadable earlier state is not an error. Findings that need it
/// are missing.
pub fn look(look: Look<'_>) -> BoxFuture<'_, Result<QualityReport, QualityError>> {
    Box::pin(looked_at(look))
}

async fn looked_at(look: Look<'_>) -> Result<QualityReport, QualityError> {
    let mut rows = look.now.readable_brands().await?;
    rows.retain(|row| look.scope.has(&row.brand.store));
    let mut were = match look.before {
        Some(before) => were(before, look.known).await,
        None => BTreeMap::new(),
    };
    let is_same = |row: &BrandRow, were: &BTreeMap<StoreHost, BaselineBrand>| {
        let was = were.get(&row.brand.store);
        was.is_some_and(|was| was.catalogue_hash == row.catalogue_hash)
    };
    let counted = rows.iter().filter(|row| !(look.changed_only && is_same(row, &were)));
    let hashes = counted.clone().map(|row| BrandHash {
        store: &row.brand.store,
        hash: &row.catalogue_hash,
    });
    let mut now = figures(look.now, hashes, look.known).await?;
    let mut moves = BTreeMap::new();
    if let Some(before) = look.before {
        let changed = counted.filter(|row| !is_same(row, &were) && were.contains_key(&row.brand.store));
        let changed: BTreeSet<&StoreHost> = changed.map(|row| &row.brand.store).collect();
        count_before(&before.state, &changed, &mut were, look.known).await;
        moves = moved(&before.state, look.now, &changed, look.config.price_jump_factor).await?;
    }
    let mut brands = Vec::with_capacity(rows.len());
    for row in &rows {
        let store = &row.brand.store;
        let (now, is_same) = (now.remove(store), is_same(row, &were));
        // An unchanged brand equals its earlier state, and its prices did not change.
        let unmoved = now.as_ref().filter(|_| is_same).map(unmoved);
        let was = were.remove(store);
        let before = if is_same {
            now.clone()
        } else {
            was.as_ref().and_then(|was| was.figures.clone())
        };
        let checked = look.checks.of(store).and_then(|check| check.good_at);
        let good_at = checked.map_or(row.refreshed_at, |at| at.max(row.refreshed_at));
        brands.push(BrandQuality {
            slug: row.brand.slug.clone(),
            store: store.clone(),
            catalogue_hash: row.catalogue_hash.clone(),
            now,
            before,
            moves: moves.remove(store).or(unmoved),
            quarantined: row.quarantined_count,
            quarantined_before: was.map(|was| was.quarantined),
            good_at,
            is_stale: look.at.millis_since(good_at) > look.check_age_ms_max,
        });
    }
    brands.sort_unstable_by(|one, other| one.store.cmp(&other.store));
    let mut report = report(&look, brands);
    if !look.changed_only {
        report.shipping_known = shipping_known(&look, &report).await;
    }
    Ok(report)
}

/// If the data cannot be read, the count of brands with known shipping terms is unknown, which holds nothing back.
async fn shipping_known(look: &Look<'_>, report: &QualityReport) -> Option<ShippingCoverage> {
    let stores: BTreeSet<StoreHost> = report.brands.iter().map(|brand| brand.store.clone()).collect();
    let read = futures::future::try_join(look.now.shipping(&stores), look.now.delivery_zones(Some(&stores)));
    let (policies, zones) = match read.await {
        Ok(read) => read,
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the brands' shipping terms cannot be read");
            return None;
        }
    };
    let mut known = ShippingCoverage::default();
    for store in &stores {
        let zones = zones.get(store);
        known.count(KnownShipping {
            policy: policies.get(store),
            has_matrix: zones.is_some(),
            has_days: zones.is_some_and(|zones| zones.iter().any(|zone| zone.days_max.is_some())),
        });
    }
    Some(known)
}

fn report(look: &Look<'_>, brands: Vec<BrandQuality>) -> QualityReport {
    QualityReport {
        shipping_known: None,
        made_at: look.at,
        versions: look.now.versions().clone(),
        is_released: false,
        findings: judge(&brands, look.config),
        totals: Totals::of(&brands, look.before.is_some()),
        against: look.before.map(|before| before.called.clone()),
        versions_before: look
            .before
            .map(|before| before.state.versions().clone())
            .unwrap_or_default(),
        unfound: Vec::new(),
        brands,
        trend: Vec::new(),
    }
}

/// Returns the brands of the earlier state, from a saved run if possible, or else from the lake. Empty if neither can
/// be read.
async fn were(before: &BaselineState, known: &KeptRuns) -> BTreeMap<StoreHost, BaselineBrand> {
    if let Some(run) = known.of(before.state.versions()) {
        let brands = run.brands.iter().map(|(store, brand)| {
            let was = BaselineBrand {
                catalogue_hash: brand.catalogue_hash.clone(),
                quarantined: brand.quarantined,
                figures: brand.figures.clone(),
            };
            (store.clone(), was)
        });
        return brands.collect();
    }
    match before.state.readable_brands().await {
        Ok(rows) => rows
            .into_iter()
            .map(|row| {
                let was = BaselineBrand {
                    catalogue_hash: row.catalogue_hash,
                    quarantined: row.quarantined_count,
                    figures: None,
                };
                (row.brand.store, was)
            })
            .collect(),
        Err(error) => {
            unreadable(&error);
            BTreeMap::new()
        }
    }
}

fn unreadable(error: &(dyn std::error::Error + 'static)) {
    tracing::warn!(
        error,
        "the lake's earlier state can no longer be read: findings that compare with it are missing"
    );
}

/// Counts the brands of the earlier state that no saved run has counted.
async fn count_before(
    state: &LakeSnapshot,
    stores: &BTreeSet<&StoreHost>,
    were: &mut BTreeMap<StoreHost, BaselineBrand>,
    known: &KeptRuns,
) {
    let uncounted = were
        .iter()
        .filter(|(store, was)| stores.contains(store) && was.figures.is_none());
    let hashes = uncounted.map(|(store, was)| BrandHash {
        store,
        hash: &was.catalogue_hash,
    });
    match figures(state, hashes, known).await {
        Ok(counted) => {
            for (store, figures) in counted {
                if let Some(was) = were.get_mut(&store) {
                    was.figures = Some(figures);
                }
            }
        }
        Err(error) => unreadable(&error),
    }
}

fn unmoved(figures: &BrandFigures) -> PriceMoves {
    let mut moves = PriceMoves {
        compared: figures.products,
        ..PriceMoves::default()
    };
    // The middle size class contains unchanged prices.
    let middle = moves.by_size.len() / 2;
    moves.by_size[middle] = figures.products;
    moves
}

struct BrandHash<'a> {
    store: &'a StoreHost,
    hash: &'a str,
}

/// Statistics known by content hash are reused, and the others are computed.
async fn figures<'a>(
    state: &LakeSnapshot,
    brands: impl Iterator<Item = BrandHash<'a>>,
    known: &KeptRuns,
) -> Result<Figures, QualityError> {
    let mut figures = Figures::new();
    let mut unknown = BTreeSet::new();
    for BrandHash { store, hash } in brands {
        match known.figures_of(store, hash) {
            Some(known) => _ = figures.insert(store.clone(), known.clone()),
            None => _ = unknown.insert(store),
        }
    }
    let counts = state.partitions(unknown).into_iter().map(|stores| async move {
        let Some(batches) = state.portion(TableName::Products, &stores, COLUMNS).await? else {
            return Ok(Figures::new());
        };
        let mut counted = on_a_thread(move || data_reports::figures(&batches)).await?;
        // A brand without products has no row.
        let of = |store: StoreHost| (store.clone(), counted.remove(store.as_str()).unwrap_or_default());
        Ok::<_, QualityError>(stores.into_iter().map(of).collect())
    });
    let counted: Vec<Figures> = futures::stream::iter(counts)
        .buffered(PARTITIONS_AT_ONCE)
        .try_collect()
        .await?;
    figures.extend(counted.into_iter().flatten());
    Ok(figures)
}

/// Stores with a lost file in either state are left out.
async fn moved(
    before: &LakeSnapshot,
    now: &LakeSnapshot,
    stores: &BTreeSet<&StoreHost>,
    jump_factor: u32,
) -> Result<BTreeMap<StoreHost, PriceMoves>, QualityError> {
    let compared = now
        .partitions(stores.iter().copied())
        .into_iter()
        .map(|stores| async move {
            let was = match before.portion(TableName::Products, &stores, PRICE_COLUMNS).await {
                Ok(was) => was,
                Err(error) => {
                    unreadable(&error);
                    None
                }
            };
            let is = now.portion(TableName::Products, &stores, PRICE_COLUMNS).await?;
            let (Some(was), Some(is)) = (was, is) else {
                return Ok(BTreeMap::new());
            };
            let mut moves = on_a_thread(move || data_reports::moves(&was, &is, jump_factor)).await?;
            let of = |store: StoreHost| Some((store.clone(), moves.remove(store.as_str())?));
            Ok::<_, QualityError>(stores.into_iter().filter_map(of).collect::<BTreeMap<_, _>>())
        });
    let moves: Vec<_> = futures::stream::iter(compared)
        .buffered(PARTITIONS_AT_ONCE)
        .try_collect()
        .await?;
    Ok(moves.into_iter().flatten().collect())
}

async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FiguresError> + Send + 'static,
) -> Result<T, QualityError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| QualityError::BrokeOff)?.map_err(QualityError::Figures)
}

/// Checks the newest state against the last state with a saved report, and saves the result.
#[boxed]
pub async fn after_run(
    storage: &Storage,
    lake: &Lake,
    config: &QualityConfig,
    check_age_ms_max: i64,
    at: Timestamp,
) -> Result<QualityReport, QualityError> {
    let (known, now) = (kept(storage).await?, lake.snapshot().await?);
    let checks = data_checks::load(storage).await?;
    let before = match known.before(now.versions()) {
        Some(run) => Some(BaselineState {
            state: lake.snapshot_at(&AsOf::Versions(run.versions.clone())).await?,
            called: format!("the report of {}", run.made_at),
        }),
        None => None,
    };
    let wanted = Look {
        now: &now,
        before: before.as_ref(),
        scope: &Scope::ALL,
        changed_only: false,
        known: &known,
        checks: &checks,
        check_age_ms_max,
        config,
        at,
    };
    // The future is large, because it reads two states of a lake.
    let mut report = Box::pin(look(wanted)).await?;
    report.trend = known.trend(&report);
    report.unfound = unfound(storage, lake, at).await;
    keep(storage, &report, config.keep).await?;
    Ok(report)
}
