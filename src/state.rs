//! Wiring of the state: its database, and its master keys.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use data_storage::Storage;
use state::{MasterKeyError, MasterKeys, State, StateTarget};

use crate::exit::{plain, usage};
use crate::wiring::Context;

/// Folder of SQLite and of the master key under a local home.
const FOLDER: &str = "state";
const MASTER_KEY: &str = "master.key";

/// Result of a check of the state without a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StateFound {
    /// The whole database file was read.
    Whole,
    /// The database server responds, and checks its own files.
    Answers,
    /// The state does not exist yet.
    Absent,
    /// The state cannot be created here.
    Nowhere,
}

/// Opens the state. A lost state is not replaced by a new one, because all keys, accounts and carts would be gone
/// unnoticed.
async fn open(target: &StateTarget) -> anyhow::Result<State> {
    if let StateTarget::Folder(folder) = target
        && target.is_empty()
    {
        refuse_lost(folder)?;
    }
    State::open(target).await.context("state")
}

/// Fails if the database is absent but a state existed. The master key is created after the database, so a master key
/// shows that there was one. A key that was put there by hand before the first use looks the same. The message gives
/// advice for both cases.
fn refuse_lost(folder: &Path) -> anyhow::Result<()> {
    let key = folder.join(MASTER_KEY);
    anyhow::ensure!(
        !key.is_file(),
        "the database of the state is lost: {} exists, but its tables do not. A backup contains the keys, accounts, \
         carts and jobs (haat restore). Without a backup, move that key file away; the next command that needs a \
         state then creates an empty one. To use your own key for the new state, set state.master_key",
        key.display()
    );
    Ok(())
}

impl Context {
    /// Opens what servers must remember: PostgreSQL if `state.url` is set, else SQLite under a local home. For a
    /// read-only command, an absent state is empty and is not created.
    pub(crate) async fn state(&self) -> anyhow::Result<State> {
        let storage = self.storage()?;
        let folder = local_folder(&storage);
        let target = self.target_in(folder.clone())?;
        if self.only_reads {
            // The list contains no secret and needs no master key.
            let absent = matches!(&target, StateTarget::Folder(folder) if !folder.is_dir());
            let target = if absent { StateTarget::Memory } else { target };
            return open(&target).await;
        }
        Ok(self.open_state(&target, folder).await?.0)
    }

    /// Opens the state for servers, which write to it even if they only read the other data in the home. Also returns
    /// the master keys that seal stored secrets, if any.
    pub(crate) async fn served_state(&self) -> anyhow::Result<(State, Option<MasterKeys>)> {
        let storage = self.storage()?;
        let folder = local_folder(&storage);
        let target = self.target_in(folder.clone())?;
        self.open_state(&target, folder).await
    }

    /// Opens the state if it exists, without creating its folder.
    pub(crate) async fn state_if_there(&self) -> anyhow::Result<Option<State>> {
        match self.target_if_there()? {
            Some(target) => open(&target).await.map(Some),
            None => Ok(None),
        }
    }

    fn target_if_there(&self) -> anyhow::Result<Option<StateTarget>> {
        let storage = self.storage()?;
        let folder = local_folder(&storage);
        let is_there = !self.config.state.url.is_empty() || folder.as_ref().is_some_and(|folder| folder.is_dir());
        if !is_there {
            return Ok(None);
        }
        self.target_in(folder).map(Some)
    }

    /// Opens the state for a backup without creating one. A damaged or lost database is an error, because backups
    /// without it would replace those that have it.
    pub(crate) async fn state_to_back_up(&self) -> anyhow::Result<Option<State>> {
        let Some(target) = self.target_if_there()? else {
            return Ok(None);
        };
        if let StateTarget::Folder(folder) = &target {
            let is_held = match State::inspect(&target, None).await {
                // A backup does not need the key that sealed the state.
                Err(state::StateError::MasterKeyMissing { .. }) => true,
                found => found.context("state")?,
            };
            if !is_held {
                refuse_lost(folder)?;
                return Ok(None);
            }
        }
        State::open(&target).await.context("state").map(Some)
    }

    /// Checks the state without changing it: it opens, its database is intact, and its master keys are available.
    pub(crate) async fn check_state(&self) -> anyhow::Result<StateFound> {
        let storage = self.storage()?;
        let folder = local_folder(&storage);
        if self.config.state.url.is_empty() && folder.is_none() {
            return Ok(StateFound::Nowhere);
        }
        let target = self.target_in(folder.clone())?;
        let keys = self.master_keys(folder, MasterKeys::load).await?;
        Ok(match (State::inspect(&target, keys.as_ref()).await?, &target) {
            (false, StateTarget::Folder(folder)) => {
                refuse_lost(folder)?;
                StateFound::Absent
            }
            (false, _) => StateFound::Absent,
            (true, StateTarget::Folder(_)) => StateFound::Whole,
            (true, _) => StateFound::Answers,
        })
    }

    /// Returns the location of a home's state.
    pub(crate) fn state_target(&self, storage: &Storage) -> anyhow::Result<StateTarget> {
        self.target_in(local_folder(storage))
    }

    async fn open_state(
        &self,
        target: &StateTarget,
        folder: Option<PathBuf>,
    ) -> anyhow::Result<(State, Option<MasterKeys>)> {
        let state = open(target).await?;
        // The file is only created beside SQLite: servers that share PostgreSQL would each create a different key.
        let keys = self
            .master_keys(folder, |path| MasterKeys::load_or_make(path).map(Some))
            .await?;
        if let Some(keys) = &keys {
            let used = state.use_master_keys(keys, self.clock.now()).await;
            used.map_err(|error| match error {
                error @ state::StateError::MasterKeyMissing { .. } => usage(error.into()),
                error => anyhow::Error::new(error).context("state"),
            })?;
        }
        Ok((state, keys))
    }

    fn target_in(&self, folder: Option<PathBuf>) -> anyhow::Result<StateTarget> {
        let given = &self.config.state;
        if !given.url.is_empty() {
            return StateTarget::postgres(&given.url).map_err(|error| usage(error.into()));
        }
        match folder {
            Some(folder) => Ok(StateTarget::Folder(folder)),
            None => Err(usage(anyhow::anyhow!(
                "keys and jobs cannot be stored in {}: set state.url (HAAT_STATE__URL) to a PostgreSQL server, such \
                 as postgres://haat@db.example/haat",
                self.config.home
            ))),
        }
    }

    /// Returns the configured master keys, else those that `load` returns for the file under a local home.
    ///
    /// Returns `None` if neither is available: nothing can be sealed then. Servers that must seal data refuse to start
    /// without master keys.
    async fn master_keys(
        &self,
        folder: Option<PathBuf>,
        load: fn(&Path) -> Result<Option<MasterKeys>, MasterKeyError>,
    ) -> anyhow::Result<Option<MasterKeys>> {
        let given = &self.config.state.master_key;
        if !given.is_empty() {
            let keys = MasterKeys::parse(given).context("state.master_key").map_err(usage)?;
            return Ok(Some(keys));
        }
        let Some(path) = folder
            .filter(|_| self.config.state.url.is_empty())
            .map(|folder| folder.join(MASTER_KEY))
        else {
            return Ok(None);
        };
        let keys = tokio::task::spawn_blocking(move || load(&path));
        keys.await?.context("master key")
    }
}

fn local_folder(storage: &Storage) -> Option<PathBuf> {
    storage.local_dir().map(|home| home.join(FOLDER))
}

/// Returns the state of a server of stored data. Without a state the server works, but accepts no key.
pub(crate) async fn state_for(context: &Context, storage: &Storage) -> anyhow::Result<Option<State>> {
    let elsewhere = !context.config.state.url.is_empty();
    if elsewhere {
        return context.served_state().await.map(|(state, _)| Some(state));
    }
    if storage.local_dir().is_none() {
        tracing::info!("no key is accepted: set state.url to the PostgreSQL server that stores the keys");
        return Ok(None);
    }
    match context.served_state().await {
        Ok((state, _)) => Ok(Some(state)),
        Err(error) => {
            tracing::warn!("no key is accepted: {}", plain(&error));
            Ok(None)
        }
    }
}
