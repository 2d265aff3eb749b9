use api::{Asker, IgnoredParameter, OperationCall, Problem, Rule, Violation};
use data_model::ErrorCode;
use serde_json::{Map, Value, json};

use super::connector::Connector;
use super::operation::Operation;
use super::spec::{CART, READ, Spec, WATCH};
use super::{app, arguments, schema, view};

/// Tools of a server in a fixed order.
#[derive(Debug)]
pub(crate) struct Book {
    tools: Vec<Tool>,
    /// JSON array of tools for `tools/list`.
    listed: String,
}

#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(super) connector: Option<Connector>,
    operations: Vec<Operation>,
    /// Schema of the answers.
    output: Value,
}

/// Error: a tool calls an operation that the OpenAPI description does not contain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tool {tool} calls {operation}, which the API description does not contain")]
pub struct BookError {
    tool: &'static str,
    operation: &'static str,
}

impl Book {
    /// Creates the tools for the operations of `document`. The watch tool is included if `document` has watches, and
    /// the cart tools if `with_carts` is set.
    pub(crate) fn of(document: &Value, with_carts: bool) -> Result<Self, BookError> {
        let carts = if with_carts { &CART[..] } else { &[] };
        let (mut tools, mut listed) = (Vec::new(), Vec::new());
        let is_described = |id: &&str| Operation::find(document, id).is_some();
        let watch = WATCH.iter().filter(|spec| spec.operations.iter().all(is_described));
        for spec in READ.iter().chain(watch).chain(carts) {
            let operations = spec.operations.iter().map(|id| found(document, spec.name, id));
            let operations = operations.collect::<Result<Vec<_>, _>>()?;
            let output = operations.first().map(|first| schema::output(document, first));
            let output = output.unwrap_or_default();
            listed.push(told(spec, document, &operations, &output));
            tools.push(Tool {
                name: spec.name,
                connector: None,
                operations,
                output,
            });
        }
        for connector in Connector::ALL {
            listed.push(connector.listed());
            tools.push(Tool {
                name: connector.name(),
                connector: Some(connector),
                operations: vec![found(document, connector.name(), connector.operation())?],
                output: Value::Null,
            });
        }
        Ok(Self {
            tools,
            listed: Value::Array(listed).to_string(),
        })
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().map(|tool| tool.name)
    }

    pub(crate) fn listed(&self) -> &str {
        &self.listed
    }
}

fn found(document: &Value, tool: &'static str, operation: &'static str) -> Result<Operation, BookError> {
    Operation::find(document, operation).ok_or(BookError { tool, operation })
}

/// Returns the tool's entry in the list of tools.
fn told(spec: &Spec, document: &Value, operations: &[Operation], output: &Value) -> Value {
    let [read_only, destructive, idempotent, open_world] = spec.hints.flags();
    let mut input = schema::input(document, operations);
    for (name, parameter) in view::parameters() {
        input["properties"][name] = parameter;
    }
    let mut tool = json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "inputSchema": input,
        "outputSchema": output,
        "annotations": {
            "title": spec.title,
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": open_world,
        },
    });
    if let Some(meta) = app::of_tool(spec.name) {
        tool["_meta"] = meta;
    }
    tool
}

impl Tool {
    /// Builds the operation call for `arguments`.
    ///
    /// # Errors
    /// Returns a 422 problem with errors that the operation itself would not detect.
    pub(crate) fn call(&self, arguments: Map<String, Value>, asker: Asker) -> Result<OperationCall, Problem> {
        self.refuse_unknown(&arguments)?;
        let operation = self.operation(&arguments)?;
        arguments::call(operation, arguments, asker)
    }

    /// Rejects selected fields that no entry of the tool's answers has. The entries would be empty.
    pub(super) fn refuse_unknown_fields(&self, fields: &[String]) -> Result<(), Problem> {
        let unknown = fields.iter().filter(|field| !schema::has_field(&self.output, field));
        let rule = Rule::Value("no entry of this tool's answers has this field");
        let refused = unknown.map(|field| {
            let loc = vec!["query".into(), "fields".into()];
            Violation::new(loc, &rule, Some(field.as_str().into()))
        });
        let refused: Vec<Violation> = refused.collect();
        if refused.is_empty() {
            Ok(())
        } else {
            Err(Problem::invalid(refused))
        }
    }

    /// Rejects arguments that none of the tool's operations has. A misspelt argument would change the result unnoticed.
    fn refuse_unknown(&self, arguments: &Map<String, Value>) -> Result<(), Problem> {
        let parameters = || self.operations.iter().flat_map(|operation| &operation.parameters);
        let mut known: Vec<&str> = parameters().map(|parameter| parameter.name.as_str()).collect();
        if self.operations.iter().any(|operation| operation.idempotent_by_key) {
            known.push("idempotency_key");
        }
        let has_body = self.operations.iter().any(|operation| operation.has_body);
        let part = if has_body { "body" } else { "query" };
        let given = arguments.iter().filter(|(_, value)| !value.is_null());
        let unknown = IgnoredParameter::of(given.map(|(name, _)| name.as_str()), &known);
        if unknown.is_empty() {
            return Ok(());
        }
        let refused = unknown.into_iter().map(|one| {
            let loc = vec![part.into(), one.name.into()];
            Violation::new(loc, &Rule::ExtraForbidden(one.meant), None)
        });
        Err(Problem::invalid(refused.collect()))
    }

    /// Returns the operation for these arguments. A cart change with a line sets the line, or removes it if the
    /// quantity is zero.
    fn operation(&self, arguments: &Map<String, Value>) -> Result<&Operation, Problem> {
        let named = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
        let operation = if self.name == "update_cart" {
            if named("items") && (named("line_id") || named("qty")) {
                let rule = Rule::Value("send either items, or line_id and qty, not both");
                let loc = vec!["body".into(), "items".into()];
                return Err(Problem::invalid(vec![Violation::new(loc, &rule, None)]));
            }
            let none_wanted = arguments.get("qty").and_then(Value::as_f64) == Some(0.0);
            let wanted = match (named("line_id") || named("qty"), none_wanted) {
                (false, _) => "add_cart_lines",
                (true, false) => "update_cart_line",
                (true, true) => "remove_cart_line",
            };
            self.operations.iter().find(|operation| operation.id == wanted)
        } else {
            self.operations.first()
        };
        operation.ok_or_else(|| Problem::new(ErrorCode::Internal))
    }
}
