//! Faults of a store, on demand.

mod bloated;
mod body;
mod lie;
mod listing;

use serde::{Deserialize, Serialize};

pub(crate) use bloated::{bloated, withheld};
pub(crate) use body::{bomb, drip, endless_robots, truncated};
pub(crate) use lie::Lie;
pub(crate) use listing::{Mischief, push_mischief};

/// One thing that is wrong with a store while the fault is set.
///
/// A fault concerns every path but `/robots.txt`, except where it says otherwise or a [`FaultRule`] narrows it.
///
/// A store that refuses, or answers something else, does not carry out a change to a cart or a customer. A store
/// carries it out where only the answer goes wrong: [`Fault::AnswerLost`], [`Fault::EdgeFailed`], [`Fault::Drip`],
/// [`Fault::Truncated`], [`Fault::BrokenJson`], [`Fault::QueryErrors`] that are partial, and the lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Fault {
    /// Answers with this status and the body that goes with it: 429, 430, 503, 402, 403, 404, 423, 500, …
    Status {
        /// HTTP status, also the platform's own 430.
        status: u16,
        /// `Retry-After` in seconds, where one is sent.
        retry_after_s: Option<u64>,
    },
    /// Answers 429 to requests beyond this rate, as the platform's edge does.
    Throttle {
        /// Requests allowed in any one second.
        per_second: u32,
        /// `Retry-After` in seconds, where one is sent.
        retry_after_s: Option<u64>,
    },
    /// The bot check of the platform's edge: 403 with a page that says "Just a moment…".
    Challenge,
    /// Waits before the answer.
    Slow {
        /// For so long.
        delay_ms: u64,
    },
    /// Sends the body a little at a time.
    Drip {
        /// Bytes at a time.
        chunk_bytes: usize,
        /// Between two chunks.
        delay_ms: u64,
    },
    /// Resets the connection instead of answering.
    Reset,
    /// Announces the whole body's length and closes the connection after a part of it.
    Truncated {
        /// Bytes that are sent.
        after_bytes: usize,
    },
    /// Answers JSON paths with status 200 and a page of HTML.
    HtmlForJson,
    /// The store has a password: every path, robots.txt too, is sent to `/password`; GraphQL answers that the store is
    /// locked.
    PasswordPage,
    /// The catalogue's JSON is closed with this status; pages for people and GraphQL are open.
    CatalogueClosed {
        /// 401, 403 or 404.
        status: u16,
    },
    /// A small gzip body that unpacks to this many bytes, sent whether the client accepts gzip or not.
    GzipBomb {
        /// Size when unpacked.
        decoded_bytes: u64,
    },
    /// The first page of a listing is a small gzip body that unpacks to this many bytes of products with long lists of
    /// empty texts and numbers; the pages after it are empty.
    Bloated {
        /// Size when unpacked.
        decoded_bytes: u64,
        /// Many products with 250 empty images and 500 tags each, instead of few with longer lists.
        many_records: bool,
    },
    /// A listing's body comes at once but for its last bytes, which never come.
    Withheld {
        /// Size of the body when unpacked.
        decoded_bytes: u64,
        /// True for a gzip body, a thousand times smaller on the wire.
        packed: bool,
    },
    /// Listings never end: past the end come full pages of ever new products, and the 25,000 cap is gone.
    EndlessPages,
    /// Products are published while the listing is read: with every request for a page, everything is this many places
    /// further on. A negative number unpublishes from the front.
    ShiftingPages {
        /// Places by which each request shifts the listing.
        by: i32,
    },
    /// Listings hold only this many products: a catalogue that collapsed.
    Collapsed {
        /// Products that are left.
        keep: u64,
    },
    /// Every path redirects to itself.
    RedirectLoop,
    /// Every path redirects there: a private address, another scheme, another store.
    RedirectTo {
        /// The `Location` header, as it is.
        location: String,
    },
    /// Values of wrong types and nonsense stand among the products of a listing, one after every so many.
    NonsenseRecords {
        /// Real products between two of them; at least 1.
        every: u32,
    },
    /// A product whose title is not UTF-8 stands in the middle of each page.
    InvalidUtf8,
    /// A product with a body of this size stands in the middle of each page; where a rule names the path of GraphQL, its
    /// answers carry as much.
    HugeRecord {
        /// Size of its body.
        bytes: u64,
    },
    /// JSON that ends in the middle, with a length that agrees.
    BrokenJson,
    /// `ETag`s are sent, but `If-None-Match` is ignored.
    ForgetsValidators,
    /// No `ETag` is sent.
    NoValidators,
    /// robots.txt forbids `/products.json` and all collections.
    RobotsDisallow,
    /// robots.txt answers 503.
    RobotsUnavailable,
    /// robots.txt never ends.
    RobotsEndless,
    /// `meta.json` answers 404, as on stores behind another front.
    NoMeta,
    /// A product's own pages, its JSON and GraphQL answer the product that is listed after the one asked for.
    OtherProduct,
    /// The store says that its prices are in another currency, and states so many percent of them: in a product's own
    /// pages and JSON, in `meta.json` and `cart.js`, and in GraphQL. Listings stay as they are.
    OtherCurrency {
        /// ISO 4217.
        currency: String,
        /// 100 leaves the numbers as they are.
        rate_pct: u32,
    },
    /// The store takes the reader to be in another country, and shows so many percent of its prices, in that country's
    /// currency: in listings, in a product's own pages and JSON, in `cart.js` and in GraphQL. Its front page says so, no cookie of a
    /// listing does, and `meta.json` names the store's own currency.
    Abroad {
        /// ISO 4217.
        currency: String,
        /// 100 leaves the numbers as they are.
        rate_pct: u32,
    },
    /// GraphQL knows nothing of every so manieth node that it is asked for by id.
    NullNodes {
        /// 1 for all.
        every: u32,
    },
    /// GraphQL takes no new customers and no logins for now: 200 with `null` for them and the error `THROTTLED`.
    CustomersThrottled,
    /// The change is carried out, and the answer is lost: the connection is reset. The caller cannot know the outcome.
    AnswerLost {
        /// For so long nothing comes before the reset, for clients that give up by themselves.
        hold_ms: u64,
    },
    /// The change is carried out, and the platform's edge answers with this status in place of the store: 502 and 504
    /// where it gave up on it (RFC 9110, 15.6.3 and 15.6.5), 500, 52x. The caller cannot know the outcome.
    EdgeFailed {
        /// HTTP status.
        status: u16,
    },
    /// The platform's edge gives up on what the store has not begun with, and answers with this status. The store does it
    /// at [`RunningStores::catch_up`](crate::Running::catch_up).
    Delayed {
        /// HTTP status.
        status: u16,
    },
    /// GraphQL answers every line of a cart with so many pieces.
    ManyPieces {
        /// Pieces.
        quantity: u32,
    },
    /// GraphQL answers links to checkouts that begin with this instead of the store's own address: a domain that has
    /// lapsed, or is another's by now.
    CheckoutAt {
        /// Scheme and host, without a slash at the end.
        origin: String,
    },
    /// GraphQL answers 200 with the error `THROTTLED` and no data.
    QueryThrottled,
    /// GraphQL answers 200 with an internal error: without data, or with part of it.
    QueryErrors {
        /// True where everything but the first field is answered.
        partial: bool,
    },
}

impl Fault {
    /// True where the fault touches a path.
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
            | Self::ManyPieces { .. }
            | Self::CheckoutAt { .. }
            | Self::NullNodes { .. }
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

/// True for a path of GraphQL, in whatever version.
pub(crate) fn is_query(path: &str) -> bool {
    path.starts_with("/api/") && path.ends_with("/graphql.json")
}

/// True where a request calls a field: its name as a word, with arguments after it. Requests are not parsed before they
/// meet a fault.
fn calls(body: &[u8], name: &str) -> bool {
    let Ok(text) = std::str::from_utf8(body) else {
        return false;
    };
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].trim_start_matches([' ', '\t']);
        // Within JSON a line's end is written as two characters, the latter a letter.
        let is_begun = before.is_none_or(|it| !is_word(it)) || text[..at].ends_with("\\n");
        is_begun && (after.starts_with('(') || after.starts_with('{'))
    })
}

/// A fault, and when it shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FaultRule {
    /// The fault.
    pub fault: Fault,
    /// Only for the first so many requests that it concerns; always where `None`.
    #[serde(default)]
    pub first: Option<u32>,
    /// Only on this page (the `page` parameter, 1 where a request has none).
    #[serde(default)]
    pub page: Option<u32>,
    /// Only on paths that begin with this; `/robots.txt` too where it says so.
    #[serde(default)]
    pub path: Option<String>,
    /// Only on GraphQL requests that call this field of the query or the mutation, such as `cartLinesAdd`.
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
    /// The rule, for the first `count` requests only.
    #[must_use]
    pub fn first(self, count: u32) -> Self {
        Self {
            first: Some(count),
            ..self
        }
    }

    /// The rule, on one page only.
    #[must_use]
    pub fn on_page(self, page: u32) -> Self {
        Self {
            page: Some(page),
            ..self
        }
    }

    /// The rule, on paths with this beginning only.
    #[must_use]
    pub fn on_path(self, path: impl Into<String>) -> Self {
        Self {
            path: Some(path.into()),
            ..self
        }
    }

    /// The rule, on GraphQL requests that call this field of the query or the mutation only.
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

/// The faults that are set on a store.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<FaultRule>);

impl Faults {
    pub(crate) fn replace(&mut self, rules: Vec<FaultRule>) {
        self.0 = rules;
    }

    /// The fault that a request meets: the first rule that concerns it and is not used up, which it uses.
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
