//! Protocol over MCP: the same operations as tools, with the arguments that the protocol defines.

use agents_mcp::{ToolError, ToolOutcome, Toolset};
use api::{Asker, OperationAnswer, Problem};
use async_trait::async_trait;
use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::answer::RequestOutcome;
use crate::carts::Answer;
use crate::failure::{Failure, Fault, RequestBody};
use crate::operations::{CartAction, Look};
use crate::read::{Agent, object};
use crate::{Ucp, Version};

const INSTRUCTIONS: &str = "A market of many brands' stores, in the terms of the Universal Commerce Protocol. Each \
    variant names its seller. A cart belongs to one seller. Every checkout ends with a person: give `continue_url` to \
    the person, who pays at the seller's own checkout. A checkout is `incomplete` if the seller no longer has any of \
    its lines. Amounts are whole minor units.";

/// JSON-RPC error codes that the protocol defines.
const NEGOTIATION: i64 = -32_001;
const REFUSED: i64 = -32_000;
const INVALID_PARAMS: i64 = -32_602;
const INTERNAL: i64 = -32_603;

/// Effect of a tool, which determines its arguments.
#[derive(Debug, Clone, Copy)]
enum ToolAction {
    Look(Look),
    Make,
    Read,
    Replace,
    Complete,
    Cancel,
}

#[derive(Debug, Clone, Copy)]
struct Tool {
    name: &'static str,
    /// Name of the argument that contains the request body.
    body: &'static str,
    does: ToolAction,
    description: &'static str,
}

const fn tool(name: &'static str, body: &'static str, does: ToolAction, description: &'static str) -> Tool {
    Tool {
        name,
        body,
        does,
        description,
    }
}

const CATALOGUE: [Tool; 3] = [
    tool(
        "search_catalog",
        "catalog",
        ToolAction::Look(Look::Search),
        "Searches products by text, by categories and price, or by both.",
    ),
    tool(
        "lookup_catalog",
        "catalog",
        ToolAction::Look(Look::Lookup),
        "Looks up products by the ids of products or variants.",
    ),
    tool(
        "get_product",
        "catalog",
        ToolAction::Look(Look::Product),
        "Returns one product with its options and the variants that match the selected options.",
    ),
];

const CARTS: [Tool; 9] = [
    tool(
        "create_cart",
        "cart",
        ToolAction::Make,
        "Creates a cart of one seller. Items of several sellers need one cart for each seller. Needs a key.",
    ),
    tool(
        "get_cart",
        "cart",
        ToolAction::Read,
        "Returns a cart as its store has it now. Needs a key.",
    ),
    tool(
        "update_cart",
        "cart",
        ToolAction::Replace,
        "Replaces the lines of a cart with those of `cart`: lines that `cart` does not contain are removed. Needs a \
         key.",
    ),
    tool(
        "cancel_cart",
        "cart",
        ToolAction::Cancel,
        "Ends a cart and returns its last state. Needs a key.",
    ),
    tool(
        "create_checkout",
        "checkout",
        ToolAction::Make,
        "Creates a checkout at the seller for a cart: a person opens `continue_url` and pays there. `cart_id` names \
         the cart. Without `cart_id`, a cart is created from `line_items`. Needs a key.",
    ),
    tool(
        "get_checkout",
        "checkout",
        ToolAction::Read,
        "Returns a checkout as its store has it now. Needs a key.",
    ),
    tool(
        "update_checkout",
        "checkout",
        ToolAction::Replace,
        "Replaces the lines of a checkout with those of `checkout`: lines that `checkout` does not contain are \
         removed. Needs a key.",
    ),
    tool(
        "complete_checkout",
        "checkout",
        ToolAction::Complete,
        "Cannot pay. Returns the URL again where a person continues. Needs a key.",
    ),
    tool(
        "cancel_checkout",
        "checkout",
        ToolAction::Cancel,
        "Ends a checkout and its cart, and returns their last state. Needs a key.",
    ),
];

/// Operations of the protocol as tools, in one version.
#[derive(Debug)]
pub(crate) struct UcpTools {
    ucp: Ucp,
    version: Version,
    tools: Vec<Tool>,
    names: Vec<&'static str>,
    listed: String,
}

impl UcpTools {
    pub(crate) fn new(ucp: Ucp, version: Version) -> Self {
        let carts = if ucp.0.config.has_carts { &CARTS[..] } else { &[] };
        let tools: Vec<Tool> = CATALOGUE.iter().chain(carts).copied().collect();
        Self {
            names: tools.iter().map(|tool| tool.name).collect(),
            listed: Value::Array(tools.iter().map(Tool::told).collect()).to_string(),
            tools,
            ucp,
            version,
        }
    }

    async fn ended(&self, tool: Tool, arguments: Map<String, Value>, asker: Asker) -> RequestOutcome {
        let mut arguments = arguments;
        let agent = Agent::of_meta(arguments.get("meta"), asker);
        let id = match arguments.remove("id") {
            Some(Value::String(id)) => id,
            _ if tool.does.names_one() => {
                return RequestOutcome::Fault(Fault::invalid("id must name the object of the call."));
            }
            _ => String::new(),
        };
        let absent = match tool.does {
            ToolAction::Complete => json!({}),
            _ => Value::Null,
        };
        let sent = arguments.remove(tool.body).unwrap_or(absent);
        // Some clients send an object as a JSON text.
        let read = sent.as_str().and_then(|text| serde_json::from_str(text).ok());
        let sent: RequestBody = object(read.unwrap_or(sent), tool.body);
        let answer = match (tool.body, tool.does) {
            ("checkout", ToolAction::Cancel) => Answer::Canceled,
            ("checkout", _) => Answer::NOW,
            (_, ToolAction::Cancel) => Answer::EndedCart,
            _ => Answer::Cart,
        };
        let asked = match tool.does {
            ToolAction::Look(look) => return self.ucp.look(agent, self.version, look, sent).await,
            ToolAction::Make => CartAction::Make(sent),
            ToolAction::Read => CartAction::Read(&id),
            ToolAction::Replace => CartAction::Replace(&id, sent),
            ToolAction::Complete => CartAction::Complete(&id, sent),
            ToolAction::Cancel => CartAction::Cancel(&id),
        };
        self.ucp.carry_out(agent, self.version, asked, answer).await
    }
}

impl ToolAction {
    /// True if the argument `id` names a cart or a checkout.
    const fn names_one(self) -> bool {
        matches!(self, Self::Read | Self::Replace | Self::Complete | Self::Cancel)
    }
}

impl Tool {
    /// Returns the title of the tool for people, such as `Create cart`.
    fn title(&self) -> String {
        let words = self.name.replace('_', " ");
        let (first, rest) = words.split_at(1);
        first.to_uppercase() + rest
    }

    fn told(&self) -> Value {
        let text = || json!({ "type": "string" });
        let agent = json!({ "type": "object", "properties": { "profile": text(), "version": text() }, "required": ["profile"] });
        let meta = json!({
            "type": "object",
            "description": "The calling agent, and the idempotency key of the call.",
            "properties": { "ucp-agent": agent, "idempotency-key": text() },
        });
        let mut properties = json!({ "meta": meta });
        let mut required = Vec::new();
        let (reads, ends) = match self.does {
            ToolAction::Look(_) | ToolAction::Read => (true, false),
            ToolAction::Make | ToolAction::Complete => (false, false),
            ToolAction::Replace | ToolAction::Cancel => (false, true),
        };
        if self.does.names_one() {
            properties["id"] = json!({ "type": "string", "description": "The id of the cart or checkout." });
            required.push("id");
        }
        if matches!(self.does, ToolAction::Look(_) | ToolAction::Make | ToolAction::Replace) {
            properties[self.body] = self.body_schema();
            required.push(self.body);
        } else if matches!(self.does, ToolAction::Complete) {
            // Hosts reject objects without named properties. Payment data is not read.
            let instrument = json!({ "type": "object", "properties": { "id": text() } });
            let instruments = json!({ "type": "array", "items": instrument });
            let payment = json!({ "type": "object", "properties": { "instruments": instruments } });
            properties[self.body] = json!({ "type": "object", "properties": { "payment": payment } });
        }
        json!({
            "name": self.name,
            "title": self.title(),
            "description": self.description,
            "inputSchema": { "type": "object", "properties": properties, "required": required },
            "annotations": {
                "readOnlyHint": reads,
                "destructiveHint": ends,
                "idempotentHint": reads || ends,
                "openWorldHint": !matches!(self.does, ToolAction::Look(_)),
            },
        })
    }

    /// Returns the schema of the fields that are read. Other fields of the protocol's schema are ignored.
    fn body_schema(&self) -> Value {
        let text = || json!({ "type": "string" });
        let texts = || json!({ "type": "array", "items": { "type": "string" } });
        let minor = || json!({ "type": "integer", "minimum": 0 });
        let filters = json!({ "type": "object", "properties": {
            "categories": texts(),
            "price": { "type": "object", "properties": { "min": minor(), "max": minor() } },
        } });
        let context = json!({ "type": "object", "properties": { "currency": text() } });
        let (properties, required) = match self.does {
            ToolAction::Look(Look::Search) => {
                let limit = json!({ "type": "integer", "minimum": 1 });
                let pagination = json!({ "type": "object", "properties": { "cursor": text(), "limit": limit } });
                let whole =
                    json!({ "query": text(), "filters": filters, "context": context, "pagination": pagination });
                (whole, vec![])
            }
            ToolAction::Look(Look::Lookup) => (
                json!({ "ids": { "type": "array", "items": text(), "minItems": 1, "maxItems": 50 }, "filters": filters }),
                vec!["ids"],
            ),
            ToolAction::Look(Look::Product) => {
                let option = json!({ "type": "object", "properties": { "name": text(), "label": text() }, "required": ["name", "label"] });
                let selected = json!({ "type": "array", "items": option });
                let whole = json!({ "id": text(), "selected": selected, "preferences": texts(), "filters": filters });
                (whole, vec!["id"])
            }
            _ => {
                let item = json!({ "type": "object", "properties": { "id": text() }, "required": ["id"] });
                let quantity = json!({ "type": "integer", "minimum": 1 });
                let line = json!({
                    "type": "object",
                    "properties": { "item": item, "quantity": quantity, "price_minor": minor(), "quote": text() },
                    "required": ["item", "quantity"],
                });
                let buyer = json!({ "type": "object", "properties": { "email": text() } });
                let lines = json!({ "type": "array", "items": line });
                let discounts = json!({ "type": "object", "properties": { "codes": texts() } });
                let mut whole = json!({ "line_items": lines, "buyer": buyer, "discounts": discounts });
                if self.body == "checkout" {
                    whole["cart_id"] = text();
                }
                (whole, vec!["line_items"])
            }
        };
        json!({ "type": "object", "properties": properties, "required": required })
    }
}

#[async_trait]
impl Toolset for UcpTools {
    fn list(&self) -> &str {
        &self.listed
    }

    fn names(&self) -> &[&'static str] {
        &self.names
    }

    fn instructions(&self) -> &str {
        INSTRUCTIONS
    }

    fn untrusted(&self) -> &'static [&'static str] {
        &["/structuredContent", "/content/0"]
    }

    async fn call(&self, name: &'static str, arguments: Map<String, Value>, asker: Asker) -> ToolOutcome {
        let tool = self.tools.iter().find(|tool| tool.name == name).copied();
        outcome(match tool {
            Some(tool) => self.ended(tool, arguments, asker).await,
            None => RequestOutcome::Fault(Fault::internal()),
        })
    }

    fn refused(&self, problem: Problem, asker: &Asker) -> ToolOutcome {
        let failure = Failure::of(&OperationAnswer::problem(problem, asker));
        outcome(match failure {
            Failure::Transport(fault) => RequestOutcome::Fault(fault),
            Failure::Outcome(_) => RequestOutcome::Fault(Fault::internal()),
        })
    }
}

/// Converts an outcome to a tool result. Outcomes of the protocol become results, even negative ones. Faults become
/// JSON-RPC errors.
fn outcome(ended: RequestOutcome) -> ToolOutcome {
    let fault = match ended {
        RequestOutcome::Answer(status, body) => {
            return ToolOutcome::Answer(OperationAnswer {
                status,
                body,
                retry_after: None,
            });
        }
        RequestOutcome::Fault(fault) => fault,
    };
    let code = match (fault.status, fault.code.as_str()) {
        (_, "invalid_profile_url" | "version_unsupported") => NEGOTIATION,
        (StatusCode::BAD_REQUEST, _) => INVALID_PARAMS,
        (StatusCode::INTERNAL_SERVER_ERROR, _) => INTERNAL,
        _ => REFUSED,
    };
    let mut data = json!({ "code": fault.code, "content": fault.content });
    if let Some(wait) = fault.retry_after {
        data["retry_after"] = wait.as_secs().max(1).into();
    }
    ToolOutcome::Error(ToolError {
        status: fault.status.as_u16(),
        code,
        message: fault.content,
        data,
    })
}
