use std::path::Path;
use std::sync::Arc;

use data_index::Manifest;
use data_release::{CheckOptions, Publication, Published, ReleaseError, ReleaseStore};
use data_storage::Storage;
use kit::SetClock;

use crate::fixture::{Catalogue, build, catalogue, served};

pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) storage: Storage,
    pub(crate) clock: Arc<SetClock>,
}

impl Bench {
    pub(crate) fn new(storage: Storage) -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            storage,
            // The store stamps objects with the real time, so that this clock must be later.
            clock: SetClock::at("2096-10-02T07:06:40Z"),
        }
    }

    pub(crate) fn memory() -> Self {
        Self::new(Storage::memory().child("releases"))
    }

    pub(crate) fn releases(&self) -> ReleaseStore {
        ReleaseStore::new(self.storage.clone(), Arc::clone(&self.clock) as _)
    }

    pub(crate) fn files(&self) -> std::path::PathBuf {
        self.dir.path().join("build")
    }

    pub(crate) fn cache(&self) -> std::path::PathBuf {
        self.dir.path().join("cache")
    }

    pub(crate) fn build(&self, previous: Option<&Manifest>, catalogues: &[Catalogue]) -> Manifest {
        build(previous, catalogues, 30, &self.files())
    }

    pub(crate) async fn publish(&self, manifest: &Manifest) -> Result<Published, ReleaseError> {
        let releases = self.releases();
        let expected = releases.current().await?.map(|current| current.seq);
        self.publish_after(manifest, expected, &self.cache()).await
    }

    pub(crate) async fn publish_after(
        &self,
        manifest: &Manifest,
        expected: Option<u64>,
        cache: &Path,
    ) -> Result<Published, ReleaseError> {
        self.publish_from(&self.files(), manifest, expected, cache).await
    }

    /// Only these new files are available locally.
    pub(crate) async fn publish_from(
        &self,
        files: &Path,
        manifest: &Manifest,
        expected: Option<u64>,
        cache: &Path,
    ) -> Result<Published, ReleaseError> {
        let checks = CheckOptions::default();
        let publication = Publication {
            manifest,
            files,
            cache,
            expected,
            checks: &checks,
        };
        self.releases().publish(publication).await
    }

    pub(crate) async fn served(&self, cache: &Path) -> Vec<data_model::Product> {
        let releases = self.releases();
        let current = releases.current().await.unwrap().unwrap();
        let manifest = releases.manifest(current.id).await.unwrap();
        let local = releases.fetch(&manifest, cache).await.unwrap();
        served(&local.open().unwrap())
    }
}

pub(crate) fn stores(version: u32) -> Vec<Catalogue> {
    (0..4)
        .map(|store| catalogue(store, if store == 0 { version } else { 1 }, 8))
        .collect()
}

pub(crate) fn products(catalogues: &[Catalogue]) -> Vec<data_model::Product> {
    catalogues.iter().flat_map(|store| store.products.clone()).collect()
}
