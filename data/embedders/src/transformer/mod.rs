//! Runs a BERT-like model in this process, on the CPU.

mod folder;

use std::fmt;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use data_embedding::{DocumentText, EmbedError, Embedder, EmbedderId, Vector};
use tokenizers::{PostProcessor as _, Tokenizer, TruncationParams};

use self::folder::{Folder, Pooling, Prompts};

/// A transformer of the BERT family, such as all-MiniLM-L6-v2, read from a folder in the sentence-transformers format.
/// The folder contains `config.json`, `tokenizer.json` and `model.safetensors`. The files `modules.json`,
/// `1_Pooling/config.json`, `sentence_bert_config.json` and `config_sentence_transformers.json` are read if they exist.
///
/// Texts are embedded one at a time, so that a vector depends only on its text and a rebuilt release is identical. Even
/// with a small model, a text takes milliseconds of one core.
pub struct Transformer {
    id: EmbedderId,
    dimensions: usize,
    model: BertModel,
    tokenizer: Tokenizer,
    unknown: Option<u32>,
    pooling: Pooling,
    prompts: Prompts,
}

impl fmt::Debug for Transformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transformer")
            .field("id", &self.id)
            .field("dimensions", &self.dimensions)
            .field("pooling", &self.pooling)
            .finish_non_exhaustive()
    }
}

/// Reason why a folder does not contain a usable model.
#[derive(Debug, thiserror::Error)]
pub enum TransformerError {
    /// A file is missing or cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file has invalid content or requires an unsupported feature.
    #[error("{}: {why}", path.display())]
    Unusable {
        /// Path of the file.
        path: PathBuf,
        /// Problem with the file.
        why: String,
    },
}

impl Transformer {
    /// Reads the model in a folder. Takes about as much memory as the weights file is large, and twice as much during
    /// reading.
    ///
    /// # Errors
    /// [`TransformerError`] with the invalid file.
    pub fn open(path: &Path) -> Result<Self, TransformerError> {
        let Folder {
            config,
            weights,
            tokenizer,
            tokens_max,
            pooling,
            prompts,
            digest,
        } = folder::read(path)?;
        // candle appends the location in its own code after the first line.
        let unusable = |name: &str, why: String| TransformerError::Unusable {
            path: path.join(name),
            why: why.lines().next().unwrap_or_default().to_owned(),
        };
        let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu);
        let model = weights.and_then(|weights| BertModel::load(weights, &config));
        let model = model.map_err(|error| unusable("model.safetensors", error.to_string()))?;
        let named = "tokenizer.json";
        let mut tokenizer = Tokenizer::from_bytes(&tokenizer).map_err(|error| unusable(named, error.to_string()))?;
        // The tokeniser subtracts these from the maximum length without a check.
        let added = tokenizer
            .get_post_processor()
            .map_or(0, |added| added.added_tokens(false));
        if added >= tokens_max {
            return Err(unusable(
                named,
                format!("the tokenizer adds {added} tokens to a text, but the maximum is {tokens_max}"),
            ));
        }
        let truncation = TruncationParams {
            max_length: tokens_max,
            ..TruncationParams::default()
        };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(|error| unusable(named, error.to_string()))?;
        tokenizer.with_padding(None);
        if tokenizer.get_vocab_size(true) > config.vocab_size {
            return Err(unusable(
                named,
                format!("the tokenizer has more tokens than the model's {}", config.vocab_size),
            ));
        }
        let unknown = ["[UNK]", "<unk>"].iter().find_map(|token| tokenizer.token_to_id(token));
        let id = EmbedderId::try_from(format!("bert:{}", hex::encode(&digest[..16])));
        Ok(Self {
            id: id.map_err(|error| unusable(named, error.to_string()))?,
            dimensions: config.hidden_size,
            model,
            tokenizer,
            unknown,
            pooling,
            prompts,
        })
    }

    /// Returns `None` if the model has no word of the text.
    fn embed(&self, prompt: &str, text: &str) -> Result<Option<Vector>, EmbedError> {
        let wrong = |error: &dyn fmt::Display| {
            EmbedError::Answer(error.to_string().lines().next().unwrap_or_default().to_owned())
        };
        let bare = self.tokenizer.encode_fast(text, false).map_err(|error| wrong(&error))?;
        if bare.get_ids().iter().all(|id| Some(*id) == self.unknown) {
            return Ok(None);
        }
        let prompted = if prompt.is_empty() {
            self.tokenizer.encode_fast(text, true)
        } else {
            self.tokenizer.encode_fast(format!("{prompt}{text}"), true)
        };
        let prompted = prompted.map_err(|error| wrong(&error))?;
        let pooled = self.pooled(prompted.get_ids()).map_err(|error| wrong(&error))?;
        Ok(Vector::new(&pooled))
    }

    fn pooled(&self, tokens: &[u32]) -> candle_core::Result<Vec<f32>> {
        let tokens = Tensor::new(tokens, &Device::Cpu)?.unsqueeze(0)?;
        // A single text has no padding: every token counts, and all tokens are in the first segment.
        let told = self.model.forward(&tokens, &tokens.zeros_like()?, None)?.squeeze(0)?;
        match self.pooling {
            Pooling::Mean => told.mean(0)?,
            Pooling::First => told.get(0)?,
        }
        .to_vec1()
    }
}

impl Embedder for Transformer {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn waits(&self) -> bool {
        true
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vector>, EmbedError> {
        self.embed(&self.prompts.query, text)
    }

    fn embed_documents(&self, documents: &[DocumentText]) -> Result<Vec<Option<Vector>>, EmbedError> {
        let embed = |document: &DocumentText| self.embed(&self.prompts.document, &document.joined());
        documents.iter().map(embed).collect()
    }
}
