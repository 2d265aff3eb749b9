//! The home: the meaning of `home`, its presence, and the commands that may make one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use data_storage::Storage;
use futures::StreamExt;
use url::Url;

use crate::exit::usage;
use crate::wiring::Context;

/// The advice where a home is absent.
const MAKE: &str =
    "`haat brands add DOMAIN` makes it, `haat crawl --release` fills it; or name another with --home or HAAT_HOME";
/// The names of a home's parts, at one time or another.
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
/// The time limit on an object store's answer about the home, before the command itself finds out.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// The home as an address of a kind that is known; `None` for a path.
pub(crate) fn url_of(home: &str) -> Option<Url> {
    let url = Url::parse(home).ok()?;
    matches!(url.scheme(), "file" | "s3").then_some(url)
}

/// The folder that `home` names, where it names one.
pub(crate) fn folder_of(home: &str) -> Option<PathBuf> {
    match url_of(home) {
        Some(url) => url.to_file_path().ok().filter(|_| url.scheme() == "file"),
        None => Some(PathBuf::from(home)).filter(|_| !home.contains("://")),
    }
}

/// A path of the configuration with the user's own folder for `~`, as a shell has it.
///
/// # Errors
/// `~name`, which only a shell knows, and `~` for a user without a folder.
pub(crate) fn expanded(key: &str, path: &str) -> anyhow::Result<String> {
    let Some(rest) = path.strip_prefix('~') else {
        return Ok(path.to_owned());
    };
    anyhow::ensure!(
        rest.is_empty() || rest.starts_with('/'),
        "{key} {path:?}: only ~ and ~/… stand for a folder (write ./{path} for one of that name)"
    );
    let own = std::env::home_dir().filter(|own| !own.as_os_str().is_empty());
    let own = own.ok_or_else(|| anyhow::anyhow!("{key} {path:?}: this user has no folder of its own, set HOME"))?;
    Ok(format!("{}{rest}", own.display()))
}

impl Context {
    /// Opens the storage that `home` names. A folder that is absent is an error: a mistyped path must not look like an
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

    /// Refuses a home in which nothing was ever kept: an absent folder, one that holds other things, a bucket with
    /// nothing under the prefix. An empty folder is a new home.
    ///
    /// A bucket that does not answer is no reason to refuse: the command itself says what is wrong with it.
    ///
    /// A home that is half restored is refused too.
    pub(crate) async fn require_home(&self) -> anyhow::Result<()> {
        let home = &self.config.home;
        let storage = self.storage()?;
        let restoring = tokio::time::timeout(LOOK_TIMEOUT, data_backup::is_restoring(&storage)).await;
        if let Ok(Ok(Some(restoring))) = restoring {
            return Err(usage(anyhow::anyhow!(
                "home {home} is half restored from backup {}: run the same `haat restore` again, which goes on",
                restoring.backup
            )));
        }
        if let Some(folder) = storage.local_dir() {
            return if holds_other_things(folder) {
                Err(usage(anyhow::anyhow!(
                    "home {home} is a folder with other things in it, and without registry/, lake/ or releases/: {MAKE}"
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

/// True where the folder has content, but nothing that a home has. Hidden entries and a file system's own entries
/// do not count.
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
    fn a_tilde_is_the_users_own_folder_and_that_of_another_user_is_refused() {
        let own = std::env::home_dir().unwrap().display().to_string();
        assert_eq!(expanded("home", "~").unwrap(), own);
        assert_eq!(expanded("home", "~/market").unwrap(), format!("{own}/market"));
        for same in ["s3://bucket/~", "./~", "market", ""] {
            assert_eq!(expanded("home", same).unwrap(), same);
        }
        assert_eq!(
            expanded("home", "~bob/market").unwrap_err().to_string(),
            "home \"~bob/market\": only ~ and ~/… stand for a folder (write ./~bob/market for one of that name)"
        );
    }

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
