//! Measures the cost of a crawl after a thousand crawls: files, bytes, requests and CPU time of an unattended market.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use data_index::BuildOptions;
use data_lake::{Lake, LakeConfig, RunSummaryRow};
use data_model::{Brand, BrandRefresh, Clock, Product, Timestamp};
use data_release::{CheckOptions, GcOptions, PlanOptions, ReleaseStore};
use data_storage::{ObjectPath, ObjectStore, Storage};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use kit::ShiftedClock;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, PutMultipartOptions, PutOptions,
    PutPayload, PutResult, Result,
};
use pipeline_release::{NoProgress, ReleaseOptions, ReleaseOutcome, TidyOptions, make_release, tidy};

/// Object store that counts requests: each call, and one per thousand objects of a list. Object times follow the
/// market's clock.
#[derive(Debug, Clone)]
struct RequestCounter {
    inner: Arc<dyn ObjectStore>,
    requests: Arc<AtomicU64>,
    clock: Arc<ShiftedClock>,
    written: Arc<Mutex<HashMap<ObjectPath, Timestamp>>>,
}

impl std::fmt::Display for RequestCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl RequestCounter {
    fn count(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    fn write(&self, location: &ObjectPath) {
        self.count();
        self.written.lock().unwrap().insert(location.clone(), self.clock.now());
    }

    fn dated(&self, meta: ObjectMeta) -> ObjectMeta {
        let written = self.written.lock().unwrap().get(&meta.location).copied();
        let micros = written.map(|written| DateTime::from_timestamp_micros(written.micros()).unwrap());
        ObjectMeta {
            last_modified: micros.unwrap_or(meta.last_modified),
            ..meta
        }
    }

    fn counted(&self, listed: BoxStream<'static, Result<ObjectMeta>>) -> BoxStream<'static, Result<ObjectMeta>> {
        let store = self.clone();
        self.count();
        let each = listed.enumerate().map(move |(at, meta)| {
            if at > 0 && at % 1000 == 0 {
                store.count();
            }
            meta.map(|meta| store.dated(meta))
        });
        each.boxed()
    }
}

#[async_trait]
impl ObjectStore for RequestCounter {
    async fn put_opts(&self, location: &ObjectPath, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.write(location);
        self.inner.put_opts(location, payload, opts).await
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.write(location);
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> Result<GetResult> {
        self.count();
        let got = self.inner.get_opts(location, options).await?;
        Ok(GetResult {
            meta: self.dated(got.meta.clone()),
            ..got
        })
    }

    // A store accepts a thousand deletions per request.
    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<ObjectPath>>,
    ) -> BoxStream<'static, Result<ObjectPath>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.counted(self.inner.list(prefix))
    }

    fn list_with_offset(
        &self,
        prefix: Option<&ObjectPath>,
        offset: &ObjectPath,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.counted(self.inner.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> Result<ListResult> {
        self.count();
        let listed = self.inner.list_with_delimiter(prefix).await?;
        Ok(ListResult {
            objects: listed.objects.into_iter().map(|meta| self.dated(meta)).collect(),
            ..listed
        })
    }

    async fn copy_opts(&self, from: &ObjectPath, to: &ObjectPath, options: CopyOptions) -> Result<()> {
        self.write(to);
        self.inner.copy_opts(from, to, options).await
    }
}

const HOUR_MS: i64 = 3_600_000;

/// A thousand crawls take a year.
const STEP_MS: i64 = 365 * 24 * HOUR_MS / 1_000;

const STORES: usize = 6;

/// Objects that are never truncated and grow with the events of the market.
const KEPT_FOR_EVER: [&str; 4] = [
    "rows of lake/price_history",
    "rows of lake/product_history",
    "rows of lake/crawl_runs",
    "releases/parts, price histories",
];

/// Creates a store of twelve products, one of which has a price that depends on the crawl.
fn refresh(store: usize, number: i64, at: Timestamp) -> BrandRefresh {
    let name = format!("store{store}");
    let brand = Brand {
        store: format!("{name}.myshopify.com").parse().unwrap(),
        ..kit::brand(&name.to_uppercase())
    };
    let product = |id: u64| Product {
        variants: vec![kit::variant(id * 10, if id == 1 { 500 + number % 50 } else { 500 })],
        ..kit::product(&brand, id, &format!("Cotton Shirt {id}"))
    };
    let products = (1..=12).map(product).collect::<Vec<_>>();
    kit::refresh(brand.clone(), number, at, products)
}

/// Returns the CPU time of the process in milliseconds. Only Linux reports it.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.split(' ').skip(13).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10
}

/// Returns the group of an object: rows of a table, its log, checkpoints, tick records or releases.
fn part(path: &str) -> String {
    let mut folders = path.split('/');
    let (place, table) = (folders.next().unwrap_or_default(), folders.next().unwrap_or_default());
    let name = path.rsplit('/').next().unwrap_or_default();
    match (place, table) {
        ("lake", table) if path.contains("/_delta_log/") && name.contains("checkpoint") => {
            format!("checkpoints of lake/{table}")
        }
        ("lake", table) if path.contains("/_delta_log/") => format!("entries of lake/{table}"),
        ("lake", "_ticks") => "lake/_ticks".to_owned(),
        ("lake", table) => format!("rows of lake/{table}"),
        ("releases", folder) if name == "history.arrow" => format!("releases/{folder}, price histories"),
        (place, folder) => format!("{place}/{folder}"),
    }
}

#[derive(Debug, Clone)]
struct Cost {
    cpu_ms: u64,
    requests: u64,
    lake_files: usize,
    release_files: usize,
    bytes: u64,
    /// Bytes without histories and run records, which grow with the number of events.
    present_bytes: u64,
    bytes_by_part: BTreeMap<String, u64>,
}

struct Market {
    dir: tempfile::TempDir,
    storage: Storage,
    requests: Arc<AtomicU64>,
    clock: Arc<ShiftedClock>,
}

impl Market {
    /// The last of `crawls` crawls happens now, because the lake's library drops removals older than a week by the
    /// system clock.
    fn until_now(crawls: i64) -> Self {
        let clock = ShiftedClock::new();
        clock.advance_ms(-crawls * STEP_MS);
        let requests = Arc::new(AtomicU64::new(0));
        let store = RequestCounter {
            inner: Arc::clone(Storage::memory().store()),
            requests: Arc::clone(&requests),
            clock: Arc::clone(&clock),
            written: Arc::default(),
        };
        Self {
            dir: tempfile::tempdir().unwrap(),
            storage: Storage::with_store(Arc::new(store), "memory:///".parse().unwrap()),
            requests,
            clock,
        }
    }

    /// Commits the changes of one store, builds and publishes a release, and does the upkeep, as a separate process
    /// would.
    async fn crawl(&self, number: i64, tidies: bool) -> Cost {
        let (begun, asked) = (cpu_ms(), self.requests.load(Ordering::Relaxed));
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let lake = Lake::open(self.storage.child("lake"), LakeConfig::default(), Arc::clone(&clock))
            .await
            .unwrap();
        let releases = ReleaseStore::new(self.storage.child("releases"), Arc::clone(&clock));
        let now = self.clock.now();
        let stores = if number == 0 {
            (0..STORES).collect()
        } else {
            vec![usize::try_from(number).unwrap() % STORES]
        };
        let refreshes: Vec<BrandRefresh> = stores.into_iter().map(|store| refresh(store, number, now)).collect();
        lake.find_damage(false).await.unwrap();
        let run = RunSummaryRow::new(refreshes[0].run.clone(), now);
        lake.commit(refreshes, run).await.unwrap();
        let options = ReleaseOptions {
            quality: None,
            full: false,
            dry_run: false,
            checks: CheckOptions::default(),
            plan: PlanOptions::default(),
            build: BuildOptions::default(),
            threads: 1,
            work_dir: self.dir.path().join("work"),
            cache_dir: self.dir.path().join("cache"),
        };
        let built = make_release(&lake, &releases, &options, Arc::new(NoProgress), &*self.clock)
            .await
            .unwrap();
        assert_eq!(built.report.outcome, ReleaseOutcome::Published, "crawl {number}");
        if tidies {
            let options = TidyOptions::new(Duration::from_secs(168 * 3600), GcOptions::default());
            let [cache, work] = ["cache", "work"].map(|folder| self.dir.path().join(folder));
            let tidied = tidy(&lake, &releases, &options, true, &cache, &work).await;
            tidied.unwrap();
        }
        let (cpu, requests) = (cpu_ms() - begun, self.requests.load(Ordering::Relaxed) - asked);
        let objects: Vec<ObjectMeta> = self.storage.store().list(None).try_collect().await.unwrap();
        let under = |folder: &str| {
            objects
                .iter()
                .filter(|meta| meta.location.as_ref().starts_with(folder))
                .count()
        };
        self.clock.advance_ms(STEP_MS);
        let mut bytes_by_part = BTreeMap::new();
        for meta in &objects {
            *bytes_by_part.entry(part(meta.location.as_ref())).or_default() += meta.size;
        }
        let present = bytes_by_part
            .iter()
            .filter(|(part, _)| !KEPT_FOR_EVER.contains(&part.as_str()));
        Cost {
            present_bytes: present.map(|(_, bytes)| *bytes).sum(),
            bytes_by_part,
            cpu_ms: cpu,
            requests,
            lake_files: under("lake/"),
            release_files: under("releases/"),
            bytes: objects.iter().map(|meta| meta.size).sum(),
        }
    }
}

type Measure = fn(&Cost) -> u64;

fn mean(costs: &[Cost], what: Measure) -> f64 {
    costs.iter().map(|cost| what(cost) as f64).sum::<f64>() / costs.len() as f64
}

/// From the second to the last quarter of the crawls, costs may grow only by the added rows.
fn is_flat(costs: &[Cost]) {
    let quarter = costs.len() / 4;
    let (early, late) = (&costs[quarter..2 * quarter], &costs[3 * quarter..]);
    let measures: [(&str, Measure, f64); 4] = [
        ("bytes of the present", |cost| cost.present_bytes, 1.25),
        ("requests", |cost| cost.requests, 1.15),
        ("lake files", |cost| cost.lake_files as u64, 1.25),
        ("release files", |cost| cost.release_files as u64, 1.15),
    ];
    for (name, what, most) in measures {
        let (early, late) = (mean(early, what), mean(late, what));
        assert!(
            late <= early * most,
            "{name}: {early:.0} a crawl at first, {late:.0} at last"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_and_requests_stay_flat_over_ninety_six_crawls_and_would_not_without_upkeep() {
    let (tended, untended) = (Market::until_now(96), Market::until_now(40));
    let mut costs = Vec::new();
    for number in 0..96 {
        costs.push(tended.crawl(number, true).await);
    }
    is_flat(&costs);
    let mut grown = Vec::new();
    for number in 0..40 {
        grown.push(untended.crawl(number, false).await);
    }
    assert!(grown[39].lake_files > 2 * grown[13].lake_files, "{:?}", grown[39]);
}

/// Run with `cargo test -p pipeline-release --test all year:: -- --ignored`. Writes `target/tmp/year.csv`, which
/// `bench/upkeep.py` plots, and `year-parts.csv` with the bytes by group at three of the crawls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn a_thousand_crawls_of_a_year() {
    let market = Market::until_now(1_000);
    let (mut costs, mut csv) = (
        Vec::new(),
        "crawl,cpu_ms,requests,lake_files,release_files,bytes,present_bytes\n".to_owned(),
    );
    let mut parts = "crawl,part,bytes\n".to_owned();
    for number in 0..1_000 {
        let cost = market.crawl(number, true).await;
        let Cost {
            cpu_ms,
            requests,
            lake_files,
            release_files,
            bytes,
            present_bytes,
            ref bytes_by_part,
        } = cost;
        if [100, 500, 1_000].contains(&(number + 1)) {
            for (part, bytes) in bytes_by_part {
                writeln!(parts, "{},{part},{bytes}", number + 1).unwrap();
            }
        }
        writeln!(
            csv,
            "{number},{cpu_ms},{requests},{lake_files},{release_files},{bytes},{present_bytes}"
        )
        .unwrap();
        costs.push(cost);
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(folder.join("year.csv"), csv).unwrap();
    std::fs::write(folder.join("year-parts.csv"), parts).unwrap();
    is_flat(&costs);
}
