use std::collections::{BTreeMap, BTreeSet};

use data_index::{BrandFacts, Embedding, Manifest, PartEntry, PartId, SCHEMA_VERSION};
use data_model::StoreHost;

use crate::part::fingerprint;

/// Current state of a store in the lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LakeStore {
    /// Brand and catalogue hash of the store.
    pub facts: BrandFacts,
    /// Number of the store's products.
    pub product_count: u64,
}

/// Options that determine when parts are reused, rewritten and merged.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// Maximum number of rows in a part, as in [`BuildOptions`](data_index::BuildOptions).
    pub rows_max: u32,
    /// Maximum share of dead rows in a part. A build rewrites the part that exceeds it most.
    pub dead_share_max: f64,
    /// Number of parts of similar size that are merged into one of the next size, at least 2.
    pub merge_factor: usize,
    /// Embedder, as in [`BuildOptions`](data_index::BuildOptions). Stores with vectors of another one are indexed
    /// again.
    pub embedding: Option<Embedding>,
    /// Stores whose products cannot be read. Existing parts with such a store are neither rewritten nor merged. Without
    /// an up-to-date part, the store is left out of the release: see [`BuildPlan::left_out`].
    pub unreadable: BTreeSet<StoreHost>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            rows_max: 131_072,
            dead_share_max: 0.3,
            merge_factor: 8,
            embedding: data_embedding::shipped().as_deref().map(Embedding::of),
            unreadable: BTreeSet::new(),
        }
    }
}

/// All parts with a larger share of dead rows than this are rewritten in the same build.
const DEAD_SHARE_URGENT: f64 = 0.6;

/// Plan of a build.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildPlan {
    /// Reused parts, with their stores marked live or dead.
    pub keep: Vec<PartEntry>,
    /// New parts, which can be built from the lake in any order or in parallel.
    pub build: Vec<PartPlan>,
    /// Parts of the previous release that the next one does not contain.
    pub drop: Vec<PartId>,
    /// Embedder of the build.
    pub embedding: Option<Embedding>,
    /// Stores that need indexing but cannot be read. The release does not contain them.
    pub left_out: BTreeSet<StoreHost>,
}

/// Plan of a part to build. A store that does not fit into one part needs several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPlan {
    /// Stores whose products the part will contain, sorted.
    pub stores: Vec<StoreHost>,
    /// Number of products of these stores.
    pub rows: u64,
}

impl BuildPlan {
    #[must_use]
    pub(crate) fn stores_to_index(&self) -> BTreeSet<StoreHost> {
        self.build.iter().flat_map(|part| part.stores.iter().cloned()).collect()
    }

    /// Returns the number of products that must be read.
    #[must_use]
    pub fn rows_to_index(&self) -> u64 {
        self.build.iter().map(|part| part.rows).sum()
    }
}

/// Decides which parts of the previous release are reused, which stores are indexed again, and in which parts.
///
/// In the next release, every store with products is live exactly once. The cost depends on the changes: besides
/// changed stores, only stores in merged or rewritten parts are indexed. Over many builds, each row is indexed about
/// log₈ times.
#[must_use]
pub fn plan(previous: Option<&Manifest>, stores: &[LakeStore], options: &PlanOptions) -> BuildPlan {
    let mut planner = Planner::new(previous, stores, options);
    planner.settle();
    planner.finish()
}

struct LakeCatalogue {
    fingerprint: String,
    rows: u64,
}

struct Planner<'a> {
    wanted: BTreeMap<&'a StoreHost, LakeCatalogue>,
    options: &'a PlanOptions,
    keep: Vec<PartEntry>,
    /// Stores to index again. The set only grows, so that the loop in `settle` ends.
    index: BTreeSet<&'a StoreHost>,
    drop: Vec<PartId>,
    left_out: BTreeSet<StoreHost>,
    rewritten: bool,
}

impl<'a> Planner<'a> {
    fn new(previous: Option<&Manifest>, stores: &'a [LakeStore], options: &'a PlanOptions) -> Self {
        let wanted = |store: &'a LakeStore| {
            let wanted = LakeCatalogue {
                fingerprint: fingerprint(&store.facts, options.embedding.as_ref()),
                rows: store.product_count,
            };
            (&store.facts.brand.store, wanted)
        };
        let mut planner = Self {
            wanted: stores
                .iter()
                .filter(|store| store.product_count > 0)
                .map(wanted)
                .collect(),
            options,
            keep: previous.map(|manifest| manifest.parts.clone()).unwrap_or_default(),
            index: BTreeSet::new(),
            drop: Vec::new(),
            left_out: BTreeSet::new(),
            rewritten: false,
        };
        if previous.is_some_and(|manifest| manifest.schema_version != SCHEMA_VERSION) {
            // The file layout differs, so that no part can be shared.
            planner.drop = planner.keep.drain(..).map(|part| part.id).collect();
        }
        planner.index_what_changed();
        planner
    }

    /// Finds the stores whose current state is not completely contained in reused parts.
    fn index_what_changed(&mut self) {
        let mut held: BTreeMap<&StoreHost, u64> = BTreeMap::new();
        let live = self.keep.iter().flat_map(|part| &part.stores).filter(|held| held.live);
        for run in live {
            if self
                .wanted
                .get(&run.store)
                .is_some_and(|wanted| wanted.fingerprint == run.fingerprint)
            {
                *held.entry(&run.store).or_default() += u64::from(run.rows);
            }
        }
        let changed = |(store, wanted): (&&'a StoreHost, &LakeCatalogue)| {
            (held.get(*store) != Some(&wanted.rows)).then_some(*store)
        };
        self.index = self.wanted.iter().filter_map(changed).collect();
        let unreadable = &self.options.unreadable;
        let out: Vec<&StoreHost> = self
            .index
            .iter()
            .copied()
            .filter(|store| unreadable.contains(*store))
            .collect();
        for store in out {
            self.index.remove(store);
            self.wanted.remove(store);
            self.left_out.insert(store.clone());
        }
    }

    fn settle(&mut self) {
        loop {
            self.mark();
            if !self.rewrite_the_dead() && !self.merge_the_small() {
                return;
            }
        }
    }

    /// Drops parts without live rows.
    fn mark(&mut self) {
        let (wanted, index) = (&self.wanted, &self.index);
        for part in &mut self.keep {
            for run in &mut part.stores {
                let same = wanted
                    .get(&run.store)
                    .is_some_and(|wanted| wanted.fingerprint == run.fingerprint);
                run.live = run.live && same && !index.contains(&run.store);
            }
            part.live_rows = part.stores.iter().filter(|run| run.live).map(|run| run.rows).sum();
        }
        let empty = self.keep.extract_if(.., |part| part.live_rows == 0);
        self.drop.extend(empty.map(|part| part.id));
    }

    /// Moves the live stores of the part with the most dead rows to the new parts. Returns `true` if there was such a
    /// part.
    fn rewrite_the_dead(&mut self) -> bool {
        let share = |part: &PartEntry| 1.0 - f64::from(part.live_rows) / f64::from(part.rows.max(1));
        let movable = (0..self.keep.len()).filter(|at| self.is_movable(&self.keep[*at]));
        let worst = movable.max_by(|a, b| share(&self.keep[*a]).total_cmp(&share(&self.keep[*b])));
        let Some(worst) = worst else { return false };
        let limit = if self.rewritten {
            DEAD_SHARE_URGENT
        } else {
            self.options.dead_share_max
        };
        if share(&self.keep[worst]) <= limit {
            return false;
        }
        self.rewritten = true;
        self.dissolve(&[worst]);
        true
    }

    /// Merges parts of similar size if there are enough of them. The new rows count as a part. Returns `true` if parts
    /// were merged.
    fn merge_the_small(&mut self) -> bool {
        let full = self.options.rows_max / 2;
        let factor = self.options.merge_factor.max(2);
        let tier = |rows: u64| rows.max(1).ilog(factor as u64);
        let mut tiers: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let small = |part: &PartEntry| part.live_rows < full && self.is_movable(part);
        for (at, part) in self.keep.iter().enumerate().filter(|(_, part)| small(part)) {
            tiers.entry(tier(u64::from(part.live_rows))).or_default().push(at);
        }
        let new_rows = self.new_rows();
        let new = (new_rows > 0 && new_rows < u64::from(full)).then(|| tier(new_rows));
        let crowded = tiers
            .into_iter()
            .find(|(tier, parts)| parts.len() + usize::from(new == Some(*tier)) >= factor);
        match crowded {
            Some((_, parts)) => {
                self.dissolve(&parts);
                true
            }
            None => false,
        }
    }

    /// Returns `true` if every product that the part serves can be read again.
    fn is_movable(&self, part: &PartEntry) -> bool {
        let unreadable = &self.options.unreadable;
        unreadable.is_empty()
            || !part
                .stores
                .iter()
                .any(|run| run.live && unreadable.contains(&run.store))
    }

    fn new_rows(&self) -> u64 {
        self.index
            .iter()
            .filter_map(|store| self.wanted.get(*store))
            .map(|wanted| wanted.rows)
            .sum()
    }

    fn dissolve(&mut self, parts: &[usize]) {
        for run in parts
            .iter()
            .flat_map(|at| &self.keep[*at].stores)
            .filter(|run| run.live)
        {
            if let Some((store, _)) = self.wanted.get_key_value(&run.store) {
                self.index.insert(store);
            }
        }
    }

    fn finish(self) -> BuildPlan {
        BuildPlan {
            build: self.groups(),
            keep: self.keep,
            drop: self.drop,
            left_out: self.left_out,
            embedding: self.options.embedding.clone(),
        }
    }

    /// Groups the stores to index into parts of about equal size. A store larger than a part gets its own group.
    fn groups(&self) -> Vec<PartPlan> {
        let rows_max = u64::from(self.options.rows_max.max(1));
        let stores = self
            .index
            .iter()
            .filter_map(|store| Some((*store, self.wanted.get(*store)?.rows)));
        let (large, small): (Vec<_>, Vec<_>) = stores.partition(|(_, rows)| *rows > rows_max);
        let alone = |(store, rows): (&StoreHost, u64)| PartPlan {
            stores: vec![store.clone()],
            rows,
        };
        let mut groups: Vec<PartPlan> = large.into_iter().map(alone).collect();
        let total: u64 = small.iter().map(|(_, rows)| rows).sum();
        let target = total
            .checked_div(total.div_ceil(rows_max))
            .map_or(rows_max, |share| share + share / 32);
        let mut open: Option<PartPlan> = None;
        for (store, rows) in small {
            let fits = |group: &PartPlan| group.rows < target && group.rows + rows <= rows_max;
            match open.as_mut().filter(|group| fits(group)) {
                Some(group) => {
                    group.stores.push(store.clone());
                    group.rows += rows;
                }
                None => groups.extend(open.replace(alone((store, rows)))),
            }
        }
        groups.extend(open);
        groups
    }
}

#[cfg(test)]
mod tests;
