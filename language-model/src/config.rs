use serde::{Deserialize, Serialize};

/// A language model behind an OpenAI-compatible endpoint; empty text means "not set".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// The API's base, to which `chat/completions` is added: `https://api.openai.com/v1`. Empty: no model is asked.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// Sent as `Authorization: Bearer`.
    pub api_key: String,
    /// Plain `http` may be spoken to another machine.
    pub allow_http: bool,
    /// Longest time for the model's answer; after it the rules' own reading stands. Each purpose has a bound of it.
    pub timeout_ms: u64,
    /// Most tokens that it may answer.
    pub tokens_max: u32,
    /// The endpoint's name of that bound.
    pub tokens_parameter: TokensParameter,
    /// Texts that it reads at the same time.
    pub concurrency_max: usize,
}

/// The member by which an endpoint gets the longest length of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokensParameter {
    /// `max_tokens`, with a temperature of 0.
    MaxTokens,
    /// `max_completion_tokens`, as models want it that reason; they take no temperature.
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
