use language_model::ModelConfig;
use serde::{Deserialize, Serialize};

/// Settings of discovery, which finds products for sentences.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiscoverConfig {
    /// Language model that interprets sentences.
    pub model: ModelConfig,
}
