use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Mutex;

use data_model::Clock;
use data_storage::{ObjectPath, Storage, list_all};

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
    /// True to copy raw pages too.
    pub with_landing: bool,
    /// True to write nothing and count the objects that would be written.
    pub dry_run: bool,
}

/// A local file that is added to a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtraFile {
    /// Path of the file in the backup.
    pub path: String,
    /// Path of the local file.
    pub file: PathBuf,
}

/// Result of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// Manifest of the backup. In a dry run, the hash of an object that was not read is empty.
    pub manifest: Manifest,
    /// Number of objects that were written, or in a dry run would be read.
    pub copied: u64,
    /// Total size of these objects in bytes.
    pub copied_bytes: u64,
    /// Number of objects that were removed from the home during the backup.
    pub vanished: u64,
}

/// A running backup, before the lake's state is fixed.
pub struct RunningBackup<'a> {
    home: &'a Storage,
    backups: &'a Storage,
    options: TakeOptions,
    progress: &'a dyn CopyProgress,
    /// Marker of the running backup. A dry run has none, and does not block other programs.
    mark: Option<Mark<'a>>,
    manifest: Manifest,
    /// Objects of the previous backup by path. An object with the same ETag and size is unchanged.
    before: HashMap<String, Entry>,
    /// Existing objects of all backups, with their sizes. An object with another size was truncated and is rewritten.
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

#[derive(Debug, Clone)]
struct HomeObject {
    path: ObjectPath,
    bytes: u64,
    etag: Option<String>,
}

/// Begins a backup, and copies the objects that must not be newer than the lake. The caller then takes the lake's
/// newest commit batch as the cut and passes it to [`RunningBackup::finish`].
///
/// # Errors
/// Backups and home are inside each other, a clean-up is running, or a storage fails.
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

/// Returns the entries of the newest backup whose objects exist, by path.
async fn before(backups: &Storage, there: &HashMap<String, u64>) -> Result<HashMap<String, Entry>, BackupError> {
    let newest = match backups::load(backups, None).await {
        Ok(manifest) => Some(manifest),
        // Without the newest backup, everything is read again.
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

    /// Abandons the backup. Copied objects stay, and other programs need not wait for it.
    pub async fn abandon(self) {
        // A marker that cannot be removed blocks other programs until it expires.
        if let Some(mark) = &self.mark {
            let _ = mark.lift().await;
        }
    }

    /// Copies the remaining objects as of `cut` and the given files, and writes the manifest. A home without a lake has
    /// no cut.
    ///
    /// # Errors
    /// A storage fails, or an object keeps changing. Copied objects stay, and the next backup does not copy them again.
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

    async fn seen(&self) -> Result<Vec<HomeObject>, BackupError> {
        let listed = list_all(self.home, None).await?.into_iter();
        let seen = listed.map(|meta| HomeObject {
            path: meta.location,
            bytes: meta.size,
            etag: meta.e_tag,
        });
        Ok(seen.collect())
    }

    /// Returns the object's entry in the previous backup, if the ETag shows that it has not changed.
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

    /// Returns the entry of an object, and `true` if it was written. Returns `None` if the object no longer exists in
    /// the home.
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

    /// The manifest is written only if every object that it names exists.
    async fn write(&self) -> Result<(), BackupError> {
        let lost = backups::missing(self.backups, &self.manifest).await?;
        if !lost.is_empty() {
            let id = self.manifest.id.clone();
            return Err(BackupError::Damaged { id, lost });
        }
        // The name contains a random part, so that it is unique.
        backups::store(self.backups, &self.manifest).await.map(drop)
    }
}
