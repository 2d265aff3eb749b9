//! Tools `search` and `fetch`, other forms of search_products and get_product, which some hosts require of a connector
//! with exactly these arguments and results (OpenAI, "Building MCP servers", tools of deep research).

use api::{OperationAnswer, Problem, Rule, Violation};
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Connector {
    Search,
    Fetch,
}

impl Connector {
    pub(super) const ALL: [Self; 2] = [Self::Search, Self::Fetch];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Fetch => "fetch",
        }
    }

    pub(super) const fn operation(self) -> &'static str {
        match self {
            Self::Search => "search_products",
            Self::Fetch => "get_product",
        }
    }

    /// Returns the tool's argument, and the operation's name for it.
    const fn argument(self) -> [&'static str; 2] {
        match self {
            Self::Search => ["query", "q"],
            Self::Fetch => ["id", "ident"],
        }
    }

    /// Returns the tool's entry in the list of tools.
    pub(super) fn listed(self) -> Value {
        let text = || json!({ "type": "string" });
        let (title, description, output) = match self {
            Self::Search => (
                "Search",
                "Searches products and returns the id, title and URL of each. search_products also has prices and \
                 filters.",
                json!({ "results": { "type": "array", "items": { "type": "object",
                    "properties": { "id": text(), "title": text(), "url": text() }, "required": ["id", "title", "url"] } } }),
            ),
            Self::Fetch => (
                "Fetch",
                "Returns the text of one product by its id. get_product has its variants, get_price its current price.",
                json!({ "id": text(), "title": text(), "text": text(), "url": text(), "metadata": { "type": "object" } }),
            ),
        };
        let [argument, _] = self.argument();
        let required: Vec<_> = output.as_object().into_iter().flat_map(Map::keys).collect();
        json!({
            "name": self.name(),
            "title": title,
            "description": description,
            "inputSchema": { "type": "object", "properties": { argument: text() }, "required": [argument], "additionalProperties": false },
            "outputSchema": { "type": "object", "required": required, "properties": output },
            "annotations": { "title": title, "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
        })
    }

    /// Converts the tool's arguments to those of the operation.
    ///
    /// # Errors
    /// Returns a 422 problem with the arguments that are missing, unknown or no text.
    pub(super) fn arguments(self, mut given: Map<String, Value>) -> Result<Map<String, Value>, Problem> {
        let [argument, operations] = self.argument();
        let (rule, input) = match given.remove(argument) {
            Some(Value::String(text)) => {
                let mut arguments = given;
                arguments.insert(operations.to_owned(), text.into());
                if self == Self::Fetch {
                    arguments.insert("include".to_owned(), "attributes".into());
                }
                return Ok(arguments);
            }
            Some(Value::Null) | None => (Rule::Missing, None),
            Some(other) => (Rule::StringType, Some(other)),
        };
        Err(Problem::invalid(vec![Violation::new(
            vec!["query".into(), argument.into()],
            &rule,
            input,
        )]))
    }

    /// Converts the operation's response to the form that hosts expect. A product's URL is that of its page at
    /// `public_url`.
    pub(super) fn answer(self, mut answer: OperationAnswer, public_url: &str) -> OperationAnswer {
        let Ok(document) = serde_json::from_slice::<Value>(&answer.body) else {
            return answer;
        };
        let address = |product: &Value| format!("{public_url}/products/{}", product["id"].as_str().unwrap_or_default());
        let data = &document["data"];
        let made = match self {
            _ if !answer.is_success() => self.refused(document),
            Self::Search => {
                let cards = data.as_array().map_or(&[][..], Vec::as_slice).iter();
                let results =
                    cards.map(|card| json!({ "id": card["id"], "title": card["title"], "url": address(card) }));
                json!({ "results": results.collect::<Vec<_>>() })
            }
            Self::Fetch => {
                let metadata = [
                    "brand",
                    "price_min_minor",
                    "price_max_minor",
                    "currency",
                    "in_stock",
                    "variants_complete",
                ];
                let metadata: Map<_, _> = metadata
                    .map(|name| (name.to_owned(), data[name].clone()))
                    .into_iter()
                    .collect();
                let text = data["attributes"]["description"].as_str().unwrap_or_default();
                json!({ "id": data["id"], "title": data["title"], "text": text, "url": address(data), "metadata": metadata })
            }
        };
        answer.body = made.to_string().into();
        answer
    }

    /// Replaces the argument's name in a problem by the tool's name for it.
    fn refused(self, mut problem: Value) -> Value {
        let [argument, operations] = self.argument();
        for fault in problem["detail"].as_array_mut().into_iter().flatten() {
            let places = fault["loc"].as_array_mut().into_iter().flatten();
            places
                .filter(|place| **place == operations)
                .for_each(|place| *place = argument.into());
        }
        problem
    }
}
