//! Commits of the collector, and of the brands that the lake refused at first.

use data_lake::{HashedRefresh, LakeError};
use data_model::StoreHost;

use super::Collector;
use crate::RefreshError;
use crate::error::with_causes;
use crate::store::CommittedStore;

/// After this many consecutive refused brands, the lake itself is considered faulty.
const REFUSALS_MAX: u32 = 3;
/// Error code of a brand that the lake refused.
const REFUSED: &str = "lake";

/// Brand that can only be committed together with others.
#[derive(Debug)]
pub(super) struct WaitingBrand {
    one: CommittedStore,
    /// All brands with rows in the damaged file.
    together: Vec<StoreHost>,
    reason: String,
}

/// Brands that the lake did not accept.
#[derive(Debug)]
pub(super) struct FailedCommit {
    pub(super) taken: Vec<CommittedStore>,
    pub(super) error: LakeError,
}

impl Collector {
    pub(super) async fn commit_alone(&mut self, one: CommittedStore) -> Result<(), RefreshError> {
        // The products were dropped with the failed tick, but the landed pages still contain them.
        let refresh = match self.shared.prepare_again(&one.brand, &one.crawl).await {
            Ok(refresh) => refresh,
            Err((code, reason)) => {
                self.refuse(one, code, reason).await;
                return Ok(());
            }
        };
        match self.commit(vec![refresh], vec![one]).await? {
            Some(failed) => self.wait_or_refuse(failed).await,
            None => Ok(()),
        }
    }

    /// Returns `None` if the lake has the brands.
    pub(super) async fn commit(
        &mut self,
        refreshes: Vec<HashedRefresh>,
        taken: Vec<CommittedStore>,
    ) -> Result<Option<FailedCommit>, RefreshError> {
        match self.lake.commit_hashed(refreshes, self.row(taken.len())).await {
            Ok(report) => self.settle(taken, report).await,
            // Another committer has taken over, and its process reports these stores.
            Err(source @ LakeError::Fenced { .. }) => return Err(RefreshError::LakeWrite { refused: 1, source }),
            Err(error) => return Ok(Some(FailedCommit { taken, error })),
        }
        Ok(None)
    }

    /// Brands whose rows were lost together with those of others wait until all of these have been crawled.
    pub(super) async fn wait_or_refuse(&mut self, failed: FailedCommit) -> Result<(), RefreshError> {
        let FailedCommit { taken, error } = failed;
        let reason = with_causes(&error);
        for one in taken {
            let reason = reason.clone();
            match &error {
                LakeError::Lost { brands, .. } if brands.len() > 1 => {
                    let together = brands.iter().map(|(store, _)| store.clone()).collect();
                    self.waiting.push(WaitingBrand { one, together, reason });
                }
                _ => self.refuse(one, REFUSED, reason).await,
            }
        }
        self.give_up_at(error)
    }

    /// Commits the brands of each damaged file together. If some of them were not crawled, the commit of the others
    /// fails.
    pub(super) async fn mend(&mut self) -> Result<(), RefreshError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        while let Some(first) = waiting.pop() {
            let (mut group, others): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|other| other.together == first.together);
            waiting = others;
            group.push(first);
            let is_there = |store: &StoreHost| group.iter().any(|waiting| waiting.one.brand.store == *store);
            if !group.iter().any(|waiting| waiting.together.iter().all(is_there)) {
                for WaitingBrand { one, reason, .. } in group {
                    self.refuse(one, REFUSED, reason).await;
                }
                continue;
            }
            let (mut refreshes, mut taken) = (Vec::new(), Vec::new());
            for WaitingBrand { one, .. } in group {
                match self.shared.prepare_again(&one.brand, &one.crawl).await {
                    Ok(refresh) => {
                        refreshes.push(refresh);
                        taken.push(one);
                    }
                    Err((code, reason)) => self.refuse(one, code, reason).await,
                }
            }
            if let Some(FailedCommit { taken, error }) = self.commit(refreshes, taken).await? {
                for one in taken {
                    self.refuse(one, REFUSED, with_causes(&error)).await;
                }
                self.give_up_at(error)?;
            }
        }
        Ok(())
    }

    fn give_up_at(&mut self, source: LakeError) -> Result<(), RefreshError> {
        // A lost file affects only the brands with rows in it.
        if matches!(source, LakeError::Lost { .. }) {
            return Ok(());
        }
        self.refusals += 1;
        if self.refusals < REFUSALS_MAX {
            return Ok(());
        }
        Err(RefreshError::LakeWrite {
            refused: self.refusals,
            source,
        })
    }
}
