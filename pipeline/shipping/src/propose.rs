//! Proposals of a language model, of the texts of one store.

use std::sync::atomic::{AtomicU32, Ordering};

use data_model::CurrencyCode;
use pipeline_policies::{ProposalCounts, sentences};
use pipeline_task::{DueBrand, StoreDeps};
use tokio::task::spawn_blocking;

use crate::ask::Failure;
use crate::landing::newest;
use crate::model::TermsModel;
use crate::terms::{Document, Place, StoreTexts, TextTerms, stated};

/// A model, and how many texts it may still read in a run.
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

    /// Has the model read what the rules leave open, but for texts that it read before. Texts that it does not read now are read
    /// in another run.
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
        // Bars of a shop state little that the rules do not read, and buyers' praise is no promise.
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

/// The answers of a store and their meaning, with a model's proposals.
#[derive(Debug)]
pub(crate) struct Interpretation {
    pub(crate) told: StoreTexts,
    pub(crate) said: TextTerms,
    pub(crate) counts: ProposalCounts,
}

/// Has a model read what a store answered, and reads it with that. A refresh that is to end goes on without what is missing.
pub(crate) async fn with_proposals(
    reader: &Reader<'_>,
    mut told: StoreTexts,
    due: &DueBrand,
    deps: &StoreDeps,
) -> Result<Interpretation, Failure> {
    // Proposals that cannot be read are made anew.
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
