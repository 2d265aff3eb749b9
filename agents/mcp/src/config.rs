use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

const BATCH_ITEMS: RangeInclusive<usize> = 1..=1_000;
const TIMEOUT_MS: RangeInclusive<u64> = 100..=600_000;
const HEARTBEAT_MS: RangeInclusive<u64> = 100..=300_000;
const STREAMS: RangeInclusive<usize> = 1..=100_000;
const ANSWER_BYTES: RangeInclusive<usize> = 4_096..=16_777_216;
const LIFETIME_S: RangeInclusive<u64> = 1..=86_400;

/// Error: a configuration value is invalid. The message names the key, the problem and the allowed values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidConfig(String);

/// Settings of the MCP endpoint for agents: tools, and limits on concurrent work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpConfig {
    /// True to offer tools that create and change carts. The tools need a key, and lead to checkout links that a person
    /// opens.
    pub cart_tools: bool,
    /// Maximum number of messages in one batch. Each request in a batch counts as one request.
    pub batch_items_max: usize,
    /// Maximum size of a tool's response in bytes. A tool result contains the response twice. A larger response has
    /// shorter lists, which `provenance.cut` names.
    pub answer_bytes_max: usize,
    /// Maximum time for all requests of one POST. Requests that take longer fail with `overloaded`, or with
    /// `outcome_unknown` if they change something.
    pub timeout_ms: u64,
    /// Interval of the keep-alive comments on an open stream.
    pub heartbeat_ms: u64,
    /// Maximum number of open streams. Above it, the oldest stream of the client network with the most streams is
    /// closed.
    pub streams_max: usize,
    /// Maximum number of open streams per client network. Above it, the network's oldest stream is closed.
    pub streams_per_client_max: usize,
    /// Time after which a stream is closed. Clients then open a new stream.
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
    /// Validates all values.
    ///
    /// # Errors
    /// The first invalid value.
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
        "{key} must be between {from} and {to}, not {value}"
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
        assert_eq!(told, "mcp.heartbeat_ms must be between 100 and 300000, not 5");
    }
}
