//! An S3-compatible store keeps the same promises; `moto_server` (PyPI `moto[server]`) stands in for one.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use data_storage::{S3Options, Secret, Storage, StorageOptions, conformance, publish_race};

struct Moto {
    process: Child,
    port: u16,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `None` where the program is not installed.
fn start_moto() -> Option<Moto> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new("moto_server");
    command
        .args(["-H", "127.0.0.1", "-p", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match command.spawn() {
        Ok(process) => Some(Moto { process, port }),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("moto_server does not start: {error}"),
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

#[tokio::test(flavor = "multi_thread")]
async fn an_s3_store_conforms() {
    #[expect(clippy::disallowed_methods, reason = "only the CI may not skip this test")]
    let ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
    let Some(moto) = start_moto() else {
        assert!(!ci, "moto_server is not installed");
        println!("skipped: moto_server is not on the PATH (pip install 'moto[server]')");
        return;
    };
    create_bucket(moto.port);
    let s3 = S3Options {
        endpoint: Some(format!("http://127.0.0.1:{}", moto.port)),
        region: Some("eu-central-1".into()),
        access_key_id: Some("test".into()),
        secret: Some(Secret::new("test")),
        allow_http: true,
    };
    let storage = Storage::open(&"s3://haat/some/prefix".parse().unwrap(), &StorageOptions { s3 }).unwrap();
    conformance(storage.clone()).await.unwrap();
    publish_race(&storage.child("races"), 8, 200).await.unwrap();
}
