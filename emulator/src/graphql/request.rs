//! Checks of a request before execution: body, document, variables.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use apollo_compiler::executable::{Operation, Value as Literal};
use apollo_compiler::request::coerce_variable_values;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::errors;
use super::refusal;
use crate::ask::Ask;
use crate::reply::Reply;
use crate::shop::lock;

const INPUT_MAX: usize = 250;

/// Number of valid documents in the cache, which saves validation for repeated queries.
const DOCUMENTS_MAX: usize = 64;

#[derive(Deserialize)]
struct PostBody {
    query: String,
    #[serde(default)]
    variables: Option<JsonMap>,
    #[serde(default, rename = "operationName")]
    operation_name: Option<String>,
}

#[derive(Debug)]
pub(super) struct Request {
    pub(super) document: Arc<Valid<ExecutableDocument>>,
    pub(super) variables: Valid<JsonMap>,
    operation_name: Option<String>,
}

/// Reasons why a request is not executed.
#[derive(Debug)]
pub(super) enum RequestRefusal {
    /// The body is no GraphQL request. The response is 400.
    Malformed(String),
    /// The request has errors, for which the platform returns status 200.
    Errors(Vec<Value>),
}

impl RequestRefusal {
    pub(super) fn into_reply(self) -> Reply {
        match self {
            Self::Malformed(why) => refusal::malformed(&why),
            Self::Errors(listed) => refusal::errors(listed),
        }
    }
}

impl Request {
    pub(super) fn read(schema: &Valid<Schema>, ask: &Ask) -> Result<Self, RequestRefusal> {
        if !ask.is_json() {
            return Err(RequestRefusal::Malformed(
                "the body must be of type application/json".to_owned(),
            ));
        }
        let posted: PostBody = serde_json::from_slice(&ask.body)
            .map_err(|error| RequestRefusal::Malformed(format!("the body is no query: {error}")))?;
        let document = parsed(schema, posted.query)?;
        let operation = document
            .operations
            .get(posted.operation_name.as_deref())
            .map_err(|error| RequestRefusal::Errors(vec![errors::of_request(&error, &document)]))?;
        let variables = coerce_variable_values(schema, operation, &posted.variables.unwrap_or_default())
            .map_err(|error| RequestRefusal::Errors(vec![errors::of_variable(&error, &document)]))?;
        Ok(Self {
            document,
            variables,
            operation_name: posted.operation_name,
        })
    }

    pub(super) fn operation(&self) -> Option<&Operation> {
        let found = self.document.operations.get(self.operation_name.as_deref()).ok()?;
        Some(found)
    }

    /// Returns the error for the first argument whose list exceeds the platform's limit.
    pub(super) fn oversized(&self, operation: &Operation) -> Option<Value> {
        operation.all_fields(&self.document).find_map(|field| {
            let mut arguments = field.arguments.iter();
            arguments.find_map(|argument| {
                let length = match argument.value.as_ref() {
                    Literal::List(items) => items.len(),
                    Literal::Variable(name) => match self.variables.get(name.as_str()) {
                        Some(JsonValue::Array(items)) => items.len(),
                        _ => 0,
                    },
                    _ => 0,
                };
                (length > INPUT_MAX).then(|| {
                    json!({
                        "message": format!(
                            "The input array size of {length} is greater than the maximum allowed of {INPUT_MAX}."
                        ),
                        "locations": errors::locations(field.name.location(), &self.document),
                        "path": [field.response_key().as_str(), argument.name.as_str()],
                        "extensions": { "code": "MAX_INPUT_SIZE_EXCEEDED" },
                    })
                })
            })
        })
    }
}

/// Parses and validates a document, unless the cache has it.
fn parsed(schema: &Valid<Schema>, query: String) -> Result<Arc<Valid<ExecutableDocument>>, RequestRefusal> {
    type Documents = HashMap<String, Arc<Valid<ExecutableDocument>>>;
    static DOCUMENTS: LazyLock<Mutex<Documents>> = LazyLock::new(Mutex::default);
    if let Some(known) = lock(&DOCUMENTS).get(&query) {
        return Ok(Arc::clone(known));
    }
    let document = ExecutableDocument::parse_and_validate(schema, query.as_str(), "query.graphql")
        .map_err(|invalid| RequestRefusal::Errors(errors::of_document(&invalid.errors)))?;
    let document = Arc::new(document);
    let mut documents = lock(&DOCUMENTS);
    if documents.len() >= DOCUMENTS_MAX {
        documents.clear();
    }
    documents.insert(query, Arc::clone(&document));
    Ok(document)
}
