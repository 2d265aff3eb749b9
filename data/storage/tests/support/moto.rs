//! `moto_server` (PyPI `moto[server]`) stands in for an S3-compatible store.

#![allow(dead_code, clippy::allow_attributes, reason = "each test file uses a part of it")]

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use data_model::Secret;
use data_storage::{S3Options, Storage, StorageOptions};

/// A store that ends with this value.
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
    /// `None`, said aloud, where the program is not installed; only the CI may not skip.
    pub(crate) fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("moto_server");
        command
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        match command.spawn() {
            Ok(process) => {
                create_bucket(port);
                Some(Self { process, port })
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

    /// A storage in its bucket.
    pub(crate) fn storage(&self) -> Storage {
        Self::storage_at(self.port)
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// A storage in its bucket that is reached through another port, such as that of a proxy.
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

/// Creates the bucket as soon as the server answers.
fn create_bucket(port: u16) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(mut stream) => {
                let request = "PUT /haat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                stream.write_all(request.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                return;
            }
            Err(error) if Instant::now() > deadline => panic!("moto_server does not answer: {error}"),
            Err(_) => std::thread::yield_now(),
        }
    }
}
