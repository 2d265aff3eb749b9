//! Storage of the home: checks that it exists, and which commands may create it.

use std::path::Path;
use std::time::Duration;

use data_storage::Storage;
use futures::StreamExt;

use crate::exit::usage;
use crate::home_folder::folder_of;
use crate::wiring::Context;

/// Advice for an absent home.
const MAKE: &str = "`haat brands add DOMAIN` creates it, `haat crawl --release` fills it; or choose another home \
     with --home or HAAT_HOME";
/// Names of folders and files in a home, including those of earlier versions.
const PARTS: [&str; 12] = [
    "registry",
    "checks",
    "lake",
    "releases",
    "runs",
    "landing",
    "crawl-state",
    "held",
    "cache",
    "doctor",
    "state",
    "haat.toml",
];
/// Time limit for an object store's answer about the home. After it, the command itself reports the error.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

impl Context {
    /// Opens the storage that `home` names. An absent folder is an error, because a mistyped path must not look like an
    /// empty market.
    pub(crate) fn storage(&self) -> anyhow::Result<Storage> {
        let home = &self.config.home;
        let folder = Some(home.trim()).filter(|home| !home.is_empty()).and_then(folder_of);
        match folder {
            Some(folder) if !folder.is_dir() => Err(self.absent(&folder)),
            _ => self.storage_new(),
        }
    }

    fn absent(&self, folder: &Path) -> anyhow::Error {
        let home = &self.config.home;
        usage(if folder.exists() {
            anyhow::anyhow!("home {home} is not a folder")
        } else {
            anyhow::anyhow!("home {home} does not exist: {MAKE}")
        })
    }

    /// Refuses a home without any data of a market: an absent folder, a folder with other content, or a bucket with
    /// nothing under the prefix. An empty folder is a new home.
    ///
    /// A bucket that does not respond is accepted, because the command itself reports the fault.
    ///
    /// A half-restored home is refused too.
    pub(crate) async fn require_home(&self) -> anyhow::Result<()> {
        let home = &self.config.home;
        let storage = self.storage()?;
        let restoring = tokio::time::timeout(LOOK_TIMEOUT, data_backup::is_restoring(&storage)).await;
        if let Ok(Ok(Some(restoring))) = restoring {
            return Err(usage(anyhow::anyhow!(
                "home {home} is only partly restored from backup {}: run the same `haat restore` again, which \
                 continues",
                restoring.backup
            )));
        }
        if let Some(folder) = storage.local_dir() {
            return if holds_other_things(folder) {
                Err(usage(anyhow::anyhow!(
                    "home {home} contains other files, and no registry/, lake/ or releases/: {MAKE}"
                )))
            } else {
                Ok(())
            };
        }
        let looked = async { storage.store().list(None).next().await };
        match tokio::time::timeout(LOOK_TIMEOUT, looked).await {
            Ok(None) if storage.url().scheme() == "s3" => Err(usage(anyhow::anyhow!("home {home} is empty: {MAKE}"))),
            _ => Ok(()),
        }
    }
}

/// True if the folder has content, but nothing of a home. Hidden entries and a file system's own entries do not count.
fn holds_other_things(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names: Vec<_> = names
        .filter(|name| !name.starts_with('.') && name != "lost+found")
        .collect();
    !names.is_empty() && !names.iter().any(|name| PARTS.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_other_things_in_it_is_no_home_and_an_empty_one_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lost+found")).unwrap();
        std::fs::write(folder.path().join(".hidden"), "").unwrap();
        assert!(!holds_other_things(folder.path()));
        std::fs::write(folder.path().join("letter.txt"), "").unwrap();
        assert!(holds_other_things(folder.path()));
        std::fs::create_dir(folder.path().join("registry")).unwrap();
        assert!(!holds_other_things(folder.path()));
    }
}
