//! Runs `moto_server` (PyPI `moto[server]`) as an S3-compatible store.

#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a part of it")]

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

use data_model::Secret;
use data_storage::{S3Options, Storage, StorageOptions};

/// Dropping the value stops the server.
pub(crate) struct Moto {
    process: Child,
    port: u16,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Moto {
    /// Returns `None` and prints a notice if the program is not installed. CI must not skip the test.
    pub(crate) fn start() -> Option<Self> {
        let mut command = Command::new("moto_server");
        // The server picks a free port itself, because a port found in advance may be taken while it starts.
        command
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        match command.spawn() {
            Ok(mut process) => {
                let told = BufReader::new(process.stderr.take().unwrap());
                let port = port_of(told);
                let moto = Self { process, port };
                create_bucket(port);
                Some(moto)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                #[expect(clippy::disallowed_methods, reason = "only the CI may not skip")]
                let ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
                assert!(!ci, "moto_server is not installed");
                println!("skipped: moto_server is not on the PATH (pip install 'moto[server]')");
                None
            }
            Err(error) => panic!("moto_server does not start: {error}"),
        }
    }

    pub(crate) fn storage(&self) -> Storage {
        Self::storage_at(self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Opens a storage in the bucket through another port, such as that of a proxy.
    pub(crate) fn storage_at(port: u16) -> Storage {
        let s3 = S3Options {
            endpoint: Some(format!("http://127.0.0.1:{port}")),
            region: Some("eu-central-1".into()),
            access_key_id: Some("test".into()),
            secret: Some(Secret::new("test")),
            allow_http: true,
            instance_role: false,
        };
        Storage::open(&"s3://haat/some/prefix".parse().unwrap(), &StorageOptions { s3 }).unwrap()
    }
}

/// Reads the port from the server's output. Later output is read and dropped, so that the server never blocks.
fn port_of(mut told: BufReader<ChildStderr>) -> u16 {
    let (mut said, mut line) = (String::new(), String::new());
    while told.read_line(&mut line).unwrap() > 0 {
        if let Some((_, port)) = line.split_once("Running on http://127.0.0.1:") {
            let port = port.trim().parse().unwrap();
            std::thread::spawn(move || std::io::copy(&mut told, &mut std::io::sink()));
            return port;
        }
        said.push_str(&std::mem::take(&mut line));
    }
    panic!("moto_server ended: {said}");
}

fn create_bucket(port: u16) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = "PUT /haat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}
