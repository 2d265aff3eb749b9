//! Reads the front page and the policies of a store, and finds the discount codes in them. The front page also shows the
//! currency of the store's prices.

use async_recursion::async_recursion as boxed;
use bytes::Bytes;
use data_codes::{Reading, StatedCodes};
use data_model::{CodePlace, RunId, StatedCode, StoreHost, read_store_json};
use pipeline_parse::stated_codes;
use serde_json::{Value, json};
use storefront::{Effect, FetchOutcome, GraphqlAnswer, GraphqlRequest, Store, StoreError, documents};

use crate::hold::load_hold;
use crate::landing::{POLICIES, compress, landed_at, put_compressed};
use crate::store::{Crawler, is_only_this_page, presented_by, stray};
use crate::{LandingError, RegisteredBrand};

const FRONT: &str = "front-page.html.zst";
/// A larger front page or policy response is not landed. Its start is still searched for codes.
const LANDED_BYTES_MAX: usize = 4 << 20;
/// Policies that may state discount codes. The privacy policy and the terms of service do not.
const STATING: [&str; 3] = ["shippingPolicy", "refundPolicy", "subscriptionPolicy"];

/// Result of searching a store for discount codes.
#[derive(Debug, Default)]
pub struct CodesCrawl {
    /// Discount codes known now.
    pub stated: StatedCodes,
    /// Number of requests, 0 if nothing was due.
    pub requests: u32,
    /// Number of decoded bytes received.
    pub bytes: u64,
    /// Reason for an early end. Pages read before still count.
    pub stopped_by: Option<CodesStop>,
}

/// Reason for an early end of the search. The next run tries again.
#[derive(Debug, thiserror::Error)]
pub enum CodesStop {
    /// The store cannot be queried now.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The response cannot be landed.
    #[error(transparent)]
    Landing(#[from] LandingError),
    /// A task of this program panicked or was cancelled.
    #[error("a background task failed")]
    Worker(#[from] tokio::task::JoinError),
}

struct Target<'a> {
    run: &'a RunId,
    store: &'a StoreHost,
    file: &'static str,
}

impl Crawler {
    /// Reads the store's front page and policies if they are due, lands them, and returns the discount codes in them and
    /// the currency that the front page shows. A store that asked to wait is not queried.
    /// `known` contains the codes from earlier reads. For an unchanged page (304), the known codes stay.
    ///
    /// The requests share the store's rate limit and obey its `robots.txt`. Policies are requested by GraphQL, because
    /// the default `robots.txt` disallows their pages. A page that the store permanently refuses has no codes.
    #[boxed]
    pub async fn read_codes(&self, run: &RunId, brand: &RegisteredBrand, known: StatedCodes) -> CodesCrawl {
        let mut crawl = CodesCrawl {
            stated: known,
            ..CodesCrawl::default()
        };
        crawl.stopped_by = self.read_due(run, brand, &mut crawl).await.err();
        crawl
    }

    async fn read_due(&self, run: &RunId, brand: &RegisteredBrand, crawl: &mut CodesCrawl) -> Result<(), CodesStop> {
        let now = self.clock.now();
        if load_hold(&self.storage, &brand.store, now).await?.is_some() {
            return Ok(());
        }
        let store = self.storefront.store(&brand.base_url)?;
        let target = |file| Target {
            run,
            store: &brand.store,
            file,
        };
        let after_s = self.config.front_page_after_s;
        if after_s > 0 && crawl.stated.front.is_due(now, after_s) {
            crawl.requests += 1;
            let known = crawl.stated.front.clone();
            // A page that has not changed does not repeat its currency.
            let is_shown_known = crawl.stated.shown.is_some() || self.country().is_some();
            let etag = known.etag.as_deref().filter(|_| is_shown_known);
            crawl.stated.front = match front_page(&store, etag).await? {
                Some(FetchOutcome::NotModified) => known,
                Some(FetchOutcome::Body(page)) => {
                    let shown = presented_by(&page.bytes).filter(|_| self.country().is_none());
                    crawl.stated.shown = shown.or(crawl.stated.shown);
                    let codes = self.stated_by(page.bytes, target(FRONT), crawl).await?;
                    let etag = page.etag;
                    Reading { etag, codes, ..known }
                }
                None => Reading::default(),
            };
            crawl.stated.front.asked_at = Some(now);
        }
        let after_s = self.config.policies_after_s;
        if after_s > 0 && crawl.stated.policies.is_due(now, after_s) {
            crawl.requests += 1;
            let codes = match policies(&store).await? {
                Some(json) => self.stated_by(json, target(POLICIES), crawl).await?,
                None => Vec::new(),
            };
            crawl.stated.policies = Reading {
                asked_at: Some(now),
                etag: None,
                codes,
            };
        }
        Ok(())
    }

    /// Lands a response and reads its discount codes.
    async fn stated_by(
        &self,
        said: Bytes,
        target: Target<'_>,
        crawl: &mut CodesCrawl,
    ) -> Result<Vec<StatedCode>, CodesStop> {
        crawl.bytes += said.len() as u64;
        let is_front = target.file == FRONT;
        let work = move || {
            let frame = (said.len() <= LANDED_BYTES_MAX).then(|| compress(&said)).transpose();
            let codes = if is_front {
                codes_of(CodePlace::FrontPage, &String::from_utf8_lossy(&said))
            } else {
                policy_codes(&said)
            };
            (frame, codes)
        };
        let (frame, codes) = tokio::task::spawn_blocking(work).await?;
        let Target { run, store, file } = target;
        let path = landed_at(run, store, file);
        if let Some(frame) = frame.map_err(|source| LandingError::Zstd { path, source })? {
            put_compressed(&self.storage, run, store, file, frame.into()).await?;
        }
        Ok(codes)
    }
}

/// Returns `None` if the store refuses its front page, or another shop responds.
async fn front_page(store: &Store, etag: Option<&str>) -> Result<Option<FetchOutcome>, StoreError> {
    match store.front_page(etag).await {
        Ok(FetchOutcome::Body(page)) if stray(store.base_url(), None, &page.url).is_some() => Ok(None),
        Ok(fetched) => Ok(Some(fetched)),
        Err(error) if is_only_this_page(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns `None` if the store publishes no policies.
async fn policies(store: &Store) -> Result<Option<Bytes>, StoreError> {
    let request = GraphqlRequest::new(documents::POLICIES, "Policies", json!({}));
    match store.graphql(&request, Effect::Safe).await {
        Ok(GraphqlAnswer { data, .. }) => Ok(data.map(|data| Bytes::from(String::from(Box::<str>::from(data))))),
        Err(error) if is_only_this_page(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn codes_of(place: CodePlace, html: &str) -> Vec<StatedCode> {
    let stated = stated_codes(html).into_iter().map(|found| StatedCode {
        code: found.code,
        place,
        plainness: found.plainness,
    });
    stated.collect()
}

fn policy_codes(json: &[u8]) -> Vec<StatedCode> {
    let Ok(data) = read_store_json::<Value>(json) else {
        return Vec::new();
    };
    let bodies = STATING
        .iter()
        .filter_map(|policy| data["shop"][policy]["body"].as_str());
    // Joining is cheap, because each body is only a few kilobytes of HTML.
    codes_of(CodePlace::Policy, &bodies.collect::<Vec<_>>().join("<hr>"))
}
