//! Scripted language model at an OpenAI-compatible endpoint on this machine.

use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::request_body;

/// Endpoint that runs until the tests end.
pub(crate) struct ScriptedModel {
    /// Base URL of the API.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl ScriptedModel {
    /// Starts the endpoint, whose message for each request is the result of `script` for the body.
    pub(crate) fn start(script: impl Fn(&Value) -> Value + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (script, noted) = (Arc::new(script), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (script, noted) = (Arc::clone(&script), Arc::clone(&noted));
                std::thread::spawn(move || serve(stream.unwrap(), &*script, &noted));
            }
        });
        Self { url, asked }
    }

    /// Returns the requests since the last call.
    pub(crate) fn take_asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn serve(stream: TcpStream, script: &impl Fn(&Value) -> Value, asked: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    while let Some(body) = request_body(&mut reader, "/v1/chat/completions") {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let message = script(&body);
        asked.lock().unwrap().push(body);
        let answer = json!({ "choices": [{ "message": message, "finish_reason": "stop" }] }).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            answer.len()
        );
        // A client that has disconnected needs no answer.
        let _ = reader.get_mut().write_all([head, answer].concat().as_bytes());
    }
}
