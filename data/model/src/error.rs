use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// The party that must act before the call can succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The caller must act, because the request is invalid or not allowed.
    Caller,
    /// The brand's store refused, failed or did not answer.
    Brand,
    /// This service must act, because the failure is internal.
    Us,
}

/// Effect of sending the same request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// A repeated request gets the same response.
    Never,
    /// The request can be retried after this duration.
    After(Duration),
    /// The request can be repeated only with the same idempotency key, because the outcome of the first attempt is
    /// unknown.
    SameKey,
}

macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $status:literal, $fault:ident, $title:literal;)*) => {
        /// Every error code of responses. The list is closed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($(#[$doc])* $variant,)* }

        impl ErrorCode {
            /// Every error code, in the order of the API contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Returns the code as API responses spell it.
            #[must_use]
            pub const fn as_str(self) -> &'static str { match self { $(Self::$variant => $code,)* } }

            /// Returns the HTTP status (RFC 9110) of the error code.
            #[must_use]
            pub const fn status(self) -> u16 { match self { $(Self::$variant => $status,)* } }

            /// Returns the party that must act.
            #[must_use]
            pub const fn fault(self) -> Fault { match self { $(Self::$variant => Fault::$fault,)* } }

            /// Returns a short title that is the same for every occurrence of the error (RFC 9457 `title`).
            #[must_use]
            pub const fn title(self) -> &'static str { match self { $(Self::$variant => $title,)* } }
        }
    };
}

error_codes! {
    /// A parameter or a field of the body is invalid.
    Validation = "validation", 422, Caller, "The request is not valid";
    /// The body is not valid JSON.
    MalformedJson = "malformed_json", 422, Caller, "The body is not JSON";
    /// The cursor belongs to a release that is no longer served.
    CursorExpired = "cursor_expired", 422, Caller, "The cursor belongs to an older release";
    /// The product does not exist.
    ProductNotFound = "product_not_found", 404, Caller, "No such product";
    /// The brand does not exist.
    BrandNotFound = "brand_not_found", 404, Caller, "No such brand";
    /// The cart does not exist or does not belong to the caller.
    CartNotFound = "cart_not_found", 404, Caller, "No such cart";
    /// The cart has no such line.
    LineNotFound = "line_not_found", 404, Caller, "No such line";
    /// The watch does not exist or does not belong to the caller.
    WatchNotFound = "watch_not_found", 404, Caller, "No such watch";
    /// The key does not exist or does not belong to the account.
    KeyNotFound = "key_not_found", 404, Caller, "No such key";
    /// The session does not exist or does not belong to the account.
    SessionNotFound = "session_not_found", 404, Caller, "No such session";
    /// The category does not exist.
    CategoryNotFound = "category_not_found", 404, Caller, "No such category";
    /// The path does not exist.
    RouteNotFound = "route_not_found", 404, Caller, "No such path";
    /// The operation needs a key or a session.
    MissingCredentials = "missing_credentials", 401, Caller, "A key or a session is needed";
    /// The key is unknown or revoked.
    InvalidKey = "invalid_key", 401, Caller, "The key is not valid";
    /// The session is unknown or has ended.
    InvalidSession = "invalid_session", 401, Caller, "The session is not valid";
    /// The caller may not do this.
    Forbidden = "forbidden", 403, Caller, "Not allowed";
    /// The path exists but does not support the method.
    MethodNotAllowed = "method_not_allowed", 405, Caller, "The path does not accept this method";
    /// The body is too large.
    PayloadTooLarge = "payload_too_large", 413, Caller, "The request is too large";
    /// The body has an unsupported media type.
    UnsupportedMediaType = "unsupported_media_type", 415, Caller, "The body must be application/json";
    /// Another request with this idempotency key is in flight.
    IdempotencyConflict = "idempotency_conflict", 409, Caller, "A request with this key is in flight";
    /// The idempotency key was already used with a different body.
    IdempotencyMismatch = "idempotency_mismatch", 422, Caller, "The idempotency key was used with a different body";
    /// Too many requests in a short time.
    RateLimit = "rate_limit", 429, Caller, "Too many requests";
    /// Too many requests today.
    DailyLimit = "daily_limit", 429, Caller, "The daily limit is reached";
    /// The store refused the operation.
    StoreRejected = "store_rejected", 422, Brand, "The store refused";
    /// The store cannot be reached or returns errors.
    StoreUnavailable = "store_unavailable", 502, Brand, "The store does not answer";
    /// The store requires clients to pause requests for a while.
    StoreThrottled = "store_throttled", 502, Brand, "The store limits our rate";
    /// The store took too long.
    StoreTimeout = "store_timeout", 504, Brand, "The store took too long";
    /// The operation may have been performed, but its outcome is not yet known.
    OutcomeUnknown = "outcome_unknown", 504, Us, "It is unknown if the store carried out the request";
    /// The server cannot accept more work at the moment.
    Overloaded = "overloaded", 503, Us, "Too busy";
    /// No release has been opened yet.
    NotReady = "not_ready", 503, Us, "Not ready";
    /// An unexpected failure.
    Internal = "internal", 500, Us, "Something went wrong on our side";
}

impl ErrorCode {
    /// Returns `true` for temporary errors. The same request may succeed a little later.
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

/// Classifies errors that can reach a caller. Every error type defines its response in one place.
pub trait Classify {
    /// Returns the error code of the response.
    fn code(&self) -> ErrorCode;

    /// Returns the party that must act, by default that of the error code.
    fn fault(&self) -> Fault {
        self.code().fault()
    }

    /// Returns the advice on retrying.
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
