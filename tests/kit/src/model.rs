//! Endpoints that play language models.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// An endpoint's treatment of a request.
#[derive(Debug, Clone)]
pub enum EndpointScript {
    /// Answers these bytes as they are.
    Answers(String),
    /// Never answers.
    Hangs,
    /// Closes without an answer.
    Breaks,
}

/// An endpoint on this machine, and the requests that it read. It ends when it is dropped.
#[derive(Debug)]
pub struct Endpoint {
    /// The address that it listens at.
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl Endpoint {
    /// One that does this with each request.
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
                            // Whoever hangs up early has read enough.
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

    /// One that answers 200 with what a model says.
    pub async fn saying(content: &str) -> Self {
        let body = json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]});
        Self::start(EndpointScript::Answers(http_answer("200 OK", "", &body.to_string()))).await
    }

    /// The base of its API.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The number of times that it was asked.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// The requests that it read, heads and bodies.
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

/// An answer as it goes over the wire.
#[must_use]
pub fn http_answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Reads one request to its end.
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
