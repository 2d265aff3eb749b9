//! Faults of a store, set on demand.

mod bloated;
mod body;
mod lie;
mod listing;

use serde::{Deserialize, Serialize};

pub(crate) use bloated::{bloated, withheld};
pub(crate) use body::{bomb, drip, endless_robots, truncated};
pub(crate) use lie::Lie;
pub(crate) use listing::{Mischief, push_mischief};

/// Fault of a store, active while it is set.
///
/// A fault affects every path except `/robots.txt`, unless its description or a [`FaultRule`] says otherwise.
///
/// A store that refuses a request or returns something else does not carry out changes to carts or customers. A store
/// carries them out if only the response is faulty: [`Fault::AnswerLost`], [`Fault::EdgeFailed`], [`Fault::Drip`],
/// [`Fault::Truncated`], [`Fault::BrokenJson`], partial [`Fault::QueryErrors`], and faults that state untrue data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Fault {
    /// Responds with this status and the matching body: 429, 430, 503, 402, 403, 404, 423, 500, …
    Status {
        /// HTTP status; the platform's own 430 is allowed.
        status: u16,
        /// Value of `Retry-After` in seconds, if the header is sent.
        retry_after_s: Option<u64>,
    },
    /// Responds with 429 to requests beyond this rate, as the platform's edge does.
    Throttle {
        /// Maximum number of requests in any one second.
        per_second: u32,
        /// Value of `Retry-After` in seconds, if the header is sent.
        retry_after_s: Option<u64>,
    },
    /// Responds with the bot check of the platform's edge: 403 with a page that says "Just a moment…".
    Challenge,
    /// Waits for a fixed time before the response.
    Slow {
        /// Delay in milliseconds.
        delay_ms: u64,
    },
    /// Sends the body in small chunks with pauses.
    Drip {
        /// Size of each chunk, in bytes.
        chunk_bytes: usize,
        /// Pause between two chunks, in milliseconds.
        delay_ms: u64,
    },
    /// Resets the connection instead of answering.
    Reset,
    /// Announces the length of the whole body and closes the connection after a part of it.
    Truncated {
        /// Number of bytes that are sent.
        after_bytes: usize,
    },
    /// Responds to JSON paths with status 200 and an HTML page.
    HtmlForJson,
    /// Protects the store by a password: every path, including robots.txt, redirects to `/password`, and GraphQL
    /// reports the store as locked.
    PasswordPage,
    /// Responds to requests for the catalogue's JSON with this status. HTML pages and GraphQL stay available.
    CatalogueClosed {
        /// HTTP status: 401, 403 or 404.
        status: u16,
    },
    /// Sends a small gzip body that decompresses to this many bytes, even to clients that do not accept gzip.
    GzipBomb {
        /// Decompressed size in bytes.
        decoded_bytes: u64,
    },
    /// Makes the first page of a listing a small gzip body, which decompresses to this many bytes of products with long
    /// lists of empty texts and numbers. Later pages are empty.
    Bloated {
        /// Decompressed size in bytes.
        decoded_bytes: u64,
        /// True for many products with 250 empty images and 500 tags each, false for a few products with longer lists.
        many_records: bool,
    },
    /// Sends a listing's body except for its last bytes, which never arrive.
    Withheld {
        /// Decompressed size of the body in bytes.
        decoded_bytes: u64,
        /// True for a gzip body, which is a thousand times smaller on the wire.
        packed: bool,
    },
    /// Makes listings endless: after the last product, full pages of new products follow, beyond the limit of 25,000.
    EndlessPages,
    /// Publishes products while the listing is read: every page request shifts all products by this many places. A
    /// negative number removes products from the front.
    ShiftingPages {
        /// Number of places by which each request shifts the listing.
        by: i32,
    },
    /// Limits listings to this many products, as if the catalogue had collapsed.
    Collapsed {
        /// Number of products that are left.
        keep: u64,
    },
    /// Redirects every path to itself.
    RedirectLoop,
    /// Redirects every path to this location: a private address, another scheme, or another store.
    RedirectTo {
        /// Value of the `Location` header, verbatim.
        location: String,
    },
    /// Inserts nonsense and values of wrong types among the products of a listing, at regular intervals.
    NonsenseRecords {
        /// Number of real products between two invalid ones; at least 1.
        every: u32,
    },
    /// Inserts a product whose title is not UTF-8 in the middle of each page.
    InvalidUtf8,
    /// Inserts a product with a body of this size in the middle of each page. If a rule names the path of GraphQL, its
    /// responses have as many bytes.
    HugeRecord {
        /// Size of the product's body in bytes.
        bytes: u64,
    },
    /// Truncates the JSON in the middle, with a matching content length.
    BrokenJson,
    /// Sends `ETag`s but ignores `If-None-Match`.
    ForgetsValidators,
    /// Sends no `ETag`.
    NoValidators,
    /// Returns a robots.txt that disallows `/products.json` and all collections.
    RobotsDisallow,
    /// Responds to robots.txt with 503.
    RobotsUnavailable,
    /// Returns an endless robots.txt.
    RobotsEndless,
    /// Responds to `meta.json` with 404, as stores behind another frontend do.
    NoMeta,
    /// Responds with the next listed product in a product's own pages, its JSON and GraphQL.
    OtherProduct,
    /// States prices in another currency, scaled to `rate_pct` percent: in a product's own pages and JSON, in
    /// `meta.json` and `cart.js`, and in GraphQL. Listings do not change.
    OtherCurrency {
        /// ISO 4217 code of the stated currency.
        currency: String,
        /// Percentage of the true price; 100 leaves the numbers unchanged.
        rate_pct: u32,
    },
    /// Treats the reader as being in another country and shows prices in its currency, scaled to `rate_pct` percent: in
    /// listings, in a product's own pages and JSON, in `cart.js` and in GraphQL. The front page states the currency.
    /// The listings set no cookie with it, and `meta.json` names the store's own currency.
    Abroad {
        /// ISO 4217 code of the shown currency.
        currency: String,
        /// Percentage of the true price; 100 leaves the numbers unchanged.
        rate_pct: u32,
    },
    /// Makes GraphQL return `null` for some of the nodes requested by id, at regular intervals.
    NullNodes {
        /// Interval between the missing nodes; 1 means all nodes.
        every: u32,
    },
    /// Makes GraphQL state one category for all products.
    OneCategory {
        /// Names of the category and its ancestors from the department on, joined by ` > `.
        path: String,
    },
    /// Makes GraphQL refuse new customers and logins for now: status 200, `null` and the error `THROTTLED`.
    CustomersThrottled,
    /// Carries out the change, then resets the connection without a response. The caller cannot know the outcome.
    AnswerLost {
        /// Time without any data before the reset, in milliseconds, for clients with a timeout of their own.
        hold_ms: u64,
    },
    /// Carries out the change, but the platform's edge responds with this status: 502 or 504 if it gave up on the store
    /// (RFC 9110, 15.6.3 and 15.6.5), 503 if the store closed the connection after the request (Envoy's response flag
    /// `UC`), 500, or 52x. The caller cannot know the outcome.
    EdgeFailed {
        /// HTTP status of the edge's response.
        status: u16,
    },
    /// Lets the platform's edge give up and respond with this status before the store starts. The store carries out the
    /// request at [`RunningStores::catch_up`](crate::RunningStores::catch_up).
    Delayed {
        /// HTTP status of the edge's response.
        status: u16,
    },
    /// Lets the platform's edge give up on a slow store and respond with this status. The store goes on: it answers
    /// `requests` more GraphQL requests from the old state, and then carries out this one.
    Late {
        /// HTTP status of the edge's response.
        status: u16,
        /// Number of requests that the store answers before.
        requests: u32,
    },
    /// Makes GraphQL report this user error for every change of a cart, without the change: the code of `CartErrorCode`
    /// that the platform uses for failures of its own, such as `SERVICE_UNAVAILABLE`.
    CartError {
        /// A value of `CartErrorCode`; `None`: the response has neither a cart nor an error.
        code: Option<String>,
    },
    /// Makes GraphQL state this quantity for every cart line.
    ManyPieces {
        /// Stated number of units.
        quantity: u32,
    },
    /// Makes GraphQL return checkout links with this origin instead of the store's own, as if its domain had lapsed or
    /// belonged to someone else.
    CheckoutAt {
        /// Scheme and host, without a trailing slash.
        origin: String,
    },
    /// Makes GraphQL respond with status 200 and the error `THROTTLED` and no data.
    QueryThrottled,
    /// Makes GraphQL respond with status 200 and an internal error, without data or with partial data.
    QueryErrors {
        /// True if the response contains every field except the first.
        partial: bool,
    },
}

impl Fault {
    /// True if the fault affects a path.
    fn concerns(&self, path: &str) -> bool {
        let robots = path == "/robots.txt";
        let query = is_query(path);
        let json = path.ends_with(".json") || path.ends_with(".js");
        let product = path.starts_with("/products/");
        let listing =
            path == "/products.json" || (path.starts_with("/collections/") && path.ends_with("/products.json"));
        match self {
            Self::RobotsDisallow | Self::RobotsUnavailable | Self::RobotsEndless => robots,
            Self::PasswordPage => true,
            Self::HtmlForJson | Self::BrokenJson => json,
            Self::CatalogueClosed { .. } => json && !query,
            Self::OtherProduct => product || query,
            Self::OtherCurrency { .. } => product || query || matches!(path, "/meta.json" | "/cart.js" | "/cart.json"),
            Self::Abroad { .. } => product || query || listing || matches!(path, "/" | "/cart.js" | "/cart.json"),
            Self::CustomersThrottled
            | Self::CartError { .. }
            | Self::ManyPieces { .. }
            | Self::CheckoutAt { .. }
            | Self::NullNodes { .. }
            | Self::OneCategory { .. }
            | Self::QueryThrottled
            | Self::QueryErrors { .. } => query,
            Self::NoMeta => path == "/meta.json",
            Self::EndlessPages
            | Self::Bloated { .. }
            | Self::Withheld { .. }
            | Self::ShiftingPages { .. }
            | Self::Collapsed { .. }
            | Self::NonsenseRecords { .. }
            | Self::InvalidUtf8
            | Self::HugeRecord { .. } => listing,
            _ => !robots,
        }
    }
}

/// True for a GraphQL path in any version.
pub(crate) fn is_query(path: &str) -> bool {
    path.starts_with("/api/") && path.ends_with("/graphql.json")
}

/// True if a request calls a field, whose name must be a whole word before arguments. Requests are not parsed before
/// the fault is chosen.
fn calls(body: &[u8], name: &str) -> bool {
    let Ok(text) = std::str::from_utf8(body) else {
        return false;
    };
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].trim_start_matches([' ', '\t']);
        // In JSON a line break is written as `\n`, whose second character is a letter.
        let is_begun = before.is_none_or(|it| !is_word(it)) || text[..at].ends_with("\\n");
        is_begun && (after.starts_with('(') || after.starts_with('{'))
    })
}

/// A fault, and the conditions under which it applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultRule {
    /// The fault to apply.
    pub fault: Fault,
    /// Number of matching requests to which the fault applies; no limit if `None`.
    #[serde(default)]
    pub first: Option<u32>,
    /// Page to which the fault is limited (the `page` parameter, 1 if absent).
    #[serde(default)]
    pub page: Option<u32>,
    /// Path prefix to which the fault is limited. With a prefix that includes `/robots.txt`, the fault affects that
    /// path too.
    #[serde(default)]
    pub path: Option<String>,
    /// GraphQL query or mutation field to which the fault is limited, such as `cartLinesAdd`.
    #[serde(default)]
    pub operation: Option<String>,
}

impl From<Fault> for FaultRule {
    fn from(fault: Fault) -> Self {
        Self {
            fault,
            first: None,
            page: None,
            path: None,
            operation: None,
        }
    }
}

impl FaultRule {
    /// Limits the rule to the first `count` requests.
    #[must_use]
    pub fn first(self, count: u32) -> Self {
        Self {
            first: Some(count),
            ..self
        }
    }

    /// Limits the rule to one page.
    #[must_use]
    pub fn on_page(self, page: u32) -> Self {
        Self {
            page: Some(page),
            ..self
        }
    }

    /// Limits the rule to paths with this prefix.
    #[must_use]
    pub fn on_path(self, path: impl Into<String>) -> Self {
        Self {
            path: Some(path.into()),
            ..self
        }
    }

    /// Limits the rule to GraphQL requests that call this field of the query or mutation type.
    #[must_use]
    pub fn on_operation(self, name: impl Into<String>) -> Self {
        Self {
            operation: Some(name.into()),
            ..self
        }
    }

    fn concerns(&self, path: &str, page: u32, body: &[u8]) -> bool {
        self.page.is_none_or(|only| only == page)
            && self
                .operation
                .as_deref()
                .is_none_or(|name| is_query(path) && calls(body, name))
            && match &self.path {
                Some(only) => path.starts_with(only.as_str()),
                None => self.fault.concerns(path),
            }
    }
}

/// Faults that are set on a store.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<FaultRule>);

impl Faults {
    pub(crate) fn replace(&mut self, rules: Vec<FaultRule>) {
        self.0 = rules;
    }

    /// Returns the fault of the first matching rule that is not used up, and counts the use.
    pub(crate) fn meet(&mut self, path: &str, page: u32, body: &[u8]) -> Option<Fault> {
        let rule = self
            .0
            .iter_mut()
            .find(|rule| rule.first != Some(0) && rule.concerns(path, page, body))?;
        if let Some(left) = &mut rule.first {
            *left -= 1;
        }
        Some(rule.fault.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_shows_where_and_as_often_as_it_says() {
        let mut faults = Faults::default();
        faults.replace(vec![
            FaultRule::from(Fault::Reset).first(1).on_page(2),
            Fault::RobotsUnavailable.into(),
        ]);
        assert_eq!(faults.meet("/products.json", 1, b""), None);
        assert_eq!(faults.meet("/products.json", 2, b""), Some(Fault::Reset));
        assert_eq!(faults.meet("/products.json", 2, b""), None);
        assert_eq!(faults.meet("/robots.txt", 1, b""), Some(Fault::RobotsUnavailable));
    }

    #[test]
    fn a_rule_can_concern_one_operation() {
        let body = br#"{"query":"mutation Add {\n  cartLinesAdd (cartId: 1) { cart { id } }\n}"}"#;
        assert!(calls(body, "cartLinesAdd"));
        assert!(!calls(body, "cartLines") && !calls(body, "Add2") && !calls(body, "LinesAdd"));
        let mut faults = Faults::default();
        faults.replace(vec![
            FaultRule::from(Fault::Reset).on_operation("cartLinesAdd").first(1),
        ]);
        assert_eq!(faults.meet("/cart/add.js", 1, body), None);
        assert_eq!(faults.meet("/api/2026-04/graphql.json", 1, b"{}"), None);
        assert_eq!(faults.meet("/api/2026-04/graphql.json", 1, body), Some(Fault::Reset));
        assert_eq!(faults.meet("/api/2026-04/graphql.json", 1, body), None);
    }

    #[test]
    fn faults_are_written_in_json() {
        let rule: FaultRule =
            serde_json::from_str(r#"{"fault":{"kind":"status","status":429,"retry_after_s":2},"first":3}"#).unwrap();
        assert_eq!(
            rule,
            FaultRule::from(Fault::Status {
                status: 429,
                retry_after_s: Some(2)
            })
            .first(3)
        );
        let reset: FaultRule = serde_json::from_str(r#"{"fault":{"kind":"reset"}}"#).unwrap();
        assert_eq!(reset, Fault::Reset.into());
    }
}
