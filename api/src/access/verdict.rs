use std::num::NonZeroU32;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATUS: HeaderName = HeaderName::from_static("ratelimit");

/// The limits of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// Average requests per second, and the maximum burst; `None` means unlimited.
    rate: Option<(NonZeroU32, NonZeroU32)>,
    /// Maximum number of requests per day in the market's time zone.
    per_day: Option<u64>,
    /// Value of `RateLimit-Policy`, built once.
    policy: Option<HeaderValue>,
}

impl Allowance {
    /// Creates limits from the requests per second, the burst size and the requests per day.
    #[must_use]
    pub fn new(per_second: NonZeroU32, burst: NonZeroU32, per_day: Option<u64>) -> Self {
        let mut policy = format!("\"burst\";q={burst};w={}", burst.get().div_ceil(per_second.get()));
        if let Some(per_day) = per_day {
            policy.push_str(&format!(", \"day\";q={per_day};w=86400"));
        }
        Self {
            rate: Some((per_second, burst)),
            per_day,
            policy: HeaderValue::try_from(policy).ok(),
        }
    }

    /// Creates an allowance without limits.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self {
            rate: None,
            per_day: None,
            policy: None,
        }
    }

    /// Multiplies the limits by `times`.
    #[must_use]
    pub fn times(&self, times: NonZeroU32) -> Self {
        let Some((per_second, burst)) = self.rate else {
            return self.clone();
        };
        let per_day = self.per_day.map(|per_day| per_day.saturating_mul(times.get().into()));
        Self::new(per_second.saturating_mul(times), burst.saturating_mul(times), per_day)
    }

    /// Returns the average requests per second and the burst size.
    #[must_use]
    pub const fn rate(&self) -> Option<(NonZeroU32, NonZeroU32)> {
        self.rate
    }

    /// Returns the time in which a whole burst is refilled.
    pub(crate) fn burst_time(&self) -> Option<Duration> {
        let (per_second, burst) = self.rate?;
        Some(Duration::from_secs(1) / per_second.get() * burst.get())
    }

    /// Returns the maximum number of requests per day.
    #[must_use]
    pub const fn per_day(&self) -> Option<u64> {
        self.per_day
    }
}

/// The outcome for a counted request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The request is admitted.
    Allowed,
    /// Rate limit exceeded: the next request is allowed after this time.
    TooFast(Duration),
    /// The daily limit is reached: the market's day ends after this time.
    TooManyToday(Duration),
}

/// The result of a [`super::Limit`] for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Admitted or refused.
    pub outcome: Outcome,
    /// Number of requests left in the burst; `None` without a limit.
    pub remaining: Option<u32>,
    /// Time until a full burst is available again.
    pub reset_after: Duration,
    /// Number of requests left today, and the time until the day ends; `None` without a daily limit.
    pub today: Option<(u64, Duration)>,
}

impl Verdict {
    /// A verdict without any limits.
    pub const UNLIMITED: Self = Self {
        outcome: Outcome::Allowed,
        remaining: None,
        reset_after: Duration::ZERO,
        today: None,
    };

    /// Adds the header with the rest of the limits (draft-ietf-httpapi-ratelimit-headers): `"burst";r=19;t=1,
    /// "day";r=49999;t=3600`.
    pub(crate) fn tell(&self, allowance: &Allowance, headers: &mut HeaderMap) {
        let (Some(policy), Some(remaining)) = (&allowance.policy, self.remaining) else {
            return;
        };
        let mut status = Text::default();
        status.push(b"\"burst\";r=").number(remaining.into());
        status.push(b";t=").number(whole_seconds(self.reset_after));
        if let Some((remaining, ends_after)) = self.today {
            status.push(b", \"day\";r=").number(remaining);
            status.push(b";t=").number(whole_seconds(ends_after));
        }
        // Digits and ASCII punctuation are always a valid header value.
        if let Ok(status) = HeaderValue::from_bytes(status.as_bytes()) {
            headers.insert(POLICY, policy.clone());
            headers.insert(STATUS, status);
        }
    }
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// Short text on the stack. `format!` would cost more than the rest of a verdict.
struct Text {
    bytes: [u8; 96],
    len: usize,
}

impl Default for Text {
    fn default() -> Self {
        Self { bytes: [0; 96], len: 0 }
    }
}

impl Text {
    fn push(&mut self, text: &[u8]) -> &mut Self {
        let end = self.len + text.len();
        if let Some(place) = self.bytes.get_mut(self.len..end) {
            place.copy_from_slice(text);
            self.len = end;
        }
        self
    }

    fn number(&mut self, number: u64) {
        let mut digits = itoa::Buffer::new();
        self.push(digits.format(number).as_bytes());
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}
