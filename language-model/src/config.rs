use serde::{Deserialize, Serialize};

/// Language model behind an OpenAI-compatible endpoint. An empty text means that the key is not set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Base URL of the API, to which `chat/completions` is appended, such as `https://api.openai.com/v1`. If empty, no
    /// model is used.
    pub url: String,
    /// Name of the model at the endpoint.
    pub model: String,
    /// API key, sent as `Authorization: Bearer`.
    pub api_key: String,
    /// Allows plain `http` to another machine.
    pub allow_http: bool,
    /// Maximum time for the model's response, in milliseconds. Then the result of the rules is used. Each purpose has
    /// an upper limit for this value.
    pub timeout_ms: u64,
    /// Maximum number of tokens in the answer.
    pub tokens_max: u32,
    /// Request parameter for the token limit at this endpoint.
    pub tokens_parameter: TokensParameter,
    /// Maximum number of texts that the model reads concurrently.
    pub concurrency_max: usize,
}

/// Request parameter for the maximum length of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensParameter {
    /// `max_tokens`, with a temperature of 0.
    MaxTokens,
    /// `max_completion_tokens`, which reasoning models require. Reasoning models accept no temperature.
    MaxCompletionTokens,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            url: String::new(),
            model: String::new(),
            api_key: String::new(),
            allow_http: false,
            timeout_ms: 1_500,
            tokens_max: 400,
            tokens_parameter: TokensParameter::MaxTokens,
            concurrency_max: 16,
        }
    }
}
