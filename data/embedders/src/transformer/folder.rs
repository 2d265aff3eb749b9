use std::io::Read as _;
use std::path::Path;

use candle_transformers::models::bert;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::TransformerError;

/// Maximum size of the weights file, in bytes. A base model with 32-bit weights has 440 MB.
const WEIGHTS_BYTES_MAX: u64 = 2 << 30;
const TEXT_BYTES_MAX: u64 = 64 << 20;
/// Maximum number of tokens read from a text, even if the model supports more. Product texts are short.
const TOKENS_MAX: usize = 256;
const TOKENS_MIN: usize = 8;

/// Method that combines the vectors of a text's tokens into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// Mean of all token vectors.
    Mean,
    /// Vector of the first token, which represents the whole text.
    First,
}

/// The folder of a sentence-transformers model
/// (<https://sbert.net/docs/sentence_transformer/usage/custom_models.html>).
pub(super) struct Folder {
    pub(super) config: bert::Config,
    pub(super) weights: Vec<u8>,
    pub(super) tokenizer: Vec<u8>,
    pub(super) tokens_max: usize,
    pub(super) pooling: Pooling,
    pub(super) prompts: Prompts,
    /// SHA-256 of all files that determine the vectors.
    pub(super) digest: [u8; 32],
}

/// Prompts that a model requires before queries and documents.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Prompts {
    pub(super) query: String,
    #[serde(alias = "passage")]
    pub(super) document: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SentenceConfig {
    prompts: Prompts,
}

#[derive(Deserialize)]
struct Length {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_max_tokens: bool,
    pooling_mode_mean_sqrt_len_tokens: bool,
    pooling_mode_weightedmean_tokens: bool,
    pooling_mode_lasttoken: bool,
}

/// Reads the files of a folder one by one and computes their combined digest.
struct Files<'a> {
    folder: &'a Path,
    digest: Sha256,
}

impl Files<'_> {
    /// Returns `None` if the file does not exist.
    fn optional(&mut self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, TransformerError> {
        let path = self.folder.join(name);
        let unreadable = |source| TransformerError::File {
            path: path.clone(),
            source,
        };
        let file = match std::fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let mut bytes = Vec::new();
        // One byte more than the limit shows that the file is too large.
        file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > bytes_max {
            return Err(self.unusable(name, format!("the file is larger than {bytes_max} bytes")));
        }
        self.digest.update(name.as_bytes());
        self.digest.update((bytes.len() as u64).to_le_bytes());
        self.digest.update(&bytes);
        Ok(Some(bytes))
    }

    fn required(&mut self, name: &str, bytes_max: u64) -> Result<Vec<u8>, TransformerError> {
        let bytes = self.optional(name, bytes_max)?;
        bytes.ok_or_else(|| TransformerError::File {
            path: self.folder.join(name),
            source: std::io::ErrorKind::NotFound.into(),
        })
    }

    fn json<T: for<'a> Deserialize<'a>>(&mut self, name: &str) -> Result<Option<T>, TransformerError> {
        let Some(bytes) = self.optional(name, TEXT_BYTES_MAX)? else {
            return Ok(None);
        };
        match serde_json::from_slice(&bytes) {
            Ok(read) => Ok(Some(read)),
            Err(error) => Err(self.unusable(name, error)),
        }
    }

    fn unusable(&self, name: &str, why: impl ToString) -> TransformerError {
        TransformerError::Unusable {
            path: self.folder.join(name),
            why: why.to_string(),
        }
    }
}

/// Unsupported features of the model are errors and are never ignored.
pub(super) fn read(folder: &Path) -> Result<Folder, TransformerError> {
    let mut files = Files {
        folder,
        digest: Sha256::new(),
    };
    let Some(config) = files.json::<bert::Config>("config.json")? else {
        files.required("config.json", 0)?;
        return Err(files.unusable("config.json", "absent"));
    };
    check(&files, &config)?;
    let modules: Vec<Module> = files.json("modules.json")?.unwrap_or_default();
    let known = ["Transformer", "Pooling", "Normalize"];
    if let Some(other) = modules
        .iter()
        .find(|module| !known.iter().any(|known| module.kind.ends_with(known)))
    {
        return Err(files.unusable("modules.json", format!("module {:?} is not supported", other.kind)));
    }
    let pooling = pooling(&mut files)?;
    let length = files.json::<Length>("sentence_bert_config.json")?;
    let length = length.and_then(|length| length.max_seq_length).unwrap_or(TOKENS_MAX);
    let tokens_max = length.min(config.max_position_embeddings).min(TOKENS_MAX);
    if tokens_max < TOKENS_MIN {
        let why = format!("a maximum of {tokens_max} tokens per text is too small");
        return Err(files.unusable("sentence_bert_config.json", why));
    }
    let sentence: SentenceConfig = files.json("config_sentence_transformers.json")?.unwrap_or_default();
    let tokenizer = files.required("tokenizer.json", TEXT_BYTES_MAX)?;
    let weights = files.required("model.safetensors", WEIGHTS_BYTES_MAX)?;
    Ok(Folder {
        config,
        weights,
        tokenizer,
        tokens_max,
        pooling,
        prompts: sentence.prompts,
        digest: files.digest.finalize().into(),
    })
}

/// Rejects values that would cause a division by zero or exhaust memory.
fn check(files: &Files<'_>, config: &bert::Config) -> Result<(), TransformerError> {
    if config.model_type.as_deref().is_some_and(|kind| kind != "bert") {
        return Err(files.unusable("config.json", "model_type must be bert"));
    }
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    if heads == 0 || hidden == 0 || !hidden.is_multiple_of(heads) || hidden > data_embedding::DIMENSIONS_MAX {
        let why = format!("{heads} attention heads do not fit {hidden} components");
        return Err(files.unusable("config.json", why));
    }
    if config.num_hidden_layers > 64 {
        return Err(files.unusable("config.json", "more than 64 layers"));
    }
    Ok(())
}

fn pooling(files: &mut Files<'_>) -> Result<Pooling, TransformerError> {
    let name = "1_Pooling/config.json";
    let Some(config) = files.json::<PoolingConfig>(name)? else {
        return Ok(Pooling::Mean);
    };
    let other = config.pooling_mode_max_tokens
        || config.pooling_mode_mean_sqrt_len_tokens
        || config.pooling_mode_weightedmean_tokens
        || config.pooling_mode_lasttoken;
    match (config.pooling_mode_mean_tokens, config.pooling_mode_cls_token, other) {
        (true, false, false) => Ok(Pooling::Mean),
        (false, true, false) => Ok(Pooling::First),
        _ => Err(files.unusable(
            name,
            "pooling must use either the mean of the tokens or the first token",
        )),
    }
}
