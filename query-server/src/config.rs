use std::fmt;
use std::sync::Arc;

use api::EdgeConfig;
use data_embedding::Embedder;
use data_model::{CurrencyCode, TimeZone};
use data_searches::SearchLog;
use data_storage::Storage;
use search::Synonyms;

use crate::holidays::Holidays;
use crate::reads::Reads;

/// The settings of a query server.
#[derive(Debug, Clone)]
pub struct QueryConfig {
    /// The currency of price filters and price sorts that name none.
    pub market_currency: CurrencyCode,
    /// The market's time zone: delivery days are counted from its today.
    pub market_time_zone: TimeZone,
    /// Days on which countries do not work, beside those of a fixed date.
    pub holidays: Arc<Holidays>,
    /// The time between two looks for a newer release.
    pub poll_ms: u64,
    /// Most searches on the threads that answer requests; fewer than there are threads, so that one is always left.
    pub searches_here_max: usize,
    /// Most further searches at the same time, on threads of their own; others wait for their turn.
    pub searches_beside_max: usize,
    /// Most searches that wait; one more is answered 503 `overloaded`.
    pub searches_waiting_max: usize,
    /// Most searches that wait from then on, until the overload is over, so that accepted requests are answered in
    /// time.
    pub searches_overload_waiting_max: usize,
    /// The home, beside its releases, where crawls record when they asked each store. `None`: it is never known.
    pub checks: Option<Storage>,
    /// The key that signs cursors. Servers behind one address share it; by default every process has its own.
    pub cursor_key: CursorKey,
    /// Embeds queries; a release whose vectors are of another embedder is searched by words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Most cards that one search may ask for: the contract's 40, which the OpenAPI document states. Only a measurement
    /// that looks further down than clients may, of recall among 50 for one, sets another.
    pub search_limit_max: u16,
    /// The age from which a file of the cache is removed when no served release needs it.
    pub cache_keep_ms: u64,
    /// Words that shoppers use for the same thing.
    pub synonyms: Synonyms,
    /// True where products that the taxonomy calls mature are among categories, suggestions and answers without a
    /// query. They are found by words and by their categories anyway.
    pub adult: bool,
    /// Address under which browsers reach the server, for documents that name their own; empty: they name it relative to
    /// themselves, which search engines do not read.
    pub public_url: String,
    /// Counts the words of searches; `None`: they are not counted.
    pub search_log: Option<SearchLog>,
    /// The engine that answers reads without a kernel; without it they are not answered.
    pub reads: Option<Arc<dyn Reads>>,
    /// Limits of requests and answers.
    pub edge: EdgeConfig,
}

/// A key that signs cursors; never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct CursorKey([u8; 32]);

impl CursorKey {
    /// Derives the key from a secret text.
    #[must_use]
    pub fn from_secret(secret: &str) -> Self {
        use sha2::Digest;
        Self(sha2::Sha256::digest(secret.as_bytes()).into())
    }

    /// A key that nobody knows and nobody shares.
    #[must_use]
    pub fn random() -> Self {
        let mut key = [0; 32];
        key[..16].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        key[16..].copy_from_slice(uuid::Uuid::new_v4().as_bytes());
        Self(key)
    }

    pub(crate) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CursorKey(…)")
    }
}

impl QueryConfig {
    /// Differs where two servers may answer a request over the same release differently; but for cursors, which only
    /// answers of pages hold.
    pub(crate) fn digest(&self) -> String {
        use sha2::{Digest, Sha256};
        let digest = Sha256::new()
            .chain_update(self.market_currency.as_str())
            .chain_update(self.market_time_zone.name())
            .chain_update(self.search_limit_max.to_le_bytes())
            .chain_update([u8::from(self.adult)])
            .chain_update(self.public_url.as_bytes())
            .chain_update(self.synonyms.digest());
        let digest = self
            .holidays
            .bytes()
            .fold(digest, |digest, day| digest.chain_update(day));
        digest
            .finalize()
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The defaults, for a market whose prices are in `market_currency`.
    #[must_use]
    pub fn new(market_currency: CurrencyCode) -> Self {
        let threads = std::thread::available_parallelism().map_or(2, std::num::NonZeroUsize::get);
        Self {
            market_currency,
            market_time_zone: TimeZone::INDIA,
            holidays: Arc::default(),
            poll_ms: 5_000,
            searches_here_max: threads / 2,
            searches_beside_max: threads.div_ceil(2),
            searches_waiting_max: threads * 32,
            searches_overload_waiting_max: threads * 2,
            checks: None,
            cursor_key: CursorKey::random(),
            embedder: data_embedding::shipped(),
            search_limit_max: 40,
            cache_keep_ms: 3_600_000,
            synonyms: Synonyms::shipped(),
            adult: false,
            public_url: String::new(),
            search_log: None,
            reads: None,
            edge: EdgeConfig::default(),
        }
    }
}
