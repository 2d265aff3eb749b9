use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use api::{EdgeConfig, EdgeRouter, OpenRouter, Problem};
use axum::routing::get;
use data_model::ErrorCode;
use http::StatusCode;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::json;

/// Readiness of a scheduler: true if the state database answered the last request.
#[derive(Debug, Clone)]
pub struct Readiness(Arc<AtomicBool>);

impl Readiness {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Records if the state responds, and returns the previous value.
    pub(crate) fn swap(&self, answers: bool) -> bool {
        self.0.swap(answers, Ordering::Relaxed)
    }
}

/// Creates the router for probes and metrics of a process that runs jobs: `/healthz`, `/readyz`, `/metrics`.
pub fn ops_router(readiness: Readiness, metrics: PrometheusHandle) -> EdgeRouter {
    let ready = async move || {
        if readiness.0.load(Ordering::Relaxed) {
            Ok(api::json(StatusCode::OK, &json!({ "status": "ready" })))
        } else {
            Err(Problem::new(ErrorCode::NotReady).detail("the state does not answer: no job is started"))
        }
    };
    OpenRouter::default()
        .route(
            "/healthz",
            get(async || api::json(StatusCode::OK, &json!({ "status": "ok" }))),
        )
        .route("/readyz", get(ready))
        .route("/metrics", get(async move || api::metrics_answer(&metrics)))
        .edge(EdgeConfig::default())
}
