//! Minimal HTTP client: one connection, one request at a time, bodies by `Content-Length` or chunked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use anyhow::Context;

#[derive(Debug)]
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    host: String,
    body: Vec<u8>,
}

impl Client {
    /// Connects to `http://host:port`.
    pub(crate) fn connect(address: &str) -> anyhow::Result<Self> {
        let host = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        // Names below `.localhost` are this machine (RFC 6761), even if the resolver does not know them.
        let name = host.split(':').next().unwrap_or_default();
        let port = host.rsplit(':').next().unwrap_or_default();
        let stream = if name.ends_with(".localhost") {
            TcpStream::connect(format!("127.0.0.1:{port}"))?
        } else {
            TcpStream::connect(&host)?
        };
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::with_capacity(1 << 16, stream),
            host,
            body: Vec::new(),
        })
    }

    /// Sends a GET request and returns status and body.
    pub(crate) fn get(&mut self, path: &str) -> anyhow::Result<(u16, &[u8])> {
        self.ask(path)?;
        self.answer()
    }

    /// Sends a POST request with JSON and returns status and body.
    pub(crate) fn post(&mut self, path: &str, json: &[u8]) -> anyhow::Result<(u16, &[u8])> {
        self.post_with(path, "", json)
    }

    /// Sends a POST request with JSON and more header lines, each with its line ending.
    pub(crate) fn post_with(&mut self, path: &str, head: &str, json: &[u8]) -> anyhow::Result<(u16, &[u8])> {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.host,
            json.len()
        );
        self.stream.get_mut().write_all(&[head.as_bytes(), json].concat())?;
        self.answer()
    }

    /// Sends a GET request for a path without reading the response.
    pub(crate) fn ask(&mut self, path: &str) -> anyhow::Result<()> {
        self.ask_with(path, "")
    }

    /// Sends a request like `ask` with more header lines, each with its line ending.
    pub(crate) fn ask_with(&mut self, path: &str, head: &str) -> anyhow::Result<()> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{head}\r\n", self.host);
        Ok(self.stream.get_mut().write_all(request.as_bytes())?)
    }

    /// Reads the response to the last request: status and body.
    pub(crate) fn answer(&mut self) -> anyhow::Result<(u16, &[u8])> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .context("no status line")?;
        let mut length = 0;
        let mut in_chunks = false;
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            if line.trim_end().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            } else if line.to_ascii_lowercase().starts_with("transfer-encoding: chunked") {
                in_chunks = true;
            }
        }
        if in_chunks {
            self.read_chunks()?;
        } else {
            self.body.resize(length, 0);
            self.stream.read_exact(&mut self.body)?;
        }
        Ok((status, &self.body))
    }

    /// Reads a chunked body, whose length is known only at its end.
    fn read_chunks(&mut self) -> anyhow::Result<()> {
        self.body.clear();
        let mut line = String::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let length = u64::from_str_radix(line.trim(), 16)?;
            let read = (&mut self.stream).take(length).read_to_end(&mut self.body)?;
            anyhow::ensure!(read as u64 == length, "the body broke off");
            line.clear();
            self.stream.read_line(&mut line)?;
            if length == 0 {
                return Ok(());
            }
        }
    }
}
