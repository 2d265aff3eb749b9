use data_model::{CurrencyCode, StoreHost, Timestamp};
use pipeline_parse::ParseError;
use storefront::{OverBudget, StoreError};

use crate::landing::LandingError;

/// Label of a store that needs more memory than is available.
pub const OVER_MEMORY: &str = "over_memory";

/// Reason for the failure of one store's crawl. It affects only this store, and only this run.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The store refused, failed or did not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One page of the store is unreadable.
    #[error("{page} cannot be read")]
    Page {
        /// Description of the page.
        page: String,
        /// Error of the request.
        #[source]
        source: StoreError,
    },
    /// In an earlier run, the store requested a pause that is longer than a crawl waits.
    #[error("the store asks us to come back at {until}")]
    AskedToWait {
        /// End of the pause.
        until: Timestamp,
    },
    /// The body is not a catalogue page: it is HTML, another document, or truncated.
    #[error("page {page} of the catalogue is not a catalogue page")]
    NotACatalogue {
        /// Page number.
        page: u32,
        /// Error of the parser.
        #[source]
        source: ParseError,
    },
    /// The store responded with "not modified" although no validator was sent.
    #[error("the store answers 304 to a request without a validator")]
    UnaskedNotModified,
    /// Another store responds at the brand's address, so that its catalogue is not the brand's.
    #[error("another store answers: {registered} is registered, but {found} was found")]
    AnotherStore {
        /// Registered host of the brand's store.
        registered: String,
        /// Host that responded, or the permanent host that the responding store states.
        found: String,
    },
    /// Pages of one crawl show amounts in different currencies, so that the currency of each product is unknown.
    #[error("the store's pages show prices in {one} and in {other}")]
    CurrencyMixed {
        /// Currency of one page.
        one: CurrencyCode,
        /// Currency of another page.
        other: CurrencyCode,
    },
    /// The catalogue continues beyond the limit up to which Shopify lists products.
    #[error("the catalogue does not end: {seen} products after {pages} pages{}", stated_text(*.stated))]
    Endless {
        /// Number of pages.
        pages: u32,
        /// Number of distinct products on these pages.
        seen: u64,
        /// Number of products that the store reports.
        stated: Option<u64>,
    },
    /// The store sent more bytes than one run allows.
    #[error("the store sent more than {bytes_max} bytes")]
    TooManyBytes {
        /// Maximum number of bytes.
        bytes_max: u64,
    },
    /// The crawl of the store took longer than one run allows.
    #[error("the crawl of the store took more than {seconds_max} s")]
    TooSlow {
        /// Maximum number of seconds.
        seconds_max: u64,
    },
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// Pages could not be landed, or landed pages could not be read.
    #[error("landed pages of {store} cannot be written or read")]
    Landing {
        /// Store whose pages failed.
        store: StoreHost,
        /// Error of the landing.
        #[source]
        source: LandingError,
    },
    /// A page needs more memory than is available for one page.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A task of this program panicked or was cancelled.
    #[error("a task of the crawl failed")]
    Worker(#[from] tokio::task::JoinError),
}

impl CrawlError {
    /// Returns a one-word label for summaries and metrics, from a fixed set.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Store(error) | Self::Page { source: error, .. } => store_error_label(error),
            Self::AskedToWait { .. } => "throttled",
            Self::NotACatalogue {
                source: ParseError::NotUtf8 { .. },
                ..
            } => "not_utf8",
            Self::NotACatalogue { .. } => "not_a_catalogue",
            Self::UnaskedNotModified => "unasked_not_modified",
            Self::AnotherStore { .. } => "another_store",
            Self::CurrencyMixed { .. } => "currency_mixed",
            Self::Endless { .. } => "endless",
            Self::TooManyBytes { .. } => "too_many_bytes",
            Self::TooSlow { .. } => "too_slow",
            Self::Cancelled => "cancelled",
            Self::Landing {
                source: LandingError::OverBudget(_),
                ..
            } => OVER_MEMORY,
            Self::Landing { .. } => "landing",
            Self::OverBudget(_) => OVER_MEMORY,
            Self::Worker(_) => "worker",
        }
    }
}

fn stated_text(stated: Option<u64>) -> String {
    stated
        .map(|stated| format!(", but the store states that it has {stated}"))
        .unwrap_or_default()
}

const fn store_error_label(error: &StoreError) -> &'static str {
    match error {
        StoreError::Url { .. } => "url",
        StoreError::AddressRefused { .. } => "address_refused",
        StoreError::RobotsDisallowed { .. } => "robots_disallowed",
        StoreError::RobotsUnavailable { .. } => "robots_unavailable",
        StoreError::Throttled { .. } => "throttled",
        StoreError::Challenged { .. } => "challenged",
        StoreError::PasswordPage => "password_page",
        StoreError::CatalogueClosed { .. } => "catalogue_closed",
        StoreError::Suspended { .. } => "suspended",
        StoreError::NotJson { .. } => "not_json",
        StoreError::PageCap => "page_cap",
        StoreError::TooLarge { .. } => "too_large",
        StoreError::OverBudget { .. } => OVER_MEMORY,
        StoreError::Truncated => "truncated",
        StoreError::Encoding => "encoding",
        StoreError::Timeout { .. } | StoreError::Deadline { .. } => "timeout",
        // A crawl sends no requests that change anything.
        StoreError::OutcomeUnknown { .. } => "outcome_unknown",
        StoreError::Unwritable { .. } => "unwritable",
        StoreError::Withdrawn => "withdrawn",
        StoreError::Connect { .. } => "connect",
        StoreError::Exchange { .. } => "exchange",
        StoreError::Status { .. } => "status",
        StoreError::BreakerOpen { .. } => "breaker_open",
        StoreError::Redirect { .. } => "redirect",
    }
}
