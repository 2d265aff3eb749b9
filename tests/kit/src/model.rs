//! Endpoints that simulate language models.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The behaviour of an endpoint for every request.
#[derive(Debug, Clone)]
pub enum EndpointScript {
    /// Sends these bytes verbatim.
    Answers(String),
    /// Accepts the request and never responds.
    Hangs,
    /// Closes the connection without an answer.
    Breaks,
}

/// Endpoint on this machine, and the requests that it received. The endpoint stops when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    /// Address of the endpoint.
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Endpoint {
    /// Starts an endpoint with this behaviour.
    pub async fn start(plays: EndpointScript) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&requests);
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (plays, noted) = (plays.clone(), Arc::clone(&noted));
                tokio::spawn(async move {
                    let request = read_request(&mut stream).await;
                    noted.lock().unwrap().push(request);
                    match plays {
                        EndpointScript::Answers(bytes) => {
                            // A client that disconnects early has read enough.
                            let _ = stream.write_all(bytes.as_bytes()).await;
                        }
                        EndpointScript::Hangs => std::future::pending().await,
                        EndpointScript::Breaks => {}
                    }
                });
            }
        });
        Self {
            address,
            requests,
            serving,
        }
    }

    /// Starts an endpoint that responds with status 200 and this text from the model.
    pub async fn saying(content: &str) -> Self {
        let body = json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]});
        Self::start(EndpointScript::Answers(http_answer("200 OK", "", &body.to_string()))).await
    }

    /// Returns the base URL of the endpoint's API.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the number of requests so far.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Returns the received requests, with heads and bodies.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Formats an HTTP response.
#[must_use]
pub fn http_answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn read_request(stream: &mut TcpStream) -> String {
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        let lower = text.to_ascii_lowercase();
        let length = lower
            .split("content-length:")
            .nth(1)
            .and_then(|rest| rest.split("\r\n").next());
        let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
        let is_whole = lower.find("\r\n\r\n").is_some_and(|end| read.len() >= end + 4 + length);
        if is_whole || count == 0 {
            return text;
        }
    }
}
