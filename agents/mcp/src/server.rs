use std::sync::{Arc, OnceLock};
use std::time::Duration;

use api::{Asker, Guard, OperationAnswer, OriginPolicy, Problem};
use data_model::ErrorCode;
use futures::stream::{StreamExt, iter};
use http::HeaderValue;
use metrics::{Counter, Histogram};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::config::McpConfig;
use crate::manifest::manifest;
use crate::protocol::batch::{self, Body};
use crate::protocol::fault::Fault;
use crate::protocol::gate::{self, Head};
use crate::protocol::message::{Message, Outcome, Request, response};
use crate::protocol::method::{self, MethodCall};
use crate::protocol::version::Era;
use crate::static_answers::{List, StaticAnswers};
use crate::streams::Streams;
use crate::tools::{ToolError, ToolOutcome, Toolset};

/// Path of the market's own endpoint.
const PATH: &str = "/v1/mcp";

/// Number of concurrent requests of one batch. A low number keeps one caller's batch from delaying other callers.
const BATCH_CONCURRENCY: usize = 4;

/// Data that all MCP endpoints of a server share.
#[derive(Debug, Clone)]
pub struct McpParts {
    /// Guard that is charged for the requests of a batch after the first.
    pub guard: Arc<Guard>,
    /// Limits and settings.
    pub config: McpConfig,
    /// Public URL of the server.
    pub public_url: String,
    /// Origins whose pages may send requests, in addition to the server's own origin.
    pub origins: Vec<HeaderValue>,
    /// `true` if the server listens on the loopback interface only.
    pub is_local: bool,
    /// Version of the program.
    pub version: &'static str,
    /// Token that is cancelled when the server stops. Open streams then end.
    pub stop: CancellationToken,
}

/// An MCP endpoint. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Mcp(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    tools: Arc<dyn Toolset>,
    /// Metrics of each tool, in the order of the tool names.
    metrics: Vec<OnceLock<ToolMetrics>>,
    guard: Arc<Guard>,
    told: StaticAnswers,
    /// Path under which all requests of a POST but the first are counted.
    path: &'static str,
    pub(crate) config: McpConfig,
    pub(crate) origin_policy: OriginPolicy,
    pub(crate) manifest: Value,
    pub(crate) streams: Arc<Streams>,
    pub(crate) stop: CancellationToken,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The message needs no response.
    Taken,
    /// One message, with the HTTP status.
    One(u16, String),
    /// Responses of a batch, in the order of its messages.
    Many(Vec<String>),
}

/// Facts about the HTTP request of a message.
#[derive(Debug, Clone, Copy)]
struct RequestContext<'a> {
    head: &'a Head<'a>,
    asker: &'a Asker,
    deadline: Instant,
}

impl Mcp {
    /// Creates the market's own endpoint at `/v1/mcp`.
    #[must_use]
    pub fn new(parts: McpParts, tools: Arc<dyn Toolset>) -> Self {
        Self::at(PATH, parts, tools)
    }

    /// Creates an endpoint at another path. Another crate provides the routes and passes requests to [`Mcp::post`].
    #[must_use]
    pub fn at(path: &'static str, parts: McpParts, tools: Arc<dyn Toolset>) -> Self {
        describe_metrics();
        Self(Arc::new(Inner {
            origin_policy: OriginPolicy::new(&parts.public_url, &parts.origins, parts.is_local),
            manifest: manifest(&parts.public_url, path, parts.version),
            streams: Streams::new(parts.config.streams_max, parts.config.streams_per_client_max),
            metrics: tools.names().iter().map(|_| OnceLock::new()).collect(),
            told: StaticAnswers::new(&*tools, parts.version),
            tools,
            guard: parts.guard,
            path,
            config: parts.config,
            stop: parts.stop,
        }))
    }

    /// Answers the body of a POST.
    pub(crate) async fn reply(&self, head: &Head<'_>, asker: &Asker, body: &[u8]) -> Reply {
        let deadline = Instant::now() + Duration::from_millis(self.0.config.timeout_ms);
        let within = RequestContext { head, asker, deadline };
        match batch::read(body, self.0.config.batch_items_max) {
            Body::Refused(fault) => refused(None, fault),
            Body::One(message) => self.one(message, within).await,
            Body::Batch(_) if head.is_modern() => refused(
                None,
                Fault::invalid_request("This protocol version does not support batches: send one message."),
            ),
            Body::Batch(messages) => match head.check_version() {
                Ok(()) => self.many(messages, within).await,
                Err(fault) => refused(None, fault),
            },
        }
    }

    async fn one(&self, message: Message, within: RequestContext<'_>) -> Reply {
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

    /// Answers a batch. The edge has already counted the first request, and this function charges the others in order.
    async fn many(&self, messages: Vec<Message>, within: RequestContext<'_>) -> Reply {
        let mut charged = Vec::with_capacity(messages.len());
        let mut requests = 0;
        for message in messages {
            let mut refusal = None;
            if !matches!(message, Message::Notification { .. } | Message::Response) {
                requests += 1;
                if requests > 1 {
                    refusal = self.0.guard.charge(&within.asker.caller, self.0.path).await.err();
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

    async fn item(&self, message: Message, refusal: Option<Problem>, within: RequestContext<'_>) -> Option<String> {
        let (id, outcome) = match (message, refusal) {
            (Message::Notification { .. } | Message::Response, _) => return None,
            (Message::Invalid { id, why }, _) => (id, Outcome::Fault(Fault::invalid_request(why))),
            (Message::Request(request), Some(problem)) => {
                let outcome = self.too_much(&request, problem, within.asker);
                (Some(request.id), outcome)
            }
            (Message::Request(request), None) => {
                let id = request.id.clone();
                (Some(id), Box::pin(self.outcome(request, within)).await)
            }
        };
        Some(response(id.as_ref(), &outcome))
    }

    /// Returns the response to a request beyond the caller's limit. For a tool call, this is a tool result, as for any
    /// other problem.
    fn too_much(&self, request: &Request, problem: Problem, asker: &Asker) -> Outcome {
        if request.method == "tools/call" {
            return self.written(self.0.tools.refused(problem, asker), Era::Legacy, asker);
        }
        let answer = OperationAnswer::problem(problem, asker);
        Outcome::Fault(Fault::too_much(
            serde_json::from_slice(&answer.body).unwrap_or_default(),
        ))
    }

    async fn outcome(&self, request: Request, within: RequestContext<'_>) -> Outcome {
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
            MethodCall::Initialize(version) => told.initialize(version),
            MethodCall::Discover => told.discover().to_owned(),
            MethodCall::Ping => "{}".to_owned(),
            MethodCall::ListTools => list(List::Tools),
            MethodCall::ListPrompts => list(List::Prompts),
            MethodCall::ListResources => list(List::Resources),
            MethodCall::ListResourceTemplates => list(List::ResourceTemplates),
            MethodCall::ReadResource(uri) => match told.resource(&uri, era) {
                Some(read) => read.to_owned(),
                None => return Outcome::Fault(Fault::unknown_resource(Some(&uri), era)),
            },
            MethodCall::CallTool { name, arguments } => return self.call(&name, arguments, era, within).await,
        })
    }

    async fn call(&self, name: &str, arguments: Map<String, Value>, era: Era, within: RequestContext<'_>) -> Outcome {
        let tools = &self.0.tools;
        let mut known = tools.names().iter().zip(&self.0.metrics);
        let Some((&name, metrics)) = known.find(|(known, _)| **known == name) else {
            let name: String = name.chars().take(128).collect();
            return Outcome::Fault(Fault::invalid_params(format!("Unknown tool: {name}")));
        };
        let asker = within.asker;
        let began = Instant::now();
        let calling = tools.call(name, arguments, asker.clone());
        let outcome = match timeout_at(within.deadline, calling).await {
            Ok(outcome) => outcome,
            Err(_) => {
                let late = if changes(tools.list(), name) {
                    Problem::new(ErrorCode::OutcomeUnknown)
                        .detail("The operation is still running. Check its result before you send the request again.")
                } else {
                    Problem::new(ErrorCode::Overloaded).detail("The server could not finish the response in time.")
                };
                tools.refused(late, asker)
            }
        };
        let took = began.elapsed();
        let status = match &outcome {
            ToolOutcome::Answer(answer) => answer.status.as_u16(),
            ToolOutcome::Error(error) => error.status,
        };
        metrics.get_or_init(|| ToolMetrics::of(name)).record(status, took);
        tracing::debug!(
            target: "mcp",
            request_id = asker.request_id.as_str(),
            tool = name,
            status,
            took_ms = took.as_secs_f64() * 1e3,
        );
        self.written(outcome, era, asker)
    }

    fn written(&self, outcome: ToolOutcome, era: Era, asker: &Asker) -> Outcome {
        let answer = match outcome {
            ToolOutcome::Answer(answer) => answer,
            ToolOutcome::Error(ToolError {
                status,
                code,
                message,
                data,
            }) => {
                return Outcome::Fault(Fault {
                    code,
                    message,
                    data: Some(data),
                    status,
                });
            }
        };
        self.0.told.results.written(&answer, era).map_or_else(
            || {
                tracing::error!(
                    request_id = asker.request_id.as_str(),
                    "a tool's answer is not valid JSON"
                );
                Outcome::Fault(Fault::internal())
            },
            Outcome::Result,
        )
    }
}

#[derive(Debug)]
struct ToolMetrics {
    outcomes: [Counter; 3],
    seconds: Histogram,
}

impl ToolMetrics {
    fn of(tool: &'static str) -> Self {
        Self {
            outcomes: ["answered", "refused", "failed"]
                .map(|outcome| metrics::counter!("mcp_tool_calls_total", "tool" => tool, "outcome" => outcome)),
            seconds: metrics::histogram!("mcp_tool_duration_seconds", "tool" => tool),
        }
    }

    fn record(&self, status: u16, took: Duration) {
        let [answered, refused, failed] = &self.outcomes;
        match status {
            200..=299 => answered.increment(1),
            400..=499 => refused.increment(1),
            _ => failed.increment(1),
        }
        self.seconds.record(took.as_secs_f64());
    }
}

fn describe_metrics() {
    metrics::describe_counter!("mcp_requests_total", "MCP requests by method");
    metrics::describe_counter!("mcp_tool_calls_total", "MCP tool calls by tool and outcome");
    let seconds = metrics::Unit::Seconds;
    metrics::describe_histogram!(
        "mcp_tool_duration_seconds",
        seconds,
        "Duration of MCP tool calls by tool"
    );
    metrics::describe_gauge!("mcp_streams", "Open MCP event streams");
}

fn refused(id: Option<&crate::protocol::message::Id>, fault: Fault) -> Reply {
    Reply::One(fault.status, response(id, &Outcome::Fault(fault)))
}

/// True if a tool changes something, according to its entry in the list of tools.
fn changes(list: &str, name: &str) -> bool {
    let tools: Vec<Value> = serde_json::from_str(list).unwrap_or_default();
    let tool = tools.iter().find(|tool| tool["name"] == name);
    tool.is_some_and(|tool| tool["annotations"]["readOnlyHint"] == false)
}
