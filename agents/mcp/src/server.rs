use std::sync::Arc;
use std::time::Duration;

use api::{Asker, CallOperation, Guard, OpenRouter, OperationAnswer, Problem};
use data_model::ErrorCode;
use futures::stream::{StreamExt, iter};
use http::HeaderValue;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use utoipa::openapi::OpenApi;

use crate::config::McpConfig;
use crate::doorman::Doorman;
use crate::protocol::batch::{self, Body};
use crate::protocol::fault::Fault;
use crate::protocol::gate::{self, Head};
use crate::protocol::message::{Message, Outcome, Request, response};
use crate::protocol::method::{self, Asked};
use crate::protocol::version::Era;
use crate::routes;
use crate::told::{List, Told};
use crate::tools::{Book, BookError, tool_result};

/// The path of the endpoint; what is charged beyond the first request of a POST is counted under it too.
pub(crate) const PATH: &str = "/v1/mcp";

/// Requests of one batch that are worked on at the same time: those of many callers come before one caller's many.
const BATCH_CONCURRENCY: usize = 4;

/// What an endpoint is made of.
#[derive(Debug)]
pub struct McpParts {
    /// Carries tools' operations out.
    pub operations: Arc<dyn CallOperation>,
    /// Charges what a batch holds beyond its first request.
    pub guard: Arc<Guard>,
    /// The interface description of all operations, as JSON.
    pub document: Value,
    /// What is offered.
    pub config: McpConfig,
    /// The address under which clients reach the server.
    pub public_url: String,
    /// Origins whose pages may ask, besides the server's own.
    pub origins: Vec<HeaderValue>,
    /// Whether the server listens on this machine alone.
    pub is_local: bool,
    /// The program's version.
    pub version: &'static str,
    /// Is cancelled when the server stops: open streams end then.
    pub stop: CancellationToken,
}

/// The endpoint; cheap to clone.
#[derive(Debug, Clone)]
pub struct Mcp(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    operations: Arc<dyn CallOperation>,
    guard: Arc<Guard>,
    book: Book,
    told: Told,
    pub(crate) config: McpConfig,
    pub(crate) doorman: Doorman,
    pub(crate) manifest: Value,
    pub(crate) streams: Arc<Semaphore>,
    pub(crate) stop: CancellationToken,
}

/// How a POST is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nothing was asked.
    Taken,
    /// One message, with the status of HTTP.
    One(u16, String),
    /// The answers of a batch, in its order.
    Many(Vec<String>),
}

/// In which request a message came.
#[derive(Debug, Clone, Copy)]
struct Within<'a> {
    head: &'a Head<'a>,
    asker: &'a Asker,
    deadline: Instant,
}

impl Mcp {
    /// Makes the tools of the interface description.
    ///
    /// # Errors
    /// When an operation that a tool calls is not described.
    pub fn new(parts: McpParts) -> Result<Self, BookError> {
        let book = Book::of(&parts.document, parts.config.cart_tools)?;
        let told = Told::new(&book, parts.version);
        describe_metrics();
        Ok(Self(Arc::new(Inner {
            doorman: Doorman::new(&parts.public_url, &parts.origins, parts.is_local),
            manifest: routes::manifest(&parts.public_url, parts.version),
            streams: Arc::new(Semaphore::new(parts.config.streams_max)),
            operations: parts.operations,
            guard: parts.guard,
            book,
            told,
            config: parts.config,
            stop: parts.stop,
        })))
    }

    /// The endpoint's routes, described.
    #[must_use]
    pub fn open_router(&self) -> OpenRouter {
        routes::open(self)
    }

    /// The endpoint's part of the interface description.
    #[must_use]
    pub fn openapi() -> OpenApi {
        routes::document()
    }

    /// Answers the body of a POST.
    pub(crate) async fn reply(&self, head: &Head<'_>, asker: &Asker, body: &[u8]) -> Reply {
        let deadline = Instant::now() + Duration::from_millis(self.0.config.timeout_ms);
        let within = Within { head, asker, deadline };
        match batch::read(body, self.0.config.batch_items_max) {
            Body::Refused(fault) => refused(None, fault),
            Body::One(message) => self.one(message, within).await,
            Body::Batch(_) if head.is_modern() => refused(
                None,
                Fault::invalid_request("This protocol version has no batches: send one message."),
            ),
            Body::Batch(messages) => match head.check_version() {
                Ok(()) => self.many(messages, within).await,
                Err(fault) => refused(None, fault),
            },
        }
    }

    async fn one(&self, message: Message, within: Within<'_>) -> Reply {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                let outcome = self.outcome(request, within).await;
                let status = match &outcome {
                    Outcome::Result(_) => 200,
                    Outcome::Fault(fault) => fault.status,
                };
                Reply::One(status, response(Some(&id), &outcome))
            }
            Message::Notification { .. } | Message::Response => match within.head.check_version() {
                Ok(()) => Reply::Taken,
                Err(fault) => refused(None, fault),
            },
            Message::Invalid { id, why } => {
                Reply::One(400, response(id.as_ref(), &Outcome::Fault(Fault::invalid_request(why))))
            }
        }
    }

    /// Answers the requests of a batch. The way in has counted the first of them; the others are charged here, in order.
    async fn many(&self, messages: Vec<Message>, within: Within<'_>) -> Reply {
        let mut charged = Vec::with_capacity(messages.len());
        let mut requests = 0;
        for message in messages {
            let mut refusal = None;
            if !matches!(message, Message::Notification { .. } | Message::Response) {
                requests += 1;
                if requests > 1 {
                    refusal = self.0.guard.charge(&within.asker.caller, PATH).await.err();
                }
            }
            charged.push((message, refusal));
        }
        let answers = iter(charged).map(|(message, refusal)| self.item(message, refusal, within));
        let answers: Vec<_> = answers.buffered(BATCH_CONCURRENCY).collect().await;
        let answers: Vec<_> = answers.into_iter().flatten().collect();
        if answers.is_empty() {
            Reply::Taken
        } else {
            Reply::Many(answers)
        }
    }

    async fn item(&self, message: Message, refusal: Option<Problem>, within: Within<'_>) -> Option<String> {
        let (id, outcome) = match (message, refusal) {
            (Message::Notification { .. } | Message::Response, _) => return None,
            (Message::Invalid { id, why }, _) => (id, Outcome::Fault(Fault::invalid_request(why))),
            (Message::Request(request), Some(problem)) => {
                let answer = OperationAnswer::problem(problem, within.asker);
                (Some(request.id.clone()), self.too_much(&request, &answer))
            }
            (Message::Request(request), None) => {
                let id = request.id.clone();
                (Some(id), Box::pin(self.outcome(request, within)).await)
            }
        };
        Some(response(id.as_ref(), &outcome))
    }

    /// What a request beyond the caller's limit is answered with: a tool's caller is told as of any other trouble.
    fn too_much(&self, request: &Request, answer: &OperationAnswer) -> Outcome {
        if request.method == "tools/call"
            && let Some(result) = tool_result(answer, Era::Legacy, "")
        {
            return Outcome::Result(result);
        }
        Outcome::Fault(Fault::too_much(
            serde_json::from_slice(&answer.body).unwrap_or_default(),
        ))
    }

    async fn outcome(&self, request: Request, within: Within<'_>) -> Outcome {
        let asked =
            gate::era(&request, within.head).and_then(|era| method::asked(request, era).map(|asked| (era, asked)));
        let (era, asked) = match asked {
            Ok(asked) => asked,
            Err(fault) => {
                metrics::counter!("mcp_requests_total", "method" => "refused").increment(1);
                return Outcome::Fault(fault);
            }
        };
        metrics::counter!("mcp_requests_total", "method" => asked.label()).increment(1);
        let told = &self.0.told;
        let list = |list| told.list(list, era).to_owned();
        Outcome::Result(match asked {
            Asked::Initialize(version) => told.initialize(version),
            Asked::Discover => told.discover().to_owned(),
            Asked::Ping => "{}".to_owned(),
            Asked::ListTools => list(List::Tools),
            Asked::ListPrompts => list(List::Prompts),
            Asked::ListResources => list(List::Resources),
            Asked::ListResourceTemplates => list(List::ResourceTemplates),
            Asked::CallTool { name, arguments } => return self.call(&name, arguments, era, within).await,
        })
    }

    async fn call(&self, name: &str, arguments: Map<String, Value>, era: Era, within: Within<'_>) -> Outcome {
        let Some(tool) = self.0.book.find(name) else {
            let name: String = name.chars().take(128).collect();
            return Outcome::Fault(Fault::invalid_params(format!("Unknown tool: {name}")));
        };
        let (name, asker) = (tool.name, within.asker);
        let began = Instant::now();
        let answer = match tool.call(arguments, asker.clone()) {
            Ok(call) => match timeout_at(within.deadline, self.0.operations.call(call)).await {
                Ok(answer) => answer,
                Err(_) => {
                    let late = Problem::new(ErrorCode::Overloaded).detail("The answer took too long.");
                    OperationAnswer::problem(late, asker)
                }
            },
            Err(problem) => OperationAnswer::problem(problem, asker),
        };
        let took = began.elapsed();
        let status = answer.status.as_u16();
        let outcome = match status {
            200..=299 => "answered",
            400..=499 => "refused",
            _ => "failed",
        };
        metrics::counter!("mcp_tool_calls_total", "tool" => name, "outcome" => outcome).increment(1);
        metrics::histogram!("mcp_tool_duration_seconds", "tool" => name).record(took.as_secs_f64());
        tracing::debug!(
            target: "mcp",
            request_id = asker.request_id.as_str(),
            tool = name,
            status,
            took_ms = took.as_secs_f64() * 1e3,
        );
        match tool_result(&answer, era, &self.0.told.server_member) {
            Some(result) => Outcome::Result(result),
            None => {
                tracing::error!(
                    request_id = asker.request_id.as_str(),
                    tool = name,
                    "an answer is no JSON"
                );
                Outcome::Fault(Fault::internal())
            }
        }
    }
}

fn describe_metrics() {
    metrics::describe_counter!("mcp_requests_total", "Requests of agents by method");
    metrics::describe_counter!("mcp_tool_calls_total", "Calls of agents' tools by tool and outcome");
    let seconds = metrics::Unit::Seconds;
    metrics::describe_histogram!("mcp_tool_duration_seconds", seconds, "Time of agents' tools by tool");
    metrics::describe_gauge!("mcp_streams", "Event streams of agents that are open");
}

fn refused(id: Option<&crate::protocol::message::Id>, fault: Fault) -> Reply {
    Reply::One(fault.status, response(id, &Outcome::Fault(fault)))
}
