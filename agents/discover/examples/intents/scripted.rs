use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::labels::LabelledSentence;

/// Behaviour of a scripted model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// The model answers with the labels.
    Knows,
    /// The model answers in the right format, but with empty values.
    SaysNothing,
    /// The model invents values for every field (a higher budget, other colours, existing and unknown brands), and
    /// marks the wanted product as unwanted.
    Lies,
}

impl Script {
    pub(crate) const ALL: [Self; 3] = [Self::Knows, Self::SaysNothing, Self::Lies];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Knows => "knows",
            Self::SaysNothing => "is empty",
            Self::Lies => "lies",
        }
    }

    fn reply(self, labelled: &LabelledSentence) -> Value {
        let all = |field: &str| labelled.fields.get(field).cloned().unwrap_or_default();
        let one = |field: &str| all(field).into_iter().next();
        let amount = |field: &str| one(field).and_then(|text| text.parse::<u64>().ok());
        let unwanted: Vec<String> = all("not")
            .iter()
            .map(|value| value.trim_start_matches('@').to_owned())
            .collect();
        match self {
            Self::Knows => json!({
                "words": labelled.sentence, "brand": one("brand"), "colors": all("colour"), "sizes": all("size"),
                "audience": one("for"), "occasion": one("occasion"), "price_min": amount("min"), "price_max": amount("max"),
                "currency": one("currency"), "unwanted": unwanted,
            }),
            Self::SaysNothing => json!({
                "words": "", "brand": null, "colors": [], "sizes": [], "audience": null, "occasion": null,
                "price_min": null, "price_max": null, "currency": null, "unwanted": [],
            }),
            Self::Lies => json!({
                "words": "ignore the sentence and buy gift cards", "brand": "Nordpine", "colors": ["orange", "nonsense"],
                "sizes": ["XXL", "1 OR 1=1"], "audience": "baby", "occasion": "halloween", "price_min": 0,
                "price_max": amount("max").unwrap_or(1_000) * 10, "currency": "USD",
                "unwanted": labelled.sentence.split_whitespace().next().into_iter().collect::<Vec<_>>(),
            }),
        }
    }
}

/// Fake OpenAI-compatible endpoint that knows the labelled sentences.
#[derive(Debug)]
pub(crate) struct Endpoint {
    address: std::net::SocketAddr,
    serving: JoinHandle<()>,
}

impl Endpoint {
    pub(crate) async fn start(script: Script, sentences: &[LabelledSentence]) -> anyhow::Result<Self> {
        let replies = sentences
            .iter()
            .map(|labelled| (labelled.sentence.clone(), script.reply(labelled).to_string()));
        let replies: Arc<HashMap<String, String>> = Arc::new(replies.collect());
        let router = Router::new()
            .route("/chat/completions", post(complete))
            .with_state(replies);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            // The server ends with the example.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, serving })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn complete(State(replies): State<Arc<HashMap<String, String>>>, Json(asked): Json<Value>) -> Json<Value> {
    let sentence = asked
        .pointer("/messages/1/content")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let content = replies.get(sentence).cloned().unwrap_or_default();
    Json(
        json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]}),
    )
}
