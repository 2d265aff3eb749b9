//! Tests of mails to a server on another machine. The client must send nothing secret before STARTTLS and must verify
//! the server's certificate.

use std::io::{BufRead, BufReader, Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use dashboard::DashboardConfig;
use data_model::Secret;
use kit::SmtpTalk;
use mailer::MailConfig;
use tempfile::TempDir;

use crate::mail::ask;
use crate::support::{Browser, Site, config};

/// Address of this machine that the mailer takes for another machine.
const HOST: &str = "0.0.0.0";
/// Certificate name that matches the server's address.
const OWN_NAME: &str = "IP:0.0.0.0";
/// Environment variable with the mail server's URL for the process that sends the mail.
const URL: &str = "TEST_SMTP_URL";

/// Lines that the mail server received before and after the start of TLS.
#[derive(Debug)]
struct Lines {
    plain: Vec<String>,
    tls: Vec<String>,
}

/// Creates a folder with a self-signed certificate for this name.
fn certificate(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new("openssl")
        .current_dir(folder.path())
        .args(["req", "-x509", "-subj", "/CN=mail", "-days", "2", "-nodes"])
        .args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
        .args(["-out", "mail.pem", "-keyout", "mail.key"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-addext", &format!("subjectAltName={name}")])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    folder
}

/// TLS side of the mail server. `openssl` accepts one connection on its own port and passes the decrypted lines to this
/// process.
struct TlsEnd {
    port: u16,
    talk: JoinHandle<Vec<String>>,
}

impl TlsEnd {
    fn start(folder: &Path) -> Self {
        let mut child = Command::new("openssl")
            .current_dir(folder)
            .args(["s_server", "-accept", "127.0.0.1:0", "-naccept", "1"])
            .args(["-cert", "mail.pem", "-key", "mail.key"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        let accepting = lines.find(|line| line.starts_with("ACCEPT ")).unwrap();
        let port = accepting.rsplit_once(':').unwrap().1.parse().unwrap();
        let mut answers = child.stdin.take().unwrap();
        let talk = std::thread::spawn(move || {
            let mut talk = SmtpTalk::default();
            // Before `EHLO`, `openssl` prints details of the connection.
            for line in lines.skip_while(|line| !line.starts_with("EHLO ")) {
                let answer = talk.answer(line, "nobody");
                if answers.write_all(answer.as_bytes()).is_err() {
                    break;
                }
            }
            child.wait().unwrap();
            talk.told
        });
        Self { port, talk }
    }
}

/// Accepts one connection, and forwards it to the TLS side if the client requests STARTTLS.
fn hear(listener: &TcpListener, tls: Option<TlsEnd>) -> Lines {
    let (mut stream, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut talk = SmtpTalk::default();
    stream.write_all(b"220 mail.example\r\n").unwrap();
    while let Some(Ok(line)) = lines.next() {
        let is_hello = line.starts_with("EHLO ");
        let answer = talk.answer(line, "nobody");
        let answer = match &tls {
            Some(_) if is_hello => answer.replace("250 ", "250-") + "250 STARTTLS\r\n",
            _ => answer.to_owned(),
        };
        stream.write_all(answer.as_bytes()).unwrap();
        if talk.told.last().is_some_and(|line| line == "STARTTLS") {
            break;
        }
    }
    let tls = tls.map(|end| {
        hand_on(&stream, &TcpStream::connect(("127.0.0.1", end.port)).unwrap());
        end.talk.join().unwrap()
    });
    Lines {
        plain: talk.told,
        tls: tls.unwrap_or_default(),
    }
}

/// Copies data in both directions between two connections until both are closed.
fn hand_on(one: &TcpStream, other: &TcpStream) {
    std::thread::scope(|scope| {
        for (mut from, mut to) in [(one, other), (other, one)] {
            scope.spawn(move || {
                // An error means that the connection was closed.
                let _ = copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    });
}

/// Process for the tests below, which sends one mail and trusts only the certificate authorities of its environment.
/// The process ends when its standard input closes.
#[tokio::test]
#[ignore = "run by the tests below"]
async fn sends_one_mail() {
    let mail = MailConfig {
        smtp_url: std::env::var(URL).unwrap(),
        smtp_user: "haat".to_owned(),
        smtp_password: Secret::new("planted"),
        from: "sign-in@market.example".to_owned(),
        ..MailConfig::default()
    };
    let site = Site::with(DashboardConfig { mail, ..config() }).await;
    assert_eq!(ask(&mut Browser::new(&site), "asha@mail.example").await.status, 202);
    let input = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new()));
    input.await.unwrap().unwrap();
}

/// Sends a mail to a server with a certificate for `name`. The sender trusts either this certificate or another one for
/// the same name.
fn heard(name: &str, is_known: bool, offers_tls: bool) -> Lines {
    let (own, another) = (certificate(name), certificate(name));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let known = if is_known { &own } else { &another };
    let tls = offers_tls.then(|| TlsEnd::start(own.path()));
    let mut sender = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "starttls::sends_one_mail", "--ignored"])
        .env(URL, format!("smtp://{HOST}:{port}"))
        .env("SSL_CERT_FILE", known.path().join("mail.pem"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let heard = hear(&listener, tls);
    drop(sender.stdin.take());
    assert!(sender.wait().unwrap().success());
    heard
}

#[test]
fn a_server_that_goes_on_with_tls_is_told_password_and_mail_within_it_alone() {
    let heard = heard(OWN_NAME, true, true);
    assert_eq!(heard.plain, ["EHLO market.example", "STARTTLS"]);
    for line in [
        "EHLO market.example",
        "AUTH PLAIN AGhhYXQAcGxhbnRlZA==",
        "MAIL FROM:<sign-in@market.example>",
        "RCPT TO:<asha@mail.example>",
        "Subject: Sign in at market.example",
    ] {
        assert!(heard.tls.contains(&line.to_owned()), "{line}: {heard:?}");
    }
}

#[test]
fn a_server_that_offers_no_tls_is_told_neither_password_nor_mail() {
    let heard = heard(OWN_NAME, true, false);
    let rest: Vec<_> = heard.plain.iter().filter(|line| *line != "QUIT").collect();
    assert_eq!(rest, ["EHLO market.example"]);
}

#[test]
fn a_server_whose_certificate_is_not_known_or_names_another_is_told_neither_password_nor_mail() {
    for (name, is_known) in [(OWN_NAME, false), ("DNS:mail.example", true)] {
        let heard = heard(name, is_known, true);
        assert_eq!(heard.plain, ["EHLO market.example", "STARTTLS"], "{name}");
        assert_eq!(heard.tls, [""; 0], "{name}");
    }
}
