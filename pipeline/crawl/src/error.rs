use data_model::{CurrencyCode, StoreHost, Timestamp};
use pipeline_parse::ParseError;
use storefront::{OverBudget, StoreError};

use crate::landing::LandingError;

/// The code of a store that takes more memory than there is.
pub const OVER_MEMORY: &str = "over_memory";

/// The reason why the crawl of one store did not come to its end. It costs that store alone, and only this run.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The store refused, failed or did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// One of its pages could not be had.
    #[error("{page} cannot be read")]
    Page {
        /// The page, in words.
        page: String,
        /// The store's error.
        #[source]
        source: StoreError,
    },
    /// The store has asked an earlier run to leave it alone for longer than is waited here.
    #[error("the store asked to come back at {until}")]
    AskedToWait {
        /// The moment from which on it may be asked again.
        until: Timestamp,
    },
    /// A page is no catalogue page: markup, another document, or cut off.
    #[error("page {page} of the catalogue is no catalogue page")]
    NotACatalogue {
        /// Its number.
        page: u32,
        /// The fault in it.
        #[source]
        source: ParseError,
    },
    /// A page was said to be unchanged although nobody asked whether it is.
    #[error("the store answers 304 to a request without a validator")]
    UnaskedNotModified,
    /// Another store answers at the brand's address: its catalogue is not the brand's.
    #[error("another store answers: registered is {registered}, found was {found}")]
    AnotherStore {
        /// The host by which the brand's store is known.
        registered: String,
        /// The host that answered, or that the store which answered states as its own.
        found: String,
    },
    /// Pages of one crawl show their amounts in different currencies: which product is in which is not known.
    #[error("its pages show prices in {one} and in {other}")]
    CurrencyMixed {
        /// The currency of one page.
        one: CurrencyCode,
        /// The currency of another one.
        other: CurrencyCode,
    },
    /// The catalogue goes on and on, beyond what the platform would list.
    #[error("the catalogue does not end: {seen} products after {pages} pages{}", stated_text(*.stated))]
    Endless {
        /// Pages read.
        pages: u32,
        /// Distinct products on them.
        seen: u64,
        /// Products that the store says it has.
        stated: Option<u64>,
    },
    /// More bytes than one store may send in one run.
    #[error("the store sent more than {bytes_max} bytes")]
    TooManyBytes {
        /// The bound.
        bytes_max: u64,
    },
    /// More time than one store may take in one run.
    #[error("the crawl of the store took more than {seconds_max} s")]
    TooSlow {
        /// The bound.
        seconds_max: u64,
    },
    /// The run was told to stop.
    #[error("the run was cancelled")]
    Cancelled,
    /// Pages could not be landed, or landed pages not be read.
    #[error("landed pages of {store} cannot be written or read")]
    Landing {
        /// The store whose pages they are.
        store: StoreHost,
        /// The failure.
        #[source]
        source: LandingError,
    },
    /// One of its pages takes more memory than there is for a page.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A task of this program broke off.
    #[error("a worker of the crawl broke off")]
    Worker(#[from] tokio::task::JoinError),
}

impl CrawlError {
    /// One word for summaries and metrics; the list is closed.
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
        .map(|stated| format!(", and the store says it has {stated}"))
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
        // A crawl posts nothing.
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
