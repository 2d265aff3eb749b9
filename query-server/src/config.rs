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

/// Settings of a query server.
#[derive(Debug, Clone)]
pub struct QueryConfig {
    /// Currency of price filters and price sorts that name no currency.
    pub market_currency: CurrencyCode,
    /// Time zone of the market. Delivery days count from today in this zone.
    pub market_time_zone: TimeZone,
    /// Holidays of countries, in addition to those on fixed dates.
    pub holidays: Arc<Holidays>,
    /// Interval between two checks for a newer release, in milliseconds.
    pub poll_ms: u64,
    /// Maximum number of searches on the threads that handle requests. One of these threads must stay free.
    pub searches_here_max: usize,
    /// Maximum number of additional concurrent searches on separate threads. Further searches wait in a queue.
    pub searches_beside_max: usize,
    /// Maximum number of waiting searches. Further searches get a 503 `overloaded`.
    pub searches_waiting_max: usize,
    /// Maximum number of waiting searches during an overload. A shorter queue lets accepted requests finish within
    /// their time limits.
    pub searches_overload_waiting_max: usize,
    /// Storage at the home, where crawls record their checks of stores. `None`: checks are unknown.
    pub checks: Option<Storage>,
    /// Key that signs cursors. Servers behind one address must share it. By default every process has its own key.
    pub cursor_key: CursorKey,
    /// Embedder of queries. A release with vectors of another embedder is searched by words only.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Maximum number of cards that one search may request; the API allows 40. Only measurements need more, such as
    /// recall at 50.
    pub search_limit_max: u16,
    /// Minimum age at which an unused cache file is removed, in milliseconds.
    pub cache_keep_ms: u64,
    /// Synonyms that shoppers use.
    pub synonyms: Synonyms,
    /// True if adult products (the taxonomy's `Mature` branch) appear in categories, suggestions and answers without a
    /// query. Searches by words or category always find adult products.
    pub adult: bool,
    /// Address under which browsers reach the server, used in canonical URLs. Without it these URLs are relative, and
    /// search engines ignore them.
    pub public_url: String,
    /// Log that counts the words of searches; `None` disables it.
    pub search_log: Option<SearchLog>,
    /// SQL engine for operations that have no code of their own. Without the engine, these operations fail.
    pub reads: Option<Arc<dyn Reads>>,
    /// Limits on requests and responses.
    pub edge: EdgeConfig,
}

/// Secret key that signs cursors. The key is never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct CursorKey([u8; 32]);

impl CursorKey {
    /// Derives a key from a secret text.
    #[must_use]
    pub fn from_secret(secret: &str) -> Self {
        use sha2::Digest;
        Self(sha2::Sha256::digest(secret.as_bytes()).into())
    }

    /// Creates a random key, known only to this process.
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
    /// Returns a digest of the settings that affect answers over the same release. The key of cursors does not count.
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

    /// Returns the default settings for a market with prices in `market_currency`.
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
