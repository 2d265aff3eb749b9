use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// The party that must act so that the call can succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The caller: the request is wrong or not allowed.
    Caller,
    /// The brand's store: it refused, failed or did not answer.
    Brand,
    /// This service.
    Us,
}

/// The effect of sending the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// No: the answer will be the same.
    Never,
    /// Yes, after this long.
    After(Duration),
    /// Yes, but only with the same idempotency key: the outcome of the first try is unknown.
    SameKey,
}

macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $status:literal, $fault:ident, $title:literal;)*) => {
        /// Every code that an answer can carry; the list is closed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($(#[$doc])* $variant,)* }

        impl ErrorCode {
            /// Every code, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code as answers spell it.
            #[must_use]
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $code,)* } }

            /// The HTTP status (RFC 9110) that goes with it.
            #[must_use]
            pub const fn status(self) -> u16 { match self { $(Self::$variant => $status,)* } }

            /// The party that must act.
            #[must_use]
            pub const fn fault(self) -> Fault { match self { $(Self::$variant => Fault::$fault,)* } }

            /// A short title that does not change from one occurrence to the next (RFC 9457 `title`).
            #[must_use]
            pub const fn title(self) -> &'static str { match self { $(Self::$variant => $title,)* } }
        }
    };
}

error_codes! {
    /// A parameter or a body member is wrong.
    Validation = "validation", 422, Caller, "The request is not valid";
    /// The body is no JSON.
    MalformedJson = "malformed_json", 422, Caller, "The body is not JSON";
    /// The cursor is of a release that is no longer served.
    CursorExpired = "cursor_expired", 422, Caller, "The cursor is of an older release";
    /// No such product.
    ProductNotFound = "product_not_found", 404, Caller, "No such product";
    /// No such brand.
    BrandNotFound = "brand_not_found", 404, Caller, "No such brand";
    /// No such cart, or not the caller's.
    CartNotFound = "cart_not_found", 404, Caller, "No such cart";
    /// No such line of a cart.
    LineNotFound = "line_not_found", 404, Caller, "No such line";
    /// No such watch, or not the caller's.
    WatchNotFound = "watch_not_found", 404, Caller, "No such watch";
    /// No such key, or not the account's.
    KeyNotFound = "key_not_found", 404, Caller, "No such key";
    /// No such session, or not the account's.
    SessionNotFound = "session_not_found", 404, Caller, "No such session";
    /// No such category.
    CategoryNotFound = "category_not_found", 404, Caller, "No such category";
    /// No such path.
    RouteNotFound = "route_not_found", 404, Caller, "No such path";
    /// The operation needs a key or a session.
    MissingCredentials = "missing_credentials", 401, Caller, "A key or a session is needed";
    /// The key is unknown or revoked.
    InvalidKey = "invalid_key", 401, Caller, "The key is not valid";
    /// The session is unknown or over.
    InvalidSession = "invalid_session", 401, Caller, "The session is not valid";
    /// The caller may not do this.
    Forbidden = "forbidden", 403, Caller, "Not allowed";
    /// The path exists, the method does not.
    MethodNotAllowed = "method_not_allowed", 405, Caller, "The path does not take this method";
    /// The body is too large.
    PayloadTooLarge = "payload_too_large", 413, Caller, "The request is too large";
    /// The body is of another media type.
    UnsupportedMediaType = "unsupported_media_type", 415, Caller, "The body must be application/json";
    /// A request with this idempotency key is in flight.
    IdempotencyConflict = "idempotency_conflict", 409, Caller, "A request with this key is in flight";
    /// The idempotency key was used with another body.
    IdempotencyMismatch = "idempotency_mismatch", 422, Caller, "The key was used with another body";
    /// Too many requests in a short time.
    RateLimit = "rate_limit", 429, Caller, "Too many requests";
    /// Too many requests today.
    DailyLimit = "daily_limit", 429, Caller, "The daily limit is reached";
    /// The store refused the operation.
    StoreRejected = "store_rejected", 422, Brand, "The store refused";
    /// The store cannot be reached or fails.
    StoreUnavailable = "store_unavailable", 502, Brand, "The store does not answer";
    /// The store asks to be left alone for a while.
    StoreThrottled = "store_throttled", 502, Brand, "The store limits our rate";
    /// The store took too long.
    StoreTimeout = "store_timeout", 504, Brand, "The store took too long";
    /// The act may have been done; nobody knows yet.
    OutcomeUnknown = "outcome_unknown", 504, Us, "It is not known if it was done";
    /// More work than this server can take now.
    Overloaded = "overloaded", 503, Us, "Too busy";
    /// No release is open yet.
    NotReady = "not_ready", 503, Us, "Not ready";
    /// An unforeseen failure.
    Internal = "internal", 500, Us, "Something went wrong on our side";
}

impl ErrorCode {
    /// `true` where it passes by itself: the same may succeed a little later.
    #[must_use]
    pub const fn is_passing(self) -> bool {
        matches!(
            self,
            Self::Overloaded | Self::NotReady | Self::StoreUnavailable | Self::StoreThrottled | Self::StoreTimeout
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The decisions that every error that can reach a caller makes about itself, once.
pub trait Classify {
    /// The code of the answer.
    fn code(&self) -> ErrorCode;

    /// The party that must act; the code's own unless the error knows better.
    fn fault(&self) -> Fault {
        self.code().fault()
    }

    /// The advice on trying again.
    fn retry(&self) -> Retry {
        if self.code().is_passing() {
            Retry::After(Duration::from_secs(1))
        } else {
            Retry::Never
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_statuses_fit_the_fault() {
        let mut codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            let client_error = (400..500).contains(&code.status());
            assert_eq!(
                client_error,
                code.fault() == Fault::Caller || *code == ErrorCode::StoreRejected,
                "{code}"
            );
        }
    }
}
