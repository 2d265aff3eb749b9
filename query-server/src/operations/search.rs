use std::sync::Arc;

use ::search::{Conditions, Counts, DegradedReason, Filters, Mode, SearchRequest, SearchResult};
use api::EntityTag;
use data_model::{CurrencyCode, ReleaseId};
use data_searches::{SearchLog, SearchNote};

use super::{Answer, Conditional, IfNoneMatch, OperationError};
use crate::delivery::Destination;
use crate::render::explained::explained;
use crate::render::facets::{self, SEARCH_COUNT_MAX};
use crate::render::understood::understood;
use crate::render::{TIER, card, json};
use crate::schema::{Correction, SearchAnswer, SearchProvenance, Synonym};
use crate::served::ReleaseView;
use crate::server::QueryServer;

impl QueryServer {
    /// Returns the best products for a query as cards.
    ///
    /// # Errors
    /// `ProductNotFound` if `similar_to` is unknown, `Overloaded`, `NotReady`, `Internal`.
    pub async fn search(&self, request: SearchRequest) -> Result<Answer, OperationError> {
        self.search_unless(request, IfNoneMatch::NOTHING).await?.whole()
    }

    pub(crate) async fn search_unless(
        &self,
        request: SearchRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let served = self.served()?;
        let to = self.destination(request.filters.delivery);
        let tag = match to.as_ref().map(Destination::stamp) {
            Some(day) => EntityTag::following(&[served.stamp(), b"search", &day], &request),
            None => EntityTag::following(&[served.stamp(), b"search"], &request),
        };
        if known.has(&tag) {
            return Ok(Conditional::NotModified(tag));
        }
        let counted = self.counted(&request, served.release.id());
        let read = move |answer: &SearchAnswer<'_>| {
            if let Some(counted) = counted {
                counted.note(answer);
            }
            json(answer.data.len() * 640 + 256, answer)
        };
        let (json, whole) = self.searched(served, request, to, read).await?;
        // An answer without the embedder has a tag of its own, because the embedder may work at the next request.
        let tag = if whole {
            tag
        } else {
            EntityTag::of(&[b"passing", tag.header().as_bytes()])
        };
        Ok(Conditional::Answer(Answer::made(tag, json)))
    }

    /// Returns the search if its words must be counted. A search with filters is not counted, because a filter may
    /// cause an empty result.
    fn counted(&self, request: &SearchRequest, release: ReleaseId) -> Option<CountedSearch> {
        let log = self.0.config.search_log.clone()?;
        let no_filter = Filters {
            delivery: request.filters.delivery.filter(|to| to.by.is_none()),
            ..Filters::default()
        };
        let is_by_words = request.filters == no_filter && request.brand.is_none() && request.similar_to.is_none();
        let text = request.text.as_str();
        (is_by_words && !text.is_empty()).then(|| CountedSearch {
            log,
            text: text.to_owned(),
            release,
        })
    }

    /// Applies `read` to the best products for a query and returns the result.
    ///
    /// # Errors
    /// As [`QueryServer::search`].
    pub async fn search_with<T: Send + 'static>(
        &self,
        request: SearchRequest,
        read: impl FnOnce(&SearchAnswer<'_>) -> T + Send + 'static,
    ) -> Result<T, OperationError> {
        let to = self.destination(request.filters.delivery);
        let (made, _) = self.searched(self.served()?, request, to, read).await?;
        Ok(made)
    }

    /// Runs a search. Also returns true if the result is constant for the release.
    async fn searched<T: Send + 'static>(
        &self,
        served: Arc<ReleaseView>,
        request: SearchRequest,
        to: Option<Destination>,
        read: impl FnOnce(&SearchAnswer<'_>) -> T + Send + 'static,
    ) -> Result<(T, bool), OperationError> {
        let currency = self.0.config.market_currency;
        let (searches, waits) = (&self.0.searches, served.search.semantic.waits());
        let search = move || answer(&served, &request, currency, to.as_ref(), read);
        if waits {
            searches.run_outside(search).await?
        } else {
            searches.run(search).await?
        }
    }
}

/// Search whose words are counted after the search has finished.
struct CountedSearch {
    log: SearchLog,
    text: String,
    release: ReleaseId,
}

impl CountedSearch {
    fn note(&self, answer: &SearchAnswer<'_>) {
        self.log.note(&SearchNote {
            text: &self.text,
            release: self.release,
            hits: answer.data.len(),
            relaxed: answer.provenance.relaxed != "none",
            understood: !answer.provenance.understood.is_empty(),
        });
    }
}

/// Applies `read` to the response. Also returns true if the response is constant for the release.
fn answer<T>(
    served: &ReleaseView,
    request: &SearchRequest,
    market_currency: CurrencyCode,
    to: Option<&Destination>,
    read: impl FnOnce(&SearchAnswer<'_>) -> T,
) -> Result<(T, bool), OperationError> {
    let similar_to = request
        .similar_to
        .as_ref()
        .map(|ident| served.find(ident))
        .transpose()?;
    let conditions = Conditions {
        market_currency,
        brands_in_time: to.and_then(|to| to.brands_in_time(served)),
        similar_to,
    };
    let mut searched = ::search::search(&served.search, request, &conditions);
    let counts = searched.counts.take();
    let rows = searched.found.rows.iter();
    let cards = rows.filter_map(|row| card::listed(served, row.at, request.fold, to));
    let answer = SearchAnswer {
        data: cards.collect(),
        provenance: SearchProvenance {
            explain: request.explain.then(|| explained(served, &searched.found)),
            ..provenance(served, request.mode, &searched, counts)
        },
        tier: TIER,
    };
    let whole = searched.found.degraded != Some(DegradedReason::Answer);
    Ok((read(&answer), whole))
}

/// Returns the provenance of an answer: the engine, the counts, and the currency of filters and sort order.
fn provenance<'a>(
    served: &'a ReleaseView,
    mode: Mode,
    searched: &'a SearchResult<'_>,
    counts: Option<Counts<'a>>,
) -> SearchProvenance<'a> {
    let found = &searched.found;
    let corrections = found.corrections.iter().map(|correction| Correction {
        from: correction.from.as_str().into(),
        to: correction.to.as_str().into(),
    });
    let synonyms = found.synonyms.iter().map(|synonym| Synonym {
        of: synonym.of.as_str().into(),
        to: synonym.to.as_str().into(),
    });
    let basis = facets::basis(searched.currency, searched.left_out);
    let price = match &counts {
        Some(counts) => Some(facets::spread(&counts.prices, basis)),
        None => searched.is_by_price.then_some(basis),
    };
    SearchProvenance {
        release: served.id_text().into(),
        engine: found.engine.as_str().into(),
        requested_mode: mode.as_str().into(),
        relaxed: found.relaxed.as_str().into(),
        more: found.more,
        understood: searched.phrases.iter().map(understood).collect(),
        corrections: corrections.collect(),
        degraded: found.degraded.map(DegradedReason::as_str).map(Into::into),
        synonyms: synonyms.collect(),
        facets: counts.map(|counts| facets::facets(counts.facets, SEARCH_COUNT_MAX)),
        price,
        explain: None,
        ignored: None,
    }
}
