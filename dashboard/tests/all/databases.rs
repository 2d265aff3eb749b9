//! Tests of sign-in by mail with two servers over each kind of database.

use api::OpenRouter;
use serde_json::json;
use state::{State, StateTarget};

use crate::mail::{ask, shown, token};
use crate::support::{Browser, Site};

/// Asserts that a link mailed by one server works once at another server, and that both servers know the session.
async fn signs_in(target: StateTarget) {
    let open = async || State::open(&target).await.unwrap();
    let one = Site::on(open().await, shown(), OpenRouter::default());
    let other = Site::on(open().await, shown(), OpenRouter::default());
    let mut accounts = Vec::new();
    for _ in 0..2 {
        let mut asking = Browser::new(&one);
        assert_eq!(ask(&mut asking, "asha@mail.example").await.status, 202);
        let mails = asking.get("/dashboard/api/mails").await.data();
        let link = json!({ "token": token(mails[0]["text"].as_str().unwrap()) });
        let mut browser = Browser::new(&other);
        let used = browser.post("/dashboard/api/link", &link).await;
        assert_eq!(used.data(), json!({ "signed_in": true }));
        let again = asking.post("/dashboard/api/link", &link).await;
        again.refused(403, "forbidden");
        assert_eq!(again.json()["why"], "used");
        let mut here = Browser::new(&one);
        here.cookies = browser.cookies;
        let account = here.get("/dashboard/api/session").await.data()["account"].clone();
        assert_eq!(account["name"], "asha@mail.example");
        accounts.push(account);
    }
    assert_eq!(accounts[0], accounts[1]);
}

#[tokio::test]
async fn people_sign_in_by_mail_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    signs_in(StateTarget::Folder(folder.path().join("state"))).await;
}

#[tokio::test]
async fn people_sign_in_by_mail_on_postgresql() {
    if let Some(url) = kit::postgres_database().await {
        signs_in(StateTarget::postgres(&url).unwrap()).await;
    }
}
