use std::sync::Arc;

use data_model::{BrandSlug, Clock, ReviewWidget};
use serde::{Deserialize, Serialize};
use storefront::{Store, StoreError, Storefront, StorefrontConfig};
use url::Url;

/// Addresses of review apps, and limits of the requests to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewsConfig {
    /// URL of Judge.me.
    pub judgeme_url: String,
    /// URL of Yotpo.
    pub yotpo_url: String,
    /// URL of Stamped.
    pub stamped_url: String,
    /// URL of Okendo.
    pub okendo_url: String,
    /// Initial number of requests per second to an app.
    pub rate_start_per_s: f64,
    /// Maximum number of requests per second to an app.
    pub rate_max_per_s: f64,
    /// Maximum size of an answer on the wire and decompressed, in bytes.
    pub answer_bytes_max: u64,
    /// Minimum time between two readings of a store, in seconds.
    pub after_s: u64,
    /// Time in seconds after which the store's pages are checked again for its review app.
    pub look_after_s: u64,
    /// Time in seconds after which all reviews of an unchanged store are read again.
    pub sweep_after_s: u64,
    /// Maximum number of pages of one store's review list read in one run.
    pub pages_max: u32,
    /// Maximum number of products of one store whose ratings are requested in one run.
    pub products_max: u32,
    /// Maximum time for one store in one run, in seconds.
    pub store_time_s_max: u64,
}

impl Default for ReviewsConfig {
    fn default() -> Self {
        Self {
            judgeme_url: "https://judge.me".to_owned(),
            yotpo_url: "https://api-cdn.yotpo.com".to_owned(),
            stamped_url: "https://stamped.io".to_owned(),
            okendo_url: "https://api.okendo.io".to_owned(),
            rate_start_per_s: 1.0,
            rate_max_per_s: 2.0,
            answer_bytes_max: 8 << 20,
            after_s: 86_400,
            look_after_s: 7 * 86_400,
            sweep_after_s: 30 * 86_400,
            pages_max: 500,
            products_max: 500,
            store_time_s_max: 3_600,
        }
    }
}

/// Options of a refresh of reviews.
#[derive(Debug, Clone, Default)]
pub struct ReviewsOptions {
    /// Brands to refresh, whether due or not. `None` means all brands that are due.
    pub only: Option<Vec<BrandSlug>>,
    /// True to read every review list to its end, even if nothing changed.
    pub sweep: bool,
    /// Number of days after which landed answers are deleted. Answers since the start of the last complete reading of a
    /// list stay.
    pub keep_days: u32,
    /// True to send requests and parse answers, but write nothing.
    pub dry_run: bool,
}

/// An unusable configuration.
#[derive(Debug, thiserror::Error)]
pub enum ReviewsConfigError {
    /// The URL of an app is not valid.
    #[error("reviews.{key}: not an http or https URL")]
    Address {
        /// Key of the URL in the configuration.
        key: &'static str,
        /// URL parser's error.
        #[source]
        source: Option<url::ParseError>,
    },
    /// A number is 0 but must be above 0.
    #[error("reviews.{0} must be above 0")]
    Zero(&'static str),
    /// The HTTP client cannot be created.
    #[error("reviews")]
    Client(#[from] storefront::ConfigError),
}

/// HTTP client for all review apps.
#[derive(Debug, Clone)]
pub struct Widgets {
    pub(crate) config: ReviewsConfig,
    client: Storefront,
    addresses: [Url; 4],
}

impl Widgets {
    /// Creates a client for review apps with the settings of `storefront`, but with its own rate and size limits.
    ///
    /// # Errors
    /// [`ReviewsConfigError`] names the key.
    pub fn new(
        config: ReviewsConfig,
        storefront: &StorefrontConfig,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ReviewsConfigError> {
        let numbers = [
            ("answer_bytes_max", config.answer_bytes_max),
            ("pages_max", u64::from(config.pages_max)),
            ("products_max", u64::from(config.products_max)),
            ("store_time_s_max", config.store_time_s_max),
        ];
        if let Some((key, _)) = numbers.into_iter().find(|(_, number)| *number == 0) {
            return Err(ReviewsConfigError::Zero(key));
        }
        let address = |key: &'static str, text: &str| {
            let address = |source| ReviewsConfigError::Address { key, source };
            let url = Url::parse(text).map_err(|source| address(Some(source)))?;
            let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
            is_web.then_some(url).ok_or_else(|| address(None))
        };
        let addresses = [
            address("judgeme_url", &config.judgeme_url)?,
            address("yotpo_url", &config.yotpo_url)?,
            address("stamped_url", &config.stamped_url)?,
            address("okendo_url", &config.okendo_url)?,
        ];
        let settings = StorefrontConfig {
            country: None,
            rate_start_per_s: config.rate_start_per_s,
            rate_max_per_s: config.rate_max_per_s,
            body_bytes_max: config.answer_bytes_max,
            decoded_bytes_max: config.answer_bytes_max,
            ..storefront.clone()
        };
        Ok(Self {
            client: Storefront::new(settings, clock)?,
            config,
            addresses,
        })
    }

    pub(crate) fn app(&self, widget: ReviewWidget) -> Result<Store, StoreError> {
        let [judgeme, yotpo, stamped, okendo] = &self.addresses;
        self.client.store(match widget {
            ReviewWidget::Judgeme => judgeme,
            ReviewWidget::Yotpo => yotpo,
            ReviewWidget::Stamped => stamped,
            ReviewWidget::Okendo => okendo,
        })
    }
}
