use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;

use data_model::Clock;
use data_storage::{ObjectPath, Storage, StorageError};
use futures::TryStreamExt as _;

use crate::backups::{self, each, objects};
use crate::copy::{self, COPIES_AT_ONCE, CopiedObject};
use crate::cut::{CopyPhase, LakeCut, is_within, turn};
use crate::keep::{BACKING_UP, refuse_pruning};
use crate::manifest::FORMAT;
use crate::mark::Mark;
use crate::{BackupError, BackupId, CopyProgress, Entry, Manifest};

/// Options of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeOptions {
    /// `true` where raw pages are copied too.
    pub with_landing: bool,
    /// `true` where nothing is written, and the objects that would be are counted.
    pub dry_run: bool,
}

/// A file of this machine that goes into a backup beside the home's objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraFile {
    /// Its path in the backup.
    pub path: String,
    /// Its file.
    pub file: PathBuf,
}

/// A backup that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// Its content; of a dry run, its would-be content, where the hash of an object that was not read is empty.
    pub manifest: Manifest,
    /// The number of objects that were written; of a dry run, of those that would be read.
    pub copied: u64,
    /// Their bytes.
    pub copied_bytes: u64,
    /// Objects that the home removed while it was backed up.
    pub vanished: u64,
}

/// A backup at work, before the moment of the lake is fixed.
pub struct RunningBackup<'a> {
    home: &'a Storage,
    backups: &'a Storage,
    options: TakeOptions,
    progress: &'a dyn CopyProgress,
    /// None of a dry run: that keeps nothing from going on.
    mark: Option<Mark<'a>>,
    manifest: Manifest,
    /// Objects of the last backup, by path: what has the same name and size is the same.
    before: HashMap<String, Entry>,
    /// The objects that the backups have, with their sizes: one of another size was cut short, and is written anew.
    there: Mutex<HashMap<String, u64>>,
    /// Objects that were listed before the cut and are copied after it.
    listed: HashSet<String>,
    entries: BTreeMap<String, Entry>,
    copied: (u64, u64),
    vanished: u64,
}

impl std::fmt::Debug for RunningBackup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningBackup")
            .field("id", &self.manifest.id)
            .finish_non_exhaustive()
    }
}

/// An object of the home, as it was listed.
#[derive(Debug, Clone)]
struct HomeObject {
    path: ObjectPath,
    bytes: u64,
    etag: Option<String>,
}

/// Begins a backup, and copies what must not be newer than the lake. The moment of the lake is fixed after this, by its
/// newest tick, and given to [`RunningBackup::finish`].
///
/// # Errors
/// Backups and home lie within each other, a clean-up is at work, or a storage fails.
pub async fn begin<'a>(
    home: &'a Storage,
    backups: &'a Storage,
    options: TakeOptions,
    clock: &'a dyn Clock,
    progress: &'a dyn CopyProgress,
) -> Result<RunningBackup<'a>, BackupError> {
    refuse_nested(home, backups)?;
    let began_at = clock.now();
    let id = BackupId::new(began_at, uuid::Uuid::new_v4().as_fields().0);
    let mark = match options.dry_run {
        true => None,
        false => Some(Mark::set(backups, mark_path(&id), clock).await?),
    };
    let manifest = Manifest {
        format: FORMAT,
        id,
        began_at,
        home: home.url().to_string(),
        lake_tick: None,
        has_landing: options.with_landing,
        entries: Vec::new(),
    };
    let mut taking = RunningBackup {
        home,
        backups,
        progress,
        mark,
        manifest,
        options,
        before: HashMap::new(),
        there: Mutex::default(),
        listed: HashSet::new(),
        entries: BTreeMap::new(),
        copied: (0, 0),
        vanished: 0,
    };
    match taking.copy_first().await {
        Ok(()) => Ok(taking),
        Err(error) => {
            taking.abandon().await;
            Err(error)
        }
    }
}

/// The entries in the newest backup of the objects that are there, by path.
async fn before(backups: &Storage, there: &HashMap<String, u64>) -> Result<HashMap<String, Entry>, BackupError> {
    let newest = match backups::load(backups, None).await {
        Ok(manifest) => Some(manifest),
        // Without it everything is read anew.
        Err(BackupError::NoBackup { .. } | BackupError::Manifest { .. } | BackupError::Newer { .. }) => None,
        Err(error) => return Err(error),
    };
    let entries = newest.into_iter().flat_map(|manifest| manifest.entries);
    let held = entries.filter(|entry| there.get(&entry.sha256) == Some(&entry.bytes));
    Ok(held.map(|entry| (entry.path.clone(), entry)).collect())
}

fn refuse_nested(home: &Storage, backups: &Storage) -> Result<(), BackupError> {
    let (inner, outer) = (home.url().as_str(), backups.url().as_str());
    match inner.starts_with(outer) || outer.starts_with(inner) {
        true => Err(BackupError::Nested {
            home: inner.to_owned(),
            backups: outer.to_owned(),
        }),
        false => Ok(()),
    }
}

fn mark_path(id: &BackupId) -> ObjectPath {
    ObjectPath::from(format!("{BACKING_UP}/{id}.json"))
}

impl RunningBackup<'_> {
    /// Copies objects that must not be newer than the lake.
    async fn copy_first(&mut self) -> Result<(), BackupError> {
        if self.mark.is_some() {
            refuse_pruning(self.backups, self.manifest.began_at).await?;
        }
        let there = objects(self.backups, "objects").await?;
        self.before = before(self.backups, &there).await?;
        self.there = Mutex::new(there);
        let seen = self.seen().await?;
        let with_landing = self.options.with_landing;
        let of = |wanted: CopyPhase| {
            seen.iter()
                .filter(move |one| turn(one.path.as_ref(), with_landing) == wanted)
        };
        self.listed = of(CopyPhase::Listed).map(|one| one.path.to_string()).collect();
        let first: Vec<_> = of(CopyPhase::Before).cloned().collect();
        self.copy(first).await
    }

    /// Gives a backup up: what was copied stays, and nothing waits for its end.
    pub async fn abandon(self) {
        // A mark that stays, where this fails, counts until it is old.
        if let Some(mark) = &self.mark {
            let _ = mark.lift().await;
        }
    }

    /// Copies the rest as the lake was at `cut`, and the files that are given, and writes the list of all. Without a cut the
    /// home has no lake.
    ///
    /// # Errors A storage fails, or an object keeps changing. Copied objects stay, and the next backup does not copy
    /// them again.
    pub async fn finish(mut self, cut: Option<LakeCut>, given: Vec<ExtraFile>) -> Result<BackupReport, BackupError> {
        match self.rest(cut, given).await {
            Ok(()) => Ok(BackupReport {
                copied: self.copied.0,
                copied_bytes: self.copied.1,
                vanished: self.vanished,
                manifest: self.manifest,
            }),
            Err(error) => {
                self.abandon().await;
                Err(error)
            }
        }
    }

    async fn rest(&mut self, cut: Option<LakeCut>, given: Vec<ExtraFile>) -> Result<(), BackupError> {
        self.renew().await?;
        self.manifest.lake_tick = cut.as_ref().map(|cut| cut.tick);
        let with_landing = self.options.with_landing;
        let seen = self.seen().await?;
        let rest = seen.into_iter().filter(|one| {
            let path = one.path.as_ref();
            let is_turn = match turn(path, with_landing) {
                CopyPhase::After => true,
                CopyPhase::Listed => self.listed.contains(path),
                CopyPhase::Before | CopyPhase::Never => false,
            };
            is_turn && is_within(path, cut.as_ref())
        });
        let rest: Vec<_> = rest.collect();
        self.copy(rest).await?;
        for file in given {
            self.renew().await?;
            self.give(file).await?;
        }
        self.manifest.entries = std::mem::take(&mut self.entries).into_values().collect();
        match &self.mark {
            Some(mark) => {
                mark.renew().await?;
                self.write().await?;
                mark.lift().await
            }
            None => Ok(()),
        }
    }

    async fn renew(&self) -> Result<(), BackupError> {
        match &self.mark {
            Some(mark) => mark.renew().await,
            None => Ok(()),
        }
    }

    /// Every object of the home.
    async fn seen(&self) -> Result<Vec<HomeObject>, BackupError> {
        let listed = self.home.store().list(None).map_ok(|meta| HomeObject {
            path: meta.location,
            bytes: meta.size,
            etag: meta.e_tag,
        });
        let listed = listed.try_collect().await.map_err(|source| StorageError::List {
            prefix: self.home.url().to_string(),
            source,
        });
        Ok(listed?)
    }

    /// The same object in the last backup, where its name says that nothing has changed.
    fn known(&self, seen: &HomeObject) -> Option<Entry> {
        let entry = self.before.get(seen.path.as_ref())?;
        let is_same = entry.bytes == seen.bytes && entry.etag.is_some() && entry.etag == seen.etag;
        is_same.then(|| entry.clone())
    }

    async fn copy(&mut self, seen: Vec<HomeObject>) -> Result<(), BackupError> {
        self.progress
            .total(seen.len() as u64, seen.iter().map(|one| one.bytes).sum());
        let this = &*self;
        let copies = seen.into_iter().map(|one| async move {
            this.renew().await?;
            let entry = this.entry(&one).await?;
            this.progress.done(one.bytes);
            Ok(entry)
        });
        let done = each(copies, COPIES_AT_ONCE).await?;
        for copied in done {
            match copied {
                Some((entry, is_new)) => {
                    self.count(is_new, entry.bytes);
                    self.entries.insert(entry.path.clone(), entry);
                }
                None => self.vanished += 1,
            }
        }
        Ok(())
    }

    fn count(&mut self, is_new: bool, bytes: u64) {
        if is_new {
            self.copied = (self.copied.0 + 1, self.copied.1 + bytes);
        }
    }

    /// The entry of an object, and `true` where it was written; `None` where the home has it no more.
    async fn entry(&self, seen: &HomeObject) -> Result<Option<(Entry, bool)>, BackupError> {
        if let Some(entry) = self.known(seen) {
            return Ok(Some((entry, false)));
        }
        let entry = |sha256, bytes, etag| Entry {
            path: seen.path.to_string(),
            bytes,
            sha256,
            etag,
        };
        if self.options.dry_run {
            return Ok(Some((entry(String::new(), seen.bytes, None), true)));
        }
        let copied = copy::keep(self.home, self.backups, &seen.path, |sha256, bytes| {
            self.has(sha256, bytes)
        })
        .await?;
        Ok(copied.map(
            |CopiedObject {
                 sha256,
                 bytes,
                 etag,
                 is_new,
             }| {
                self.learn(&sha256, bytes);
                (entry(sha256, bytes, etag), is_new)
            },
        ))
    }

    fn has(&self, sha256: &str, bytes: u64) -> bool {
        self.there.lock().is_ok_and(|there| there.get(sha256) == Some(&bytes))
    }

    fn learn(&self, sha256: &str, bytes: u64) {
        if let Ok(mut there) = self.there.lock() {
            there.insert(sha256.to_owned(), bytes);
        }
    }

    /// Takes a file of this machine in.
    async fn give(&mut self, given: ExtraFile) -> Result<(), BackupError> {
        let failed = |source| BackupError::File {
            path: given.file.display().to_string(),
            source,
        };
        let folder = given.file.parent().unwrap_or(&given.file);
        let name = given.file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| failed(std::io::ErrorKind::InvalidFilename.into()))?;
        let bytes = std::fs::metadata(&given.file).map_err(failed)?.len();
        let mut entry = Entry {
            path: given.path.clone(),
            bytes,
            sha256: String::new(),
            etag: None,
        };
        let mut is_new = true;
        if !self.options.dry_run {
            let folder = Storage::from_path(folder)?;
            let copied = copy::keep(&folder, self.backups, &ObjectPath::from(name), |sha256, bytes| {
                self.has(sha256, bytes)
            })
            .await?;
            let copied = copied.ok_or_else(|| failed(std::io::ErrorKind::NotFound.into()))?;
            (entry.sha256, entry.bytes, is_new) = (copied.sha256, copied.bytes, copied.is_new);
        }
        self.count(is_new, entry.bytes);
        self.entries.insert(given.path, entry);
        Ok(())
    }

    /// Writes the list, if everything that it names is there.
    async fn write(&self) -> Result<(), BackupError> {
        let missing = backups::missing(self.backups, &self.manifest).await?;
        if let Some(first) = missing.first() {
            return Err(BackupError::Damaged {
                id: self.manifest.id.clone(),
                count: missing.len(),
                first: first.clone(),
            });
        }
        // The name holds a random part: nobody else has it.
        backups::store(self.backups, &self.manifest).await.map(drop)
    }
}
