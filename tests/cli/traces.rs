use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use kit::opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use kit::opentelemetry_proto::tonic::trace::v1::Span;
use kit::prost::Message;

use crate::support::{Haat, request_body};

/// Starts a trace collector on this machine. Returns its address and the arriving spans.
fn collector() -> (String, mpsc::Receiver<Span>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, spans) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let sender = sender.clone();
            // Each connection has a thread of its own, because the exporter keeps connections open.
            std::thread::spawn(move || {
                let mut stream = BufReader::new(stream.unwrap());
                while let Some(body) = request_body(&mut stream, "/v1/traces") {
                    let export = ExportTraceServiceRequest::decode(body.as_slice()).unwrap();
                    let scopes = export.resource_spans.into_iter().flat_map(|of| of.scope_spans);
                    for span in scopes.flat_map(|scope| scope.spans) {
                        let _ = sender.send(span);
                    }
                    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                    stream.get_mut().write_all(answer.as_bytes()).unwrap();
                }
            });
        }
    });
    (address, spans)
}

fn child_of<'a>(spans: &'a [Span], parent: &Span, name: &str) -> &'a Span {
    spans
        .iter()
        .find(|span| span.name == name && span.parent_span_id == parent.span_id)
        .unwrap_or_else(|| panic!("no {name:?} below {:?}", parent.name))
}

#[test]
fn a_crawl_is_traced_down_to_each_request_of_a_store() {
    let (address, arriving) = collector();
    let haat = Haat::new().with("HAAT_TRACES__ENDPOINT", &address);
    let _stores = haat.with_stores(&["--products", "40", "--stores", "2"]);
    haat.run(&["crawl", "--release"]).json();
    // The command sends all spans before it ends.
    let spans: Vec<Span> = arriving.try_iter().collect();
    let crawl = spans.iter().find(|span| span.name == "crawl").unwrap();
    let stores: Vec<&Span> = spans.iter().filter(|span| span.name == "crawl store").collect();
    assert_eq!(stores.len(), 2);
    for store in stores {
        assert_eq!(store.parent_span_id, crawl.span_id);
        let request = child_of(&spans, store, "store request");
        assert_eq!(request.trace_id, crawl.trace_id);
        assert!(
            request
                .attributes
                .iter()
                .any(|held| held.key == "http.response.status_code")
        );
    }
    let build = spans.iter().find(|span| span.name == "release build").unwrap();
    child_of(&spans, build, "release publish");
}

#[test]
fn a_request_is_a_span_of_the_callers_trace() {
    let (address, arriving) = collector();
    let haat = Haat::new().with("HAAT_TRACES__ENDPOINT", &address);
    let (_server, served) = haat.serve(&["query-server", "--listen", "127.0.0.1:0"]);
    let url = format!("{}/v1/stats", served["address"].as_str().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let request = reqwest::Client::new().get(&url).header("traceparent", trace);
        assert_eq!(request.send().await.unwrap().status(), 503);
    });
    let span = arriving.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(span.name, "/v1/stats");
    assert_eq!(hex(&span.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&span.parent_span_id), "b7ad6b7169203331");
}

#[test]
fn a_collector_that_is_gone_is_told_once_and_without_its_secrets() {
    let haat = Haat::new().with("HAAT_TRACES__ENDPOINT", "http://me:hunter2@127.0.0.1:9");
    let built = haat.run(&["release", "build"]);
    assert_eq!(built.stderr.matches("spans are lost").count(), 1, "{}", built.stderr);
    assert!(built.stderr.contains("127.0.0.1:9"), "{}", built.stderr);
    assert!(!built.stderr.contains("hunter2"), "{}", built.stderr);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
