//! Tests that events reach people by e-mail, each once, until they unsubscribe.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use kit::SmtpTalk;
use mailer::{Mail, MailConfig, Mailer};
use serde_json::{Value, json};
use state::{LOCAL_ISSUER, LinkUse, NewSession, SessionLimits, SignInMethod};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::support::{Ask, Place, Server, World, on_both, product_id};

const ASHA: &str = "asha@mail.example";
const DAY_MS: i64 = 24 * 3_600_000;

/// Returns a market that keeps its e-mails, and the mailer from which the test reads them.
fn kept() -> (World, Mailer) {
    let config = MailConfig {
        outbox: true,
        ..MailConfig::default()
    };
    let mailer = Mailer::new(&config).unwrap().unwrap();
    let world = World {
        mailer: Some(mailer.clone()),
        ..World::new()
    };
    world.shelf.put(1, 600, true);
    (world, mailer)
}

/// Requests a sign-in link for an address and returns the account. With `follows`, the link is opened.
async fn account(server: &Server, address: &str, follows: bool) -> String {
    let (now, lifetime) = (kit::NOON.parse().unwrap(), Duration::from_secs(900));
    let address = address.parse().unwrap();
    let link = server.state.create_mailed_link(&address, lifetime, now).await.unwrap();
    if !follows {
        let account = server.state.find_or_create_account("mail", address.expose(), None, now);
        return account.await.unwrap().id.as_str().to_owned();
    }
    let session = NewSession {
        method: SignInMethod::Link,
        client: String::new(),
        limits: SessionLimits {
            idle_ms: 1_000,
            total_ms: 1_000,
        },
        replaces: None,
    };
    let used = server.state.use_sign_in_link(&link.hash(), session, now).await;
    let issued = match used.unwrap() {
        LinkUse::SignedIn(issued) => Some(issued),
        LinkUse::Refused(_) => None,
    };
    issued.unwrap().grant.account.as_str().to_owned()
}

fn wanted(email: &str, bound: i64) -> Value {
    json!({ "product_id": product_id(1), "price_below": bound, "email": email })
}

async fn ask(server: &Server, caller: &str, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
    let ask = Ask {
        caller,
        body,
        ..Ask::new(method, path)
    };
    let (status, _, answer) = server.ask(ask).await;
    (status.as_u16(), answer)
}

/// Creates a watch for Asha's account.
async fn watch(server: &Server, account: &str, bound: i64) -> Value {
    let (status, answer) = ask(server, account, Method::POST, "/v1/watches", Some(wanted(ASHA, bound))).await;
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

async fn fire(world: &World, server: &Server) {
    world.shelf.put(1, 450, true);
    server.watches.judge().await.unwrap();
}

/// Returns the path and query of the unsubscribe link.
fn stop_path(mail: &Mail) -> String {
    let url = mail.unsubscribe_url.as_ref().unwrap();
    assert!(mail.text.contains(url.as_str()), "{}", mail.text);
    format!("{}?{}", url.path(), url.query().unwrap())
}

#[test]
fn nobody_is_mailed_but_at_the_address_that_their_account_signed_in_with() {
    on_both(async |place| {
        let (world, mailer) = kept();
        let server = world.serve(&place).await;
        let asha = account(&server, ASHA, true).await;
        let unproved = account(&server, "ravi@mail.example", false).await;
        let now = kit::NOON.parse().unwrap();
        let local = server.state.find_or_create_account(LOCAL_ISSUER, "op", Some(ASHA), now);
        let local = local.await.unwrap().id.as_str().to_owned();
        for (caller, email) in [
            (asha.as_str(), "ravi@mail.example"),
            (&unproved, "ravi@mail.example"),
            (&local, ASHA),
            ("somebody", ASHA),
        ] {
            let (status, refused) = ask(&server, caller, Method::POST, "/v1/watches", Some(wanted(email, 500))).await;
            assert_eq!(
                (status, &refused["detail"][0]["loc"]),
                (422, &json!(["body", "email"])),
                "{caller}: {refused}"
            );
        }
        let made = watch(&server, &asha, 500).await;
        assert_eq!(
            (&made["email"], &made["webhook_url"], made.get("secret")),
            (&json!(ASHA), &Value::Null, None)
        );
        let rotate = format!("/v1/watches/{}/rotate-secret", made["id"].as_str().unwrap());
        assert_eq!(ask(&server, &asha, Method::POST, &rotate, None).await.0, 422);
        fire(&world, &server).await;
        assert_eq!(server.watches.deliver_due().await.unwrap(), 1);
        let mails = mailer.kept().unwrap();
        assert_eq!(mails.iter().map(|mail| mail.to.expose()).collect::<Vec<_>>(), [ASHA]);
    });
}

#[test]
fn an_event_is_one_mail_with_both_prices_and_the_stores_word() {
    on_both(async |place| {
        let (world, mailer) = kept();
        world.shelf.quote("a.signed.quote");
        let server = world.serve(&place).await;
        let asha = account(&server, ASHA, true).await;
        watch(&server, &asha, 500).await;
        fire(&world, &server).await;
        assert_eq!(server.watches.deliver_due().await.unwrap(), 1);
        world.clock.advance_ms(4 * DAY_MS);
        assert_eq!(server.watches.deliver_due().await.unwrap(), 0);
        let mails = mailer.kept().unwrap();
        let [mail] = &mails[..] else { panic!("{mails:?}") };
        assert!(mail.id.starts_with("evt_"));
        assert_eq!(mail.subject, "The price fell: Product 1");
        let text = mail
            .text
            .replace(mail.unsubscribe_url.as_ref().unwrap().as_str(), "STOP");
        let expected = format!(
            "Product 1, of alpha\n\nNow: 4.50 INR, in stock\n\nBefore: 6.00 INR, in stock\n\n\
             See it: https://market.example/products/{}\n\n\
             The store itself stated this. Signed quote of its statement (verify it with \
             https://market.example/.well-known/jwks.json):\n\
             a.signed.quote\n\n\
             You receive this because you set a watch at https://market.example/. To stop these e-mails: STOP\n",
            product_id(1)
        );
        assert_eq!(text, expected);
    });
}

#[test]
fn one_click_ends_the_mails_of_one_watch_and_looking_at_the_link_does_not() {
    on_both(async |place| {
        let (world, mailer) = kept();
        let server = world.serve(&place).await;
        let asha = account(&server, ASHA, true).await;
        let (first, second) = (watch(&server, &asha, 500).await, watch(&server, &asha, 470).await);
        fire(&world, &server).await;
        server.watches.deliver_due().await.unwrap();
        let mails = mailer.kept().unwrap();
        assert_eq!(mails.len(), 2);
        let paused = async |watch: &Value| {
            let path = format!("/v1/watches/{}", watch["id"].as_str().unwrap());
            ask(&server, &asha, Method::GET, &path, None).await.1["data"]["paused_at"].is_string()
        };
        let path = stop_path(&mails[0]);
        for changed in [path.replace("token=", "token=A"), "/watches/stop".to_owned()] {
            for method in [Method::GET, Method::POST] {
                assert_eq!(ask(&server, "", method, &changed, None).await.0, 404, "{changed}");
            }
        }
        let (status, page) = ask(&server, "", Method::GET, &path, None).await;
        assert!(
            status == 200 && page.as_str().unwrap().contains("<form method=\"post\">"),
            "{page}"
        );
        assert!(!paused(&first).await && !paused(&second).await);
        // An e-mail client sends the request without a cookie or key.
        assert_eq!(ask(&server, "", Method::POST, &path, None).await.0, 200);
        assert_eq!(u8::from(paused(&first).await) + u8::from(paused(&second).await), 1);
        world.shelf.put(1, 600, true);
        server.watches.judge().await.unwrap();
        fire(&world, &server).await;
        server.watches.deliver_due().await.unwrap();
        assert_eq!(mailer.kept().unwrap().len(), 3);
    });
}

#[test]
fn an_address_gets_so_many_mails_a_day_and_the_others_the_next_day() {
    on_both(async |place| {
        let (mut world, mailer) = kept();
        world.config.mails_per_address_per_day_max = 2;
        let server = world.serve(&place).await;
        let asha = account(&server, ASHA, true).await;
        for bound in [500, 501, 502] {
            watch(&server, &asha, bound).await;
        }
        fire(&world, &server).await;
        let mut told = Vec::new();
        for _ in 0..30 {
            server.watches.deliver_due().await.unwrap();
            told.push(mailer.kept().unwrap().len());
            world.clock.advance_ms(DAY_MS / 12);
        }
        assert_eq!((told[0], told[11], told[29]), (2, 2, 3), "{told:?}");
    });
}

/// Local mail server that refuses e-mails until it is told to accept them, and stops responding when it is told to.
#[derive(Clone)]
struct MailServer {
    address: SocketAddr,
    refuses: Arc<AtomicBool>,
    /// Number of lines of a conversation after which the server no longer responds. The greeting counts as one.
    silent_at: Arc<AtomicUsize>,
    /// Signal that the server no longer responds.
    is_silent: Arc<Notify>,
    /// E-mails that the server has accepted, each with the lines of its conversation.
    told: Arc<Mutex<Vec<Vec<String>>>>,
}

impl MailServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            refuses: Arc::default(),
            silent_at: Arc::new(AtomicUsize::new(usize::MAX)),
            is_silent: Arc::default(),
            told: Arc::default(),
        };
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(accepting.clone().talk(stream));
            }
        });
        server
    }

    /// Returns the mailer of a process that has just started.
    fn mailer(&self) -> Mailer {
        let config = MailConfig {
            smtp_url: format!("smtp://{}", self.address),
            from: "The market <market@market.example>".to_owned(),
            ..MailConfig::default()
        };
        Mailer::new(&config).unwrap().unwrap()
    }

    async fn talk(self, stream: TcpStream) {
        let (reading, mut writing) = stream.into_split();
        let (mut lines, mut talk) = (BufReader::new(reading).lines(), SmtpTalk::default());
        let mut answer = "220 mail.example\r\n";
        for number in 0.. {
            if number == self.silent_at.load(Ordering::SeqCst) {
                self.is_silent.notify_one();
                return std::future::pending().await;
            }
            if writing.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
            let Ok(Some(line)) = lines.next_line().await else {
                return;
            };
            let refused = if self.refuses.load(Ordering::SeqCst) {
                "RCPT"
            } else {
                "nobody"
            };
            let is_end = line == ".";
            answer = talk.answer(line, refused);
            if is_end {
                self.told.lock().unwrap().push(std::mem::take(&mut talk.told));
            }
        }
    }
}

/// Kills a server at every line that it sends to the mail server. SMTP cannot tell if an e-mail was accepted, so the
/// e-mail is sent twice if the mail server accepted it but the response was lost. Both copies have the same
/// `Message-ID`.
#[test]
fn a_server_that_is_killed_at_any_line_of_a_mail_sends_it_once_unless_it_was_taken() {
    on_both(async |place| {
        let mails = MailServer::start().await;
        let mut world = World::new();
        world.mailer = Some(mails.mailer());
        world.shelf.put(1, 600, true);
        let mut server = world.serve(&place).await;
        let asha = account(&server, ASHA, true).await;
        let made = watch(&server, &asha, 500).await;
        let (mut kills, mut doubled) = (0, 0);
        for line in 0.. {
            fire(&world, &server).await;
            mails.silent_at.store(line, Ordering::SeqCst);
            let is_killed = tokio::select! {
                () = mails.is_silent.notified() => true,
                _ = server.watches.deliver_due() => false,
            };
            let was_taken = is_killed && !mails.told.lock().unwrap().is_empty();
            mails.silent_at.store(usize::MAX, Ordering::SeqCst);
            drop(server);
            world.mailer = Some(mails.mailer());
            server = world.serve(&place).await;
            assert_eq!(server.watches.deliver_due().await.unwrap(), 0, "its lease lasts");
            world.clock.advance_ms(61_000);
            assert_eq!(
                server.watches.deliver_due().await.unwrap(),
                usize::from(is_killed),
                "at line {line}"
            );
            assert_eq!(copies_of_one(&mails), 1 + usize::from(was_taken), "at line {line}");
            if !is_killed {
                break;
            }
            kills += 1;
            doubled += usize::from(was_taken);
            world.shelf.put(1, 600, true);
            server.watches.judge().await.unwrap();
        }
        assert!(kills > 20, "an e-mail has more than {kills} lines");
        // The server waits for two responses after the last line of an e-mail: to that line, and to `QUIT`.
        assert_eq!(doubled, 2);
        let events = format!("/v1/watches/{}/events", made["id"].as_str().unwrap());
        let (_, told) = ask(&server, &asha, Method::GET, &events, None).await;
        let events = told["data"].as_array().unwrap();
        assert!(
            !events.is_empty() && events.iter().all(|event| event["state"] == "done"),
            "{told}"
        );
    });
}

/// Returns the number of e-mails that were accepted since the last call. All of them must be the same one.
fn copies_of_one(mails: &MailServer) -> usize {
    let taken = std::mem::take(&mut *mails.told.lock().unwrap());
    let ids: BTreeSet<&String> = taken
        .iter()
        .flatten()
        .filter(|line| line.starts_with("Message-ID: "))
        .collect();
    assert_eq!(ids.len(), 1, "{taken:?}");
    taken.len()
}

#[test]
fn a_mail_server_that_refuses_for_a_day_gets_the_mail_once() {
    on_both(async |place: Place| {
        let mails = MailServer::start().await;
        let world = World {
            mailer: Some(mails.mailer()),
            ..World::new()
        };
        world.shelf.put(1, 600, true);
        let server = world.serve(&place).await;
        let asha = account(&server, ASHA, true).await;
        let made = watch(&server, &asha, 500).await;
        fire(&world, &server).await;
        mails.refuses.store(true, Ordering::SeqCst);
        for _ in 0..12 {
            server.watches.deliver_due().await.unwrap();
            world.clock.advance_ms(DAY_MS / 12);
        }
        let events = format!("/v1/watches/{}/events", made["id"].as_str().unwrap());
        let (_, told) = ask(&server, &asha, Method::GET, &events, None).await;
        assert_eq!(
            (&told["data"][0]["state"], &told["data"][0]["failure"]),
            (&json!("waiting"), &json!("the mail server refuses the e-mail (550)")),
            "{told}"
        );
        assert!(mails.told.lock().unwrap().is_empty());
        mails.refuses.store(false, Ordering::SeqCst);
        world.clock.advance_ms(DAY_MS);
        assert_eq!(server.watches.deliver_due().await.unwrap(), 1);
        world.clock.advance_ms(DAY_MS);
        assert_eq!(server.watches.deliver_due().await.unwrap(), 0);
        let sent = mails.told.lock().unwrap().clone();
        assert_eq!(sent.len(), 1);
        let id = told["data"][0]["id"].as_str().unwrap();
        for line in [
            "RCPT TO:<asha@mail.example>",
            &format!("Message-ID: <haat.{id}@market.example>"),
            "Subject: The price fell: Product 1",
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
        ] {
            assert!(sent[0].contains(&line.to_owned()), "{line}: {sent:?}");
        }
        let link = sent[0]
            .iter()
            .find_map(|line| line.strip_prefix("List-Unsubscribe: <https://market.example"));
        let path = link.unwrap().strip_suffix('>').unwrap();
        assert_eq!(ask(&server, "", Method::POST, path, None).await.0, 200);
    });
}
