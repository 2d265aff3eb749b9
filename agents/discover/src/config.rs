use language_model::ModelConfig;
use serde::{Deserialize, Serialize};

/// Settings of discovery, which turns sentences into products.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiscoverConfig {
    /// The language model that reads sentences.
    pub model: ModelConfig,
}
