use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

const BATCH_ITEMS: RangeInclusive<usize> = 1..=1_000;
const TIMEOUT_MS: RangeInclusive<u64> = 100..=600_000;
const HEARTBEAT_MS: RangeInclusive<u64> = 100..=300_000;
const STREAMS: RangeInclusive<usize> = 1..=100_000;
const ANSWER_BYTES: RangeInclusive<usize> = 4_096..=16_777_216;
const LIFETIME_S: RangeInclusive<u64> = 1..=86_400;

/// A value that cannot be; the message names the key, what is wrong and what can be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidConfig(String);

/// Settings of the endpoint for agents: tools, and limits on concurrent work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpConfig {
    /// Offers tools that make and change carts. They need a key, and end at links that a person opens.
    pub cart_tools: bool,
    /// Most messages of one batch; each request of it counts as one.
    pub batch_items_max: usize,
    /// Most bytes of a tool's answer, which a result holds twice: lists of a larger one are cut, and `provenance.cut` says so.
    pub answer_bytes_max: usize,
    /// Longest time for all that one POST asks; what is not answered by then is answered as `overloaded`, or as
    /// `outcome_unknown` where it changes something.
    pub timeout_ms: u64,
    /// Interval of the signs of life on an open stream.
    pub heartbeat_ms: u64,
    /// Most open streams. For one more the oldest one of the client network that has most ends.
    pub streams_max: usize,
    /// Most open streams of one client network; for one more its oldest one ends.
    pub streams_per_client_max: usize,
    /// The time for which a stream is open; clients open it again.
    pub stream_lifetime_s: u64,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self {
            cart_tools: false,
            batch_items_max: 50,
            answer_bytes_max: 44_000,
            timeout_ms: 9_000,
            heartbeat_ms: 15_000,
            streams_max: 1_000,
            streams_per_client_max: 32,
            stream_lifetime_s: 3_600,
        }
    }
}

impl McpConfig {
    /// Looks at every value.
    ///
    /// # Errors
    /// The first value that cannot be.
    pub fn check(&self) -> Result<(), InvalidConfig> {
        within("mcp.batch_items_max", self.batch_items_max, &BATCH_ITEMS)?;
        within("mcp.answer_bytes_max", self.answer_bytes_max, &ANSWER_BYTES)?;
        within("mcp.timeout_ms", self.timeout_ms, &TIMEOUT_MS)?;
        within("mcp.heartbeat_ms", self.heartbeat_ms, &HEARTBEAT_MS)?;
        within("mcp.streams_max", self.streams_max, &STREAMS)?;
        within("mcp.streams_per_client_max", self.streams_per_client_max, &STREAMS)?;
        within("mcp.stream_lifetime_s", self.stream_lifetime_s, &LIFETIME_S)
    }
}

fn within<T: PartialOrd + std::fmt::Display>(
    key: &str,
    value: T,
    bounds: &RangeInclusive<T>,
) -> Result<(), InvalidConfig> {
    if bounds.contains(&value) {
        return Ok(());
    }
    let (from, to) = (bounds.start(), bounds.end());
    Err(InvalidConfig(format!(
        "{key} must lie between {from} and {to}, not {value}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_can_be_and_what_cannot_is_named() {
        assert_eq!(McpConfig::default().check(), Ok(()));
        let wrong = McpConfig {
            heartbeat_ms: 5,
            ..McpConfig::default()
        };
        let told = wrong.check().unwrap_err().to_string();
        assert_eq!(told, "mcp.heartbeat_ms must lie between 100 and 300000, not 5");
    }
}
