use std::sync::Arc;

use data_model::{BrandSlug, Clock, ReviewWidget};
use serde::{Deserialize, Serialize};
use storefront::{Store, StoreError, Storefront, StorefrontConfig};
use url::Url;

/// Addresses of review apps, and the way in which they are asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewsConfig {
    /// Address of Judge.me.
    pub judgeme_url: String,
    /// Address of Yotpo.
    pub yotpo_url: String,
    /// Address of Stamped.
    pub stamped_url: String,
    /// Address of Okendo.
    pub okendo_url: String,
    /// Requests per second to an app at first.
    pub rate_start_per_s: f64,
    /// The pace never grows beyond this.
    pub rate_max_per_s: f64,
    /// Most bytes of an answer, on the wire and unpacked.
    pub answer_bytes_max: u64,
    /// Time for which a reading of a store holds, in seconds.
    pub after_s: u64,
    /// Time for which a store is known to use the app that it uses, or none, in seconds.
    pub look_after_s: u64,
    /// After so many seconds all reviews of a store are read again, changed or not.
    pub sweep_after_s: u64,
    /// Most pages of one store's list in one run.
    pub pages_max: u32,
    /// Most products of one store whose ratings are asked for in one run.
    pub products_max: u32,
    /// Most seconds that one store may take in one run.
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

/// The brands that are to be refreshed.
#[derive(Debug, Clone, Default)]
pub struct ReviewsOptions {
    /// These brands, whenever they were read last; all that are due when `None`.
    pub only: Option<Vec<BrandSlug>>,
    /// Reads every list to its end, changed or not.
    pub sweep: bool,
    /// Days for which what apps answered stays landed; what the last whole reading of a list and those since said always stays.
    pub keep_days: u32,
    /// Asks and reads, and writes nothing.
    pub dry_run: bool,
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReviewsConfigError {
    /// An address is none.
    #[error("reviews.{key}: not an address of http or https")]
    Address {
        /// The key.
        key: &'static str,
        /// The parser's error.
        #[source]
        source: Option<url::ParseError>,
    },
    /// A number that must be above 0 is not.
    #[error("reviews.{0} must be above 0")]
    Zero(&'static str),
    /// The client cannot be made.
    #[error("reviews")]
    Client(#[from] storefront::ConfigError),
}

/// The client of all review apps.
#[derive(Debug, Clone)]
pub struct Widgets {
    pub(crate) config: ReviewsConfig,
    client: Storefront,
    addresses: [Url; 4],
}

impl Widgets {
    /// A client that talks to apps as `storefront` says, but at a pace and within bounds of their own.
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

    /// An app, as it is asked.
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
