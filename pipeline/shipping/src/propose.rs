//! Gets a language model's proposals for the texts of one store.

use std::sync::atomic::{AtomicU32, Ordering};

use data_model::CurrencyCode;
use pipeline_policies::{ProposalCounts, sentences};
use pipeline_task::{DueBrand, StoreDeps};
use tokio::task::spawn_blocking;

use crate::ask::Failure;
use crate::landing::newest;
use crate::model::TermsModel;
use crate::terms::{Document, Place, StoreTexts, TextTerms, stated};

/// Language model with the number of texts that it may still read in the run.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    model: &'a TermsModel,
    calls_left: AtomicU32,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(model: &'a TermsModel) -> Self {
        let calls_left = AtomicU32::new(model.calls_max);
        Self { model, calls_left }
    }

    /// Lets the model read texts if the rules left terms open. Texts that the model read before are skipped. Texts
    /// beyond the call limit are read in another run.
    pub(crate) async fn propose(
        &self,
        told: &mut StoreTexts,
        before: &[Document],
        currency: CurrencyCode,
    ) -> Result<(), Failure> {
        let ruled = told.clone();
        if !spawn_blocking(move || stated(&ruled, currency).is_open()).await? {
            return Ok(());
        }
        told.recall(before);
        // Shop banners rarely state anything that the rules miss, and customer reviews are not promises by the store.
        let unread = |document: &&mut Document| document.place != Place::Shop && document.proposed.is_none();
        for document in told.documents.iter_mut().filter(unread) {
            let text = document.text.clone();
            let shown = spawn_blocking(move || sentences(&text)).await?;
            if shown.is_empty() {
                continue;
            }
            let take = |left: u32| left.checked_sub(1);
            if self
                .calls_left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_err()
            {
                break;
            }
            document.proposed = self.model.read(&shown).await.ok();
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Interpretation {
    pub(crate) told: StoreTexts,
    pub(crate) said: TextTerms,
    pub(crate) counts: ProposalCounts,
}

/// Lets a model read the store's texts and interprets the texts with its proposals. If the refresh is cancelled,
/// missing proposals are left out.
pub(crate) async fn with_proposals(
    reader: &Reader<'_>,
    mut told: StoreTexts,
    due: &DueBrand,
    deps: &StoreDeps,
) -> Result<Interpretation, Failure> {
    // If the earlier proposals cannot be read, the model is queried again.
    let before = newest(&deps.storage, &due.brand.store, &|_| true).await.ok().flatten();
    let before = before.map(|landed| landed.told.documents).unwrap_or_default();
    let asked = reader.propose(&mut told, &before, due.currency);
    deps.cancel.run_until_cancelled(asked).await.transpose()?;
    let currency = due.currency;
    let work = move || {
        let terms = stated(&told, currency);
        let counts = terms.proposals;
        let said = terms.said(told.is_everywhere);
        Interpretation { told, said, counts }
    };
    Ok(spawn_blocking(work).await?)
}
