//! An HTTP proxy in front of an S3-compatible store that returns wrong responses on purpose.
//!
//! The proxy reads one request, optionally forwards it, responds and closes the connection. The client then connects
//! again. Faults count requests, so that a test behaves the same on every machine.
//!
//! Conditional puts are forwarded one at a time. `moto_server` checks for the object and writes it in two steps, so
//! another request may come in between. S3 promises that only one request succeeds.

#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a part of it")]

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultTrigger {
    Any,
    Put,
    /// `PUT` with `If-None-Match` or `If-Match`.
    ConditionalPut,
}

/// Response that the client gets instead of the store's response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// 409 `ConditionalRequestConflict`. The request does not reach the store.
    Conflict,
    /// 503 `SlowDown`. The request does not reach the store.
    Unavailable,
    /// 503 `SlowDown`, although the store executed the request.
    UnavailableAfterEffect,
    /// The connection ends without a response, although the store executed the request.
    Lost,
    /// The connection ends without a response. The request does not reach the store.
    Refused,
}

#[derive(Debug, Clone)]
pub(crate) struct ProxyFault {
    pub(crate) on: FaultTrigger,
    /// Only requests whose path contains this text count. An empty text matches every path.
    pub(crate) path_contains: &'static str,
    /// Number of the first request that fails, from 1, counted since [`Proxy::arm`].
    pub(crate) from: u64,
    /// Number of consecutive requests that fail. `u64::MAX` means until [`Proxy::disarm`].
    pub(crate) times: u64,
    pub(crate) answer: Answer,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<ProxyFault>,
    counted: u64,
    injected: u64,
}

/// Dropping the value stops the proxy.
#[derive(Debug)]
pub(crate) struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

/// Locked while a conditional put is in progress at the store.
type OneAtATime = Mutex<()>;

impl Proxy {
    /// Starts a proxy on a free local port that forwards to another local port. No connection fails until
    /// [`Proxy::arm`].
    pub(crate) fn start(upstream_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let conditional_puts: Arc<OneAtATime> = Arc::default();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (shared, puts) = (Arc::clone(&shared), Arc::clone(&conditional_puts));
                // A client that disconnects in the middle of a request is not an error.
                std::thread::spawn(move || serve(&client, upstream_port, (&shared, &puts)));
            }
        });
        Self { port, state }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The count of requests starts now.
    pub(crate) fn arm(&self, fault: ProxyFault) {
        *lock(&self.state) = State {
            fault: Some(fault),
            ..State::default()
        };
    }

    /// Stops all faults. Returns the number of requests that failed since [`Proxy::arm`], so that tests can check that
    /// the expected fault happened.
    pub(crate) fn disarm(&self) -> u64 {
        std::mem::take(&mut *lock(&self.state)).injected
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn answer(&mut self, request: &Request) -> Option<Answer> {
        let fault = self.fault.as_ref()?;
        let counts = match fault.on {
            FaultTrigger::Any => true,
            FaultTrigger::Put => request.method == "PUT",
            FaultTrigger::ConditionalPut => request.method == "PUT" && request.conditional,
        };
        if !counts || !request.path.contains(fault.path_contains) {
            return None;
        }
        self.counted += 1;
        let is_due = self.counted >= fault.from && self.counted - fault.from < fault.times;
        self.injected += u64::from(is_due);
        is_due.then_some(fault.answer)
    }
}

struct Request {
    method: String,
    path: String,
    conditional: bool,
    /// The request as forwarded, on a separate connection.
    bytes: Vec<u8>,
}

fn serve(
    client: &TcpStream,
    upstream_port: u16,
    (state, conditional_puts): (&Mutex<State>, &OneAtATime),
) -> Result<()> {
    let request = read_request(client)?;
    let answer = lock(state).answer(&request);
    let response = match answer {
        None | Some(Answer::Lost | Answer::UnavailableAfterEffect) => {
            let is_alone = request.method == "PUT" && request.conditional;
            let _turn = is_alone.then(|| conditional_puts.lock().unwrap_or_else(PoisonError::into_inner));
            Some(forward(upstream_port, &request.bytes)?)
        }
        Some(Answer::Conflict | Answer::Unavailable | Answer::Refused) => None,
    };
    let response = match answer {
        None => response.unwrap_or_default(),
        Some(Answer::Conflict) => error("409 Conflict", "ConditionalRequestConflict"),
        Some(Answer::Unavailable | Answer::UnavailableAfterEffect) => error("503 Service Unavailable", "SlowDown"),
        Some(Answer::Lost | Answer::Refused) => return client.shutdown(Shutdown::Both),
    };
    let mut client = client;
    client.write_all(&response)?;
    client.shutdown(Shutdown::Write)
}

fn error(status: &str, code: &str) -> Vec<u8> {
    let body = format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>injected</Message></Error>");
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: application/xml\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

fn read_request(client: &TcpStream) -> Result<Request> {
    let mut reader = BufReader::new(client);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut bytes, mut length, mut conditional) = (line.clone().into_bytes(), 0, false);
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        let name = name.to_ascii_lowercase();
        conditional |= name == "if-none-match" || name == "if-match";
        if name == "content-length" {
            length = value.trim().parse().unwrap_or(0);
        }
        if name != "connection" {
            bytes.extend_from_slice(line.as_bytes());
        }
    }
    bytes.extend_from_slice(b"Connection: close\r\n\r\n");
    let head = bytes.len();
    bytes.resize(head + length, 0);
    reader.read_exact(&mut bytes[head..])?;
    Ok(Request {
        method,
        path,
        conditional,
        bytes,
    })
}

fn forward(port: u16, request: &[u8]) -> Result<Vec<u8>> {
    let mut upstream = TcpStream::connect(("127.0.0.1", port))?;
    upstream.write_all(request)?;
    let mut response = Vec::new();
    upstream.read_to_end(&mut response)?;
    Ok(response)
}
