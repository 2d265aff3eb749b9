use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use tokio::runtime::Handle;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::telemetry_error::TelemetryError;
use crate::trace_config::TraceConfig;

/// Maximum time to wait for the collector. Spans that it does not accept in time are lost, and the program continues.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Minimum time between two warnings about lost spans.
const TOLD_EVERY: Duration = Duration::from_secs(300);
/// Maximum size of a collector's response.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Sends spans until it is dropped; [`Traces::end`] sends the remaining spans.
#[derive(Debug)]
pub struct Traces(SdkTracerProvider);

impl Traces {
    /// Starts to send spans to the collector in `config`. The requests run on `runtime`.
    pub(crate) fn start(config: &TraceConfig, runtime: Handle) -> Result<(Self, SdkTracer), TelemetryError> {
        let client = reqwest::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(TelemetryError::TraceClient)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client {
                client,
                runtime,
                told: Mutex::new(None),
            })
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", config.endpoint.trim_end_matches('/')))
            .with_timeout(TIMEOUT)
            .build()
            .map_err(|source| TelemetryError::TraceExporter {
                endpoint: config.endpoint.clone(),
                source,
            })?;
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample_share)));
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(sampler)
            .with_resource(Resource::builder().with_service_name(config.service.clone()).build())
            .build();
        let tracer = provider.tracer("haat");
        Ok((Self(provider), tracer))
    }

    /// Sends the remaining spans. Blocks for up to some seconds while the collector accepts them, so it must not run on
    /// a thread of the runtime.
    pub fn end(self) {
        if let Err(error) = self.0.shutdown_with_timeout(TIMEOUT) {
            tracing::warn!(%error, "the remaining trace spans could not be sent");
        }
    }
}

/// HTTP client of the exporter. The exporter's own thread has no runtime.
struct Client {
    client: reqwest::Client,
    runtime: Handle,
    /// Time of the last warning about lost spans. The exporter itself does not warn.
    told: Mutex<Option<Instant>>,
}

impl Client {
    /// Warns that spans are lost, unless there was a recent warning.
    fn tell(&self, collector: &str, why: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            *told = Some(Instant::now());
            tracing::warn!(
                collector,
                error = why,
                "trace spans are lost: the collector does not accept them"
            );
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

/// Removes the URL from an error, because the URL may contain secrets.
fn nameless(error: reqwest::Error) -> HttpError {
    error.without_url().into()
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError> {
        let client = self.client.clone();
        // The user, password and query of the URL are not logged.
        let (host, port) = (request.uri().host().unwrap_or_default(), request.uri().port_u16());
        let collector = port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let sent = self.runtime.spawn(async move {
            let mut answer = client.execute(request.try_into()?).await.map_err(nameless)?;
            let mut response = http::Response::builder().status(answer.status());
            if let Some(headers) = response.headers_mut() {
                std::mem::swap(headers, answer.headers_mut());
            }
            let mut body = Vec::new();
            while let Some(chunk) = answer.chunk().await.map_err(nameless)? {
                if body.len() + chunk.len() > ANSWER_BYTES_MAX {
                    return Err("the collector's response is too long".into());
                }
                body.extend_from_slice(&chunk);
            }
            Ok::<_, HttpError>(response.body(Bytes::from(body))?)
        });
        let sent = sent.await?;
        match &sent {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => self.tell(&collector, &format!("it answers {}", answer.status())),
            Err(error) => self.tell(&collector, &with_causes(error.as_ref())),
        }
        sent
    }
}

/// Makes an exported span the child of the span in the headers (W3C Trace Context).
pub(crate) fn set_parent(span: &Span, headers: &HeaderMap) {
    if !span.is_disabled() {
        let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
        // This fails only for a span that is disabled or has ended.
        let _ = span.set_parent(parent);
    }
}
