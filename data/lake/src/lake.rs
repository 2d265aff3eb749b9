use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use data_model::{BrandRefresh, Clock, StoreHost, Timestamp};
use data_storage::Storage;
use futures::future::try_join_all;
use tokio::sync::{Mutex, MutexGuard};

use crate::apply::{ApplyOutcome, PreparedActions, Work, apply, compute, discard, is_given_up, prepare};
use crate::create::create;
use crate::delta::Table;
use crate::hash::HashedRefresh;
use crate::lost::Losses;
use crate::merge_observations::CrawlSpan;
use crate::parts::{cut, sorted};
use crate::plan::{self, Plan};
use crate::prior::BrandState;
use crate::rows::offers::StoreOffers;
use crate::rows::runs::{RunSummaryRow, TickCounts};
use crate::staging::pack;
use crate::tick::{Rows, TickEnd, TickKind, TickRecord, Ticks};
use crate::{LakeConfig, LakeError, TableName};

/// The lake: Delta tables that change together, tick by tick.
///
/// Clones share one state; one of them commits at a time. Any number of processes may work on the same storage.
#[derive(Debug, Clone)]
pub struct Lake {
    pub(crate) inner: Arc<Inner>,
    /// The right under which this handle commits; `None`: under none.
    pub(crate) fence: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) storage: Storage,
    pub(crate) config: Arc<LakeConfig>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ticks: Ticks,
    state: Mutex<State>,
}

/// The memory of the committer.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Loaded when first needed; dropped when an operation failed, because what it changed is not known.
    pub(crate) tables: Option<BTreeMap<TableName, Table>>,
    /// The last tick that is known to have ended.
    pub(crate) ended: u64,
    /// Of each table the last entry of its log up to which all that its state is made of was found to be whole.
    pub(crate) checked: BTreeMap<TableName, u64>,
    /// A tick that could not be finished.
    pub(crate) unfinished: Option<u64>,
    /// The last tick up to which `tables` is known to be complete.
    pub(crate) loaded: u64,
    /// The rows of the files of `brands`, by the files' paths.
    pub(crate) brands: HashMap<String, HashMap<StoreHost, BrandState>>,
    /// The products that the files of `product_history` tell as gone, by the files' paths and by store.
    pub(crate) gone: HashMap<String, HashMap<String, HashSet<u64>>>,
    /// Stores that are to be written anew though their content is the stored content.
    pub(crate) damaged: BTreeSet<StoreHost>,
}

/// The changes of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// The ticks that were committed; empty when nothing changed. One, unless there was too much for one.
    pub ticks: Vec<u64>,
    /// The stores whose content changed or went.
    pub changed: Vec<StoreHost>,
    /// The stores whose content was already there.
    pub unchanged: Vec<StoreHost>,
    /// The stores of which the lake has what was read after this reading began: they stay as they are.
    pub overtaken: Vec<StoreHost>,
    /// The changes in numbers.
    pub counts: TickCounts,
}

impl Lake {
    /// Opens the lake in `storage`: creates the tables that are absent, and finishes what a process that died
    /// had begun. Where that cannot be finished now (the disk is full, or may only be read), the lake opens all the
    /// same: reads show the state before, and whoever commits tries again and is told why.
    ///
    /// # Errors
    /// The storage cannot be read, tables are absent and cannot be created, an entry of a table's log is missing or
    /// damaged, or the lake was created with another number of buckets.
    #[boxed]
    pub async fn open(storage: Storage, config: LakeConfig, clock: Arc<dyn Clock>) -> Result<Self, LakeError> {
        create(&storage, &config, clock.now()).await?;
        let ticks = Ticks::new(&storage);
        let inner = Inner {
            storage,
            config: Arc::new(config),
            clock,
            ticks,
            state: Mutex::default(),
        };
        let lake = Self {
            inner: Arc::new(inner),
            fence: None,
        };
        let mut state = lake.inner.state.lock().await;
        match lake.recover(&mut state).await {
            // A lake without any record of a tick does not tell the state of its tables.
            Ok(()) if state.ended == 0 => {
                lake.tables(&mut state).await?;
            }
            Ok(()) => {}
            Err(error) => lake.leave_unrecovered(&mut state, error).await?,
        }
        drop(state);
        Ok(lake)
    }

    /// Commits the changes of these brands as one tick: every table that changes gets one commit. A brand whose content
    /// is the stored content is left out; when all are, nothing at all is written.
    ///
    /// When this fails after the tick was recorded, the tick will be finished by the next call or the next open. When a
    /// data file that is to be rewritten is missing or damaged and holds rows of brands that are not among these,
    /// nothing is recorded: the brands of other files can be committed without those of this one, and it is written
    /// anew by a call that has all of its brands.
    ///
    /// A brand that changed is left as it is where the lake has what was read after this reading of it began: some of its
    /// pages may be older, and would take back what is newer. A moment that is ahead of the clock proves nothing of that.
    ///
    /// # Errors
    /// The storage fails, a table is not readable, a store occurs twice, or others commit without pause.
    #[tracing::instrument(target = "trace::lake", name = "lake commit", level = "info", skip_all, fields(brands = refreshes.len()))]
    #[boxed]
    pub async fn commit(&self, refreshes: Vec<BrandRefresh>, run: RunSummaryRow) -> Result<CommitReport, LakeError> {
        let hashed = compute(move || refreshes.into_iter().map(HashedRefresh::new).collect()).await?;
        self.commit_hashed(hashed, run).await
    }

    /// [`Lake::commit`] of brands whose content was hashed before.
    ///
    /// # Errors
    /// As [`Lake::commit`].
    #[boxed]
    pub async fn commit_hashed(
        &self,
        refreshes: Vec<HashedRefresh>,
        run: RunSummaryRow,
    ) -> Result<CommitReport, LakeError> {
        let found = refreshes.iter().map(|HashedRefresh { refresh, .. }| {
            let store = refresh.brand.store.clone();
            let span = CrawlSpan {
                began_at: refresh.read_since.min(refresh.observed_at),
                ended_at: refresh.observed_at,
            };
            (store, span)
        });
        let found: BTreeMap<StoreHost, CrawlSpan> = found.collect();
        let parts = cut(sorted(refreshes, self.inner.config.buckets)?);
        let mut report = CommitReport::default();
        let mut state = self.inner.state.lock().await;
        for part in parts {
            self.commit_part(&mut state, part, &run, &mut report).await?;
        }
        Box::pin(self.see_unchanged(&mut state, found, &run, &mut report)).await;
        Ok(report)
    }

    async fn commit_part(
        &self,
        state: &mut State,
        part: Vec<HashedRefresh>,
        run: &RunSummaryRow,
        report: &mut CommitReport,
    ) -> Result<(), LakeError> {
        let (mut part, store_of) = (part, |hashed: &HashedRefresh| hashed.refresh.brand.store.clone());
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.recover(state).await?;
            let stores: BTreeSet<StoreHost> = part.iter().map(store_of).collect();
            let stored = self.stored(state, &stores).await?;
            let is_changed = |hashed: &HashedRefresh| {
                let store = &hashed.refresh.brand.store;
                let is_same = stored.get(store).is_some_and(|stored| stored.hash == hashed.hash);
                !is_same || state.damaged.contains(store)
            };
            let (mut changed, same): (Vec<HashedRefresh>, Vec<HashedRefresh>) = part.into_iter().partition(is_changed);
            let now = self.inner.clock.now();
            let is_overtaken = |hashed: &mut HashedRefresh| {
                let began_at = hashed.refresh.read_since.min(hashed.refresh.observed_at);
                let store = &hashed.refresh.brand.store;
                // A run that goes on after a kill does not overtake itself.
                let others = stored
                    .get(store)
                    .filter(|stored| stored.run.as_ref() != Some(&hashed.refresh.run));
                let read_at = others.and_then(|stored| stored.read_at(now));
                // A damaged catalogue is worth less than an older one.
                read_at.is_some_and(|read_at| began_at < read_at) && !state.damaged.contains(store)
            };
            report
                .overtaken
                .extend(changed.extract_if(.., is_overtaken).map(|hashed| store_of(&hashed)));
            if changed.is_empty() {
                report.unchanged.extend(same.iter().map(store_of));
                return Ok(());
            }
            let committed = self.commit_changed(state, &mut changed, same.len(), &stored, run);
            match committed.await {
                Ok(Some((tick, plan))) => {
                    report.unchanged.extend(same.iter().map(store_of));
                    report.add(tick, plan);
                    return Ok(());
                }
                Ok(None) => {}
                // All that a file held is at hand, though some of it did not change: it is written anew.
                Err(LakeError::Lost { brands, .. })
                    if brands.iter().all(|(store, _)| stores.contains(store))
                        && brands
                            .iter()
                            .any(|(store, _)| same.iter().any(|hashed| store_of(hashed) == *store)) =>
                {
                    state.damaged.extend(brands.into_iter().map(|(store, _)| store));
                }
                Err(error) => return Err(error),
            }
            part = sorted(changed.into_iter().chain(same).collect(), self.inner.config.buckets)?;
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    /// Commits refreshes that change something; `None` when the tick's number was taken.
    pub(crate) async fn commit_changed(
        &self,
        state: &mut State,
        changed: &mut Vec<HashedRefresh>,
        unchanged: usize,
        stored: &HashMap<StoreHost, BrandState>,
        run: &RunSummaryRow,
    ) -> Result<Option<(u64, Plan)>, LakeError> {
        let stores = changed.iter().map(|hashed| hashed.refresh.brand.store.clone());
        let mut before = self.before(state, &stores.collect(), stored).await?;
        let mut new = BTreeSet::new();
        for hashed in changed.iter() {
            let store = &hashed.refresh.brand.store;
            let listed = before.listed.get(store.as_str());
            if !listed.map_or(Ok(false), |listed| listed.has_all(&hashed.refresh.products.ids))? {
                new.insert(store.clone());
            }
        }
        self.note_gone(state, &new, &mut before.listed).await?;
        let (tick, buckets) = (state.ended + 1, self.inner.config.buckets);
        let refreshes = std::mem::take(changed);
        let (plan, refreshes) = compute(move || {
            let plan = plan::refresh(&refreshes, unchanged, &before, tick, buckets)?;
            Ok((plan, refreshes))
        })
        .await?;
        *changed = refreshes;
        self.run_tick(state, tick, TickKind::Refresh, Some(run.clone()), plan)
            .await
    }

    /// Removes brands with all that is known of them, but for their history; each of their variants gets a last
    /// row there. Stores that are not in the lake are left out.
    ///
    /// # Errors
    /// As [`Lake::commit`].
    #[boxed]
    pub async fn remove_brands(&self, stores: &[StoreHost]) -> Result<CommitReport, LakeError> {
        let mut state = self.inner.state.lock().await;
        for _ in 0..self.inner.config.attempts_max.max(1) {
            self.recover(&mut state).await?;
            let asked: BTreeSet<StoreHost> = stores.iter().cloned().collect();
            let stored = self.stored(&mut state, &asked).await?;
            let (present, absent): (BTreeSet<_>, BTreeSet<_>) =
                asked.into_iter().partition(|store| stored.contains_key(store));
            let mut report = CommitReport {
                unchanged: absent.into_iter().collect(),
                ..CommitReport::default()
            };
            if present.is_empty() {
                return Ok(report);
            }
            let before = self.before(&mut state, &present, &stored).await?;
            let (tick, now) = (state.ended + 1, self.inner.clock.now());
            let went = present.into_iter().map(|store| {
                let read_at = stored.get(&store).and_then(|stored| stored.read_at(now));
                let live_at = before.offered.get(store.as_str()).and_then(StoreOffers::newest_live);
                let at = read_at.into_iter().chain(live_at).fold(now, Timestamp::max);
                (store, at)
            });
            let plan = plan::removal(&went.collect(), &before, tick)?;
            if let Some((tick, plan)) = self.run_tick(&mut state, tick, TickKind::Remove, None, plan).await? {
                report.add(tick, plan);
                return Ok(report);
            }
        }
        Err(LakeError::Contended {
            attempts: self.inner.config.attempts_max,
        })
    }

    /// Prepares, stages, records and applies a tick; `None` when the number is taken: by another process, or because this
    /// tick was given up.
    pub(crate) async fn run_tick(
        &self,
        state: &mut State,
        tick: u64,
        kind: TickKind,
        run: Option<RunSummaryRow>,
        mut plan: Plan,
    ) -> Result<Option<(u64, Plan)>, LakeError> {
        let ticks = &self.inner.ticks;
        let rows = std::mem::take(&mut plan.rows);
        let mut record = TickRecord {
            run,
            stores: plan.stores.clone(),
            counts: plan.counts,
            restored: std::mem::take(&mut plan.restored),
            dropped: std::mem::take(&mut plan.dropped),
            fence: self.fence,
            gone: std::mem::take(&mut plan.gone),
            ..TickRecord::new(tick, kind, self.inner.clock.now())
        };
        self.check_fence(state).await?;
        // Before the tick is recorded, so that it is never begun where what it is to rewrite cannot be read.
        let prepared = self.prepare(state, &record, &rows).await?;
        let (packed, rows) = pack(&record, rows, &prepared).await?;
        (record.token, record.staged) = ticks.stage(tick, packed).await?;
        if !ticks.begin(&record).await? {
            // Files that a restore adds are not its own.
            if kind != TickKind::Restore {
                discard(&self.inner.storage, &prepared).await;
            }
            ticks.unstage(tick, &record.token).await?;
            return Ok(None);
        }
        let applied = self.finish_tick(state, &record, rows, Some(prepared)).await?;
        Ok((applied == ApplyOutcome::Done).then_some((tick, plan)))
    }

    /// Writes the files that the tick is to add.
    pub(crate) async fn prepare(
        &self,
        state: &mut State,
        record: &TickRecord,
        rows: &Rows,
    ) -> Result<PreparedActions, LakeError> {
        let (storage, config) = (&self.inner.storage, &self.inner.config);
        let tables = self.tables(state).await?;
        let losses = Losses::new(storage, tables);
        let work = Work::new(record, rows, config, self.inner.clock.now(), losses)?;
        let prepared = prepare(storage, tables, &work).await;
        if prepared.is_err() {
            // Others may have moved what was looked for.
            state.tables = None;
        }
        prepared
    }

    /// Applies a recorded tick and ends it.
    pub(crate) async fn finish_tick(
        &self,
        state: &mut State,
        record: &TickRecord,
        rows: Rows,
        prepared: Option<PreparedActions>,
    ) -> Result<ApplyOutcome, LakeError> {
        // A failure from here on leaves the tables in a state that has to be read again.
        let mut tables = state.tables.take().unwrap_or_default();
        if tables.is_empty() {
            tables = self.load().await?;
        }
        let losses = Losses::new(&self.inner.storage, &tables);
        let work = Work::new(record, &rows, &self.inner.config, self.inner.clock.now(), losses)?;
        let applied = match prepared {
            Some(prepared) => apply(&mut tables, &work, prepared).await?,
            None if is_given_up(&tables, record.tick).await? => ApplyOutcome::GivenUp,
            None => {
                let prepared = prepare(&self.inner.storage, &tables, &work).await?;
                apply(&mut tables, &work, prepared).await?
            }
        };
        self.end_tick(state, record, tables, applied).await?;
        Ok(applied)
    }

    /// Ends a tick that is in the tables, or never will be.
    pub(crate) async fn end_tick(
        &self,
        state: &mut State,
        record: &TickRecord,
        mut tables: BTreeMap<TableName, Table>,
        applied: ApplyOutcome,
    ) -> Result<(), LakeError> {
        let digest = |table: &mut Table| Some((table.name.to_string(), table.landed.take()?));
        let end = TickEnd {
            tick: record.tick,
            committed_at: record.committed_at,
            versions: versions(&tables),
            digests: tables.values_mut().filter_map(digest).collect(),
            given_up: applied == ApplyOutcome::GivenUp,
        };
        self.inner.ticks.finish(end).await?;
        for table in tables.values() {
            // Checkpoints and the staged object only save time and space: the tick has landed.
            if let Err(error) = table.checkpoint(self.inner.config.checkpoint_every).await {
                tracing::warn!(table = %table.name, %error, "no checkpoint could be written");
            }
        }
        if let Err(error) = self.inner.ticks.clear(record.tick).await {
            tracing::warn!(tick = record.tick, %error, "staged rows could not be removed");
        }
        if applied == ApplyOutcome::Done
            && matches!(record.kind, TickKind::Refresh | TickKind::Backfill | TickKind::Remove)
        {
            state.damaged.retain(|store| !record.stores.contains(store));
        }
        (state.ended, state.loaded, state.tables) = (record.tick, record.tick, Some(tables));
        Ok(())
    }

    /// The tables, complete up to the last tick that ended. Where they have more than all records of ticks say, the last
    /// tick is theirs from here on.
    pub(crate) async fn tables<'a>(
        &self,
        state: &'a mut State,
    ) -> Result<&'a mut BTreeMap<TableName, Table>, LakeError> {
        loop {
            let tables = match state.tables.take() {
                None => self.load().await?,
                Some(mut tables) if state.loaded < state.ended => {
                    try_join_all(tables.values_mut().map(Table::refresh)).await?;
                    tables
                }
                Some(tables) => return Ok(state.tables.insert(tables)),
            };
            state.loaded = state.ended;
            self.recover_ticks(state, &tables).await?;
            if state.loaded == state.ended {
                return Ok(state.tables.insert(tables));
            }
            state.tables = Some(tables);
        }
    }

    pub(crate) async fn load(&self) -> Result<BTreeMap<TableName, Table>, LakeError> {
        let tables = try_join_all(TableName::ALL.map(|table| Table::open(&self.inner.storage, table))).await?;
        Ok(tables.into_iter().map(|table| (table.name, table)).collect())
    }

    pub(crate) async fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().await
    }
}

impl Inner {
    /// Looks at what the committer knows, unless it is at work.
    pub(crate) fn peek<T>(&self, look: impl FnOnce(&State) -> T) -> Option<T> {
        self.state.try_lock().ok().map(|state| look(&state))
    }
}

impl CommitReport {
    pub(crate) fn add(&mut self, tick: u64, plan: Plan) {
        self.ticks.push(tick);
        self.changed.extend(plan.stores);
        let (sum, more) = (&mut self.counts, plan.counts);
        sum.brands_unchanged += more.brands_unchanged;
        sum.brands_changed += more.brands_changed;
        sum.products += more.products;
        sum.products_added += more.products_added;
        sum.products_removed += more.products_removed;
        sum.variants += more.variants;
        sum.price_changes += more.price_changes;
        sum.quarantined += more.quarantined;
    }
}

pub(crate) fn versions(tables: &BTreeMap<TableName, Table>) -> BTreeMap<String, u64> {
    tables
        .values()
        .map(|table| (table.name.to_string(), table.version()))
        .collect()
}
