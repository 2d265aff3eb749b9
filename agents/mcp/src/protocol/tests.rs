use proptest::prelude::*;
use serde_json::{Value, json};

use super::accept::{Accept, Form};
use super::batch::{Body, read};
use super::gate::{Head, SentHeader, era};
use super::message::{Message, Outcome, Request, response};
use super::method::{MethodCall, asked};
use super::version::{Era, LEGACY};

const NO_HEAD: Head<'_> = Head {
    version: SentHeader::Nothing,
    method: SentHeader::Nothing,
    name: SentHeader::Nothing,
};

fn request(value: Value) -> Request {
    match Message::of(value) {
        Message::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

fn modern_head<'a>(method: &'a str, name: SentHeader<'a>) -> Head<'a> {
    Head {
        version: SentHeader::Text("2026-07-28"),
        method: SentHeader::Text(method),
        name,
    }
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Parses a request. Returns its method call, or the code and status of the error.
fn read_as(message: Value, head: &Head<'_>) -> Result<(Era, MethodCall), (i64, u16)> {
    let request = request(message);
    let read = era(&request, head).and_then(|era| Ok((era, asked(request, era)?)));
    read.map_err(|fault| (fault.code, fault.status))
}

#[test]
fn a_request_without_a_version_is_one_of_the_legacy_revisions() {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(
        read_as(list.clone(), &NO_HEAD),
        Ok((Era::Legacy, MethodCall::ListTools))
    );
    for version in LEGACY {
        let head = Head {
            version: SentHeader::Text(version),
            ..NO_HEAD
        };
        assert_eq!(read_as(list.clone(), &head), Ok((Era::Legacy, MethodCall::ListTools)));
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": version } });
        assert_eq!(
            read_as(initialize, &head),
            Ok((Era::Legacy, MethodCall::Initialize(version)))
        );
    }
    let newer =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2031-01-01" } });
    assert_eq!(
        read_as(newer, &NO_HEAD),
        Ok((Era::Legacy, MethodCall::Initialize("2025-11-25")))
    );
    let unsaid = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
    assert_eq!(read_as(unsaid, &NO_HEAD), Err((-32602, 200)));
    for version in [
        SentHeader::Text("yesterday"),
        SentHeader::Text(""),
        SentHeader::Unreadable,
    ] {
        let refused = read_as(list.clone(), &Head { version, ..NO_HEAD });
        assert_eq!(refused.map_err(|(_, status)| status), Err(400), "{version:?}");
    }
}

#[test]
fn a_modern_request_says_all_about_itself() {
    let list = |meta: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let head = modern_head("tools/list", SentHeader::Nothing);
    assert_eq!(read_as(list(meta()), &head), Ok((Era::Modern, MethodCall::ListTools)));
    let without = |name: &str| {
        let mut meta = meta();
        meta.as_object_mut().unwrap().remove(name);
        list(meta)
    };
    for name in [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
    ] {
        assert_eq!(read_as(without(name), &head), Err((-32602, 400)), "{name}");
    }
    let bare = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(read_as(bare, &head), Err((-32602, 400)));
    let mut other = meta();
    other["io.modelcontextprotocol/protocolVersion"] = "v999".into();
    assert_eq!(read_as(list(other.clone()), &head), Err((-32020, 400)));
    let unknown = Head {
        version: SentHeader::Text("v999"),
        ..head
    };
    assert_eq!(read_as(list(other), &unknown), Err((-32022, 400)));
    assert_eq!(read_as(list(meta()), &NO_HEAD), Err((-32020, 400)));
    for method in [
        SentHeader::Nothing,
        SentHeader::Text("TOOLS/LIST"),
        SentHeader::Text("tools/call"),
        SentHeader::Unreadable,
    ] {
        assert_eq!(
            read_as(list(meta()), &Head { method, ..head }),
            Err((-32020, 400)),
            "{method:?}"
        );
    }
}

#[test]
fn the_name_of_a_tool_stands_in_the_head_too_plain_or_packed() {
    let call = |name: &str| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name, "_meta": meta() } });
    let read = |name: &str, sent| read_as(call(name), &modern_head("tools/call", sent)).map(|_| ());
    assert_eq!(read("browse", SentHeader::Text("browse")), Ok(()));
    assert_eq!(read("browse", SentHeader::Text("=?base64?YnJvd3Nl?=")), Ok(()));
    assert_eq!(read("größe", SentHeader::Text("=?base64?Z3LDtsOfZQ==?=")), Ok(()));
    for wrong in [
        SentHeader::Nothing,
        SentHeader::Text("Browse"),
        SentHeader::Text("=?base64?YnJvd3Nl"),
        SentHeader::Text("=?base64?YnJvd3N?="),
        SentHeader::Text("=?base64?/w==?="),
    ] {
        assert_eq!(read("browse", wrong), Err((-32020, 400)), "{wrong:?}");
    }
}

#[test]
fn each_era_has_its_own_methods() {
    let modern = |method: &str| {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta() } });
        read_as(message, &modern_head(method, SentHeader::Nothing))
    };
    let legacy = |method: &str| read_as(json!({ "jsonrpc": "2.0", "id": 1, "method": method }), &NO_HEAD);
    assert_eq!(modern("server/discover"), Ok((Era::Modern, MethodCall::Discover)));
    assert_eq!(legacy("ping"), Ok((Era::Legacy, MethodCall::Ping)));
    for gone in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "subscriptions/listen",
        "x/y",
    ] {
        assert_eq!(modern(gone), Err((-32601, 404)), "{gone}");
    }
    for unknown in ["logging/setLevel", "completion/complete", "x/y", ""] {
        assert_eq!(legacy(unknown), Err((-32601, 200)), "{unknown}");
    }
    for list in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        assert!(modern(list).is_ok() && legacy(list).is_ok(), "{list}");
        let paged = json!({ "jsonrpc": "2.0", "id": 1, "method": list, "params": { "cursor": "2" } });
        assert_eq!(read_as(paged, &NO_HEAD), Err((-32602, 200)), "{list}");
    }
    let read = |uri: Value, meta: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri, "_meta": meta } });
    let resource = || MethodCall::ReadResource("a:b".to_owned());
    assert_eq!(
        read_as(read(json!("a:b"), json!({})), &NO_HEAD),
        Ok((Era::Legacy, resource()))
    );
    assert_eq!(read_as(read(json!(7), json!({})), &NO_HEAD), Err((-32002, 200)));
    let head = modern_head("resources/read", SentHeader::Text("a:b"));
    assert_eq!(
        read_as(read(json!("a:b"), meta()), &head),
        Ok((Era::Modern, resource()))
    );
    assert_eq!(read_as(read(json!(7), meta()), &head), Err((-32602, 200)));
}

#[test]
fn what_is_no_message_is_refused() {
    let kind = |value: Value| match Message::of(value) {
        Message::Request(_) => "request",
        Message::Notification { .. } => "notification",
        Message::Response => "response",
        Message::Invalid { id: Some(_), .. } => "invalid, named",
        Message::Invalid { id: None, .. } => "invalid",
    };
    for (message, wanted) in [
        (json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }), "request"),
        (json!({ "jsonrpc": "2.0", "id": 1.0, "method": "ping" }), "request"),
        (json!({ "jsonrpc": "2.0", "id": "", "method": "ping" }), "request"),
        (
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            "notification",
        ),
        (json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "response"),
        (json!({ "jsonrpc": "2.0", "id": null, "error": {} }), "response"),
        (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), "invalid"),
        (json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }), "invalid"),
        (json!({ "jsonrpc": "2.0", "id": u64::MAX, "method": "ping" }), "request"),
        (
            json!({ "jsonrpc": "2.0", "id": 1.234_567_890_123_456_8e22, "method": "ping" }),
            "invalid",
        ),
        (json!({ "jsonrpc": "2.0", "id": true, "method": "ping" }), "invalid"),
        (json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" }), "invalid"),
        (json!({ "jsonrpc": "2.0", "id": 1, "method": 2 }), "invalid, named"),
        (json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }), "invalid, named"),
        (json!({ "id": 1, "method": "ping" }), "invalid, named"),
        (json!({ "jsonrpc": "2.0" }), "invalid"),
        (json!({}), "invalid"),
        (json!(1), "invalid"),
        (json!(null), "invalid"),
        (json!([]), "invalid"),
    ] {
        assert_eq!(kind(message.clone()), wanted, "{message}");
    }
}

#[test]
fn a_batch_holds_between_one_message_and_the_bound() {
    let told = |body: &str| match read(body.as_bytes(), 2) {
        Body::One(_) => Ok(1),
        Body::Batch(items) => Ok(items.len()),
        Body::Refused(fault) => Err((fault.code, fault.status)),
    };
    assert_eq!(told("{}"), Ok(1));
    assert_eq!(told("[1, 2]"), Ok(2));
    assert_eq!(told("[]"), Err((-32600, 400)));
    assert_eq!(told("[1, 2, 3]"), Err((-32600, 400)));
    for broken in ["", "[1,", "{\"a\":}", "nul", "\u{feff}{}", &"[".repeat(1000)] {
        assert_eq!(told(broken), Err((-32700, 400)), "{broken:.20}");
    }
}

#[test]
fn an_event_stream_is_answered_to_whoever_takes_no_json() {
    let form = |lines: &[&str]| Accept::of(lines.iter().copied()).form();
    for json in [
        &[][..],
        &["application/json, text/event-stream"],
        &["text/event-stream, application/json;q=0.1"],
        &["text/event-stream", "*/*;q=0.1"],
        &["*/*"],
        &["application/*"],
        &["APPLICATION/JSON"],
        &["text/event-stream;q=0"],
        &["text/html"],
        &["nonsense"],
        &["application/json;q=0, text/event-stream;q=0"],
    ] {
        assert_eq!(form(json), Form::Json, "{json:?}");
    }
    for stream in [
        &["text/event-stream"][..],
        &["text/*"],
        &["Text/Event-Stream; charset=utf-8; q=0.2"],
        &["text/event-stream, application/json;q=0"],
        &["*/*, application/json; Q=0.000"],
        &["text/html, text/event-stream"],
    ] {
        assert_eq!(form(stream), Form::EventStream, "{stream:?}");
    }
}

#[test]
fn answers_name_their_request_and_are_one_line() {
    let id = request(json!({ "jsonrpc": "2.0", "id": "a\n\"b", "method": "ping" })).id;
    let answer = response(Some(&id), &Outcome::Result("{}".to_owned()));
    assert_eq!(answer, r#"{"jsonrpc":"2.0","id":"a\n\"b","result":{}}"#);
    let Body::Refused(fault) = read(b"[]", 1) else {
        panic!("taken")
    };
    let answer = response(None, &Outcome::Fault(fault));
    assert_eq!(
        answer,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"A batch must contain at least one message."}}"#
    );
}

proptest! {
    /// Any body is parsed without a panic, and the response is JSON on one line.
    #[test]
    fn any_body_is_read(body in any::<Vec<u8>>(), text in "[\\[\\]{}\":,0-9a-z.\\- ]{0,60}") {
        for body in [body.as_slice(), text.as_bytes()] {
            if let Body::Refused(fault) = read(body, 5) {
                let answer = response(None, &Outcome::Fault(fault));
                prop_assert!(serde_json::from_str::<Value>(&answer).is_ok() && !answer.contains('\n'));
            }
        }
    }

    /// Messages with arbitrary fields cause no panic in any era.
    #[test]
    fn any_message_is_judged(
        id in "[0-9]{1,30}|null|true|\"[a-z]*\"|1e5|[0-9].5",
        method in "[a-z/]{0,12}|tools/call|server/discover|initialize",
        params in "\\{\\}|\\[\\]|null|1|\\{\"_meta\":(1|null|\\{\\})\\}|\\{\"name\":\"x\",\"arguments\":(1|\\{\\})\\}",
        version in "2026-07-28|2025-03-26|v[0-9]|",
    ) {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let head = Head { version: SentHeader::Text(&version), ..NO_HEAD };
        if let Body::One(Message::Request(request)) = read(body.as_bytes(), 1)
            && let Ok(era) = era(&request, &head)
        {
            let _ = asked(request, era);
        }
    }

    #[test]
    fn any_accept_header_is_read(lines in proptest::collection::vec("[ -~]{0,40}|(text|application|\\*)/(json|event-stream|\\*)(;q=[0-9.]{0,5})?", 0..4)) {
        let _ = Accept::of(lines.iter().map(String::as_str)).form();
    }
}
