//! Tests of mails as a local mail server receives them.

use dashboard::DashboardConfig;
use kit::SmtpTalk;
use mailer::MailConfig;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::mail::{ask, token};
use crate::support::{Browser, Site, config};

/// Serves one SMTP client and returns all lines that it sent.
async fn serve(stream: TcpStream, refused: &str) -> Vec<String> {
    let (reading, mut writing) = stream.into_split();
    let (mut lines, mut talk) = (BufReader::new(reading).lines(), SmtpTalk::default());
    writing.write_all(b"220 mail.example\r\n").await.unwrap();
    while let Ok(Some(line)) = lines.next_line().await {
        let answer = talk.answer(line, refused);
        writing.write_all(answer.as_bytes()).await.unwrap();
    }
    talk.told
}

/// Creates a site that sends mails to a local server. The channel receives the lines of each connection.
async fn site(refused: &'static str) -> (Site, mpsc::Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mail = MailConfig {
        smtp_url: format!("smtp://{}", listener.local_addr().unwrap()),
        from: "The market <sign-in@market.example>".to_owned(),
        ..MailConfig::default()
    };
    let (telling, told) = mpsc::channel(9);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = telling.send(serve(stream, refused).await).await;
        }
    });
    (Site::with(DashboardConfig { mail, ..config() }).await, told)
}

#[tokio::test]
async fn a_mail_goes_over_smtp_and_its_link_signs_in() {
    let (site, mut told) = site("nobody").await;
    let mut browser = Browser::new(&site);
    assert_eq!(ask(&mut browser, "asha@mail.example").await.status, 202);
    let told = told.recv().await.unwrap();
    for line in [
        "EHLO market.example",
        "MAIL FROM:<sign-in@market.example>",
        "RCPT TO:<asha@mail.example>",
        "DATA",
        "To: asha@mail.example",
        "Subject: Sign in at market.example",
        "Content-Type: text/plain; charset=utf-8",
    ] {
        assert!(told.contains(&line.to_owned()), "{line}: {told:?}");
    }
    // The quoted-printable encoding wraps long lines, so they are joined again.
    let token = token(&told.join("\n").replace("=\n", ""));
    let used = browser.post("/dashboard/api/link", &json!({ "token": token })).await;
    assert_eq!(used.data(), json!({ "signed_in": true }));
    let here = browser.get("/dashboard/api/session").await.data();
    assert_eq!(here["mails_page"], json!(null));
    browser
        .get("/dashboard/api/mails")
        .await
        .refused(404, "route_not_found");
}

#[tokio::test]
async fn a_mail_that_the_server_refuses_is_answered_alike_and_the_next_one_goes() {
    let (site, mut told) = site("<asha@").await;
    let mut browser = Browser::new(&site);
    let refused = ask(&mut browser, "asha@mail.example").await;
    let sent = ask(&mut browser, "ravi@mail.example").await;
    assert_eq!((refused.status, refused.data()), (sent.status, sent.data()));
    let first = told.recv().await.unwrap();
    assert!(!first.contains(&"DATA".to_owned()), "{first:?}");
    let second = told.recv().await.unwrap();
    assert!(second.contains(&"RCPT TO:<ravi@mail.example>".to_owned()), "{second:?}");
}
