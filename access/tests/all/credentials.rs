//! Tests of the lookup of keys and sessions.

use std::sync::Arc;

use access::{Credentials, LimitsConfig, Plans};
use api::{Credential, Identify, KnownCaller, NotTaken, Prompt, Via};
use data_model::Clock;
use kit::SetClock;
use state::{KeyIndex, NewSession, Plan, SessionLimits, SessionToken, SignInMethod, State, StateTarget};

use crate::support::{EVENING, cli, create, memory, there};

struct Door {
    credentials: Credentials,
    keys: KeyIndex,
    state: State,
    clock: Arc<SetClock>,
    plans: Plans,
}

impl Door {
    async fn open() -> Self {
        Self::on(memory().await).await
    }

    async fn on(state: State) -> Self {
        let keys = KeyIndex::load(state.clone()).await.unwrap();
        let clock = SetClock::at(EVENING);
        let plans = Plans::of(&LimitsConfig::default()).unwrap();
        let as_clock: Arc<dyn Clock> = Arc::<SetClock>::clone(&clock);
        Self {
            credentials: Credentials::new(keys.clone(), state.clone(), plans.clone(), as_clock),
            keys,
            state,
            clock,
            plans,
        }
    }

    /// Looks up a known or malformed key, whose result is immediate.
    fn key(&self, text: &str) -> Result<Arc<KnownCaller>, NotTaken> {
        match self.credentials.identify(Credential::Key(text)) {
            Prompt::Now(answer) => answer,
            Prompt::Later(_) => panic!("a key was looked up outside the process"),
        }
    }

    /// Looks up a key that the index does not know or that has expired, so that the state is queried.
    async fn key_asked_for(&self, text: &str) -> Result<Arc<KnownCaller>, NotTaken> {
        there(self.credentials.identify(Credential::Key(text))).await
    }

    async fn session(&self, text: &str) -> Result<Arc<KnownCaller>, NotTaken> {
        there(self.credentials.identify(Credential::Session(text))).await
    }

    async fn sign_in(&self, total_ms: u64) -> (String, SessionToken) {
        let now = self.clock.now();
        let account = self
            .state
            .find_or_create_account(state::LOCAL_ISSUER, "meera", None, now);
        let account = account.await.unwrap().id;
        let new = NewSession {
            method: SignInMethod::Link,
            client: String::new(),
            limits: SessionLimits {
                idle_ms: total_ms,
                total_ms,
            },
            replaces: None,
        };
        let session = self.state.create_session(&account, new, now).await.unwrap();
        (account.as_str().to_owned(), session.token)
    }
}

#[tokio::test]
async fn a_key_is_known_with_its_plan_and_whose_it_is() {
    let door = Door::open().await;
    let own = create(&door.state, "Own", Plan::Granted, None).await;
    let app = create(&door.state, "App", Plan::Free, Some("acc_1")).await;
    door.keys.refresh().await.unwrap();
    let known = door.key(own.key.expose()).unwrap();
    let via = |id: &str, plan| Via::Key { id: id.into(), plan };
    assert_eq!(known.via, via(own.record.id.as_str(), "granted"));
    assert_eq!(known.id.as_str(), format!("key:{}", own.record.id));
    assert!(Arc::ptr_eq(&known.allowance, door.plans.of_plan(Plan::Granted)));
    let known = door.key(app.key.expose()).unwrap();
    assert_eq!(known.via, via(app.record.id.as_str(), "free"));
    assert_eq!(known.id.as_str(), "account:acc_1");
    assert!(Arc::ptr_eq(&known.allowance, door.plans.of_plan(Plan::Free)));
    // Both lookups return the same caller object.
    assert!(Arc::ptr_eq(&known, &door.key(app.key.expose()).unwrap()));
}

#[tokio::test]
async fn a_key_works_from_the_moment_it_is_made() {
    let door = Door::open().await;
    for name in ["One", "Two"] {
        let made = create(&door.state, name, Plan::Free, None).await;
        let text = made.key.expose();
        // Concurrent requests share one query to the state.
        let (first, second, third) = tokio::join!(
            door.key_asked_for(text),
            door.key_asked_for(text),
            door.key_asked_for(text)
        );
        assert!(first.is_ok() && second.is_ok() && third.is_ok());
        assert!(door.key(text).is_ok());
    }
}

#[tokio::test]
async fn a_key_that_is_wrong_over_or_revoked_is_not_taken() {
    let door = Door::open().await;
    let key = create(&door.state, "App", Plan::Free, None).await;
    let text = key.key.expose().to_owned();
    assert!(door.key_asked_for(&text).await.is_ok());
    let unknown = state::ApiKey::generate().unwrap();
    assert_eq!(
        door.key_asked_for(unknown.expose()).await.unwrap_err(),
        NotTaken::Invalid
    );
    for wrong in [
        "",
        "haat_live_",
        "nonsense",
        &text[..40],
        &format!("{text}x"),
        &text.to_lowercase(),
    ] {
        assert_eq!(door.key(wrong).unwrap_err(), NotTaken::Invalid, "{wrong}");
    }
    let grace = std::time::Duration::from_secs(60);
    let actor = cli();
    let rotated = door.state.rotate_key(&key.record.id, grace, &actor, door.clock.now());
    let next = rotated.await.unwrap().issued;
    door.keys.refresh().await.unwrap();
    assert!(door.key(&text).is_ok() && door.key(next.key.expose()).is_ok());
    door.clock.advance_ms(60_000);
    assert_eq!(door.key_asked_for(&text).await.unwrap_err(), NotTaken::Invalid);
    door.state
        .revoke_key(&next.record.id, &cli(), door.clock.now())
        .await
        .unwrap();
    assert!(door.key(next.key.expose()).is_ok());
    door.keys.refresh().await.unwrap();
    assert_eq!(
        door.key_asked_for(next.key.expose()).await.unwrap_err(),
        NotTaken::Invalid
    );
}

#[tokio::test]
async fn a_key_that_is_rotated_stays_the_same_caller() {
    let door = Door::open().await;
    let first = create(&door.state, "Own", Plan::Free, None).await;
    let other = create(&door.state, "Other", Plan::Free, None).await;
    let wanted = format!("key:{}", first.record.id);
    let mut newest = first;
    for _ in 0..3 {
        let (grace, actor) = (std::time::Duration::from_secs(60), cli());
        let rotated = door
            .state
            .rotate_key(&newest.record.id, grace, &actor, door.clock.now());
        newest = rotated.await.unwrap().issued;
        door.keys.refresh().await.unwrap();
        let known = door.key(newest.key.expose()).unwrap();
        assert_eq!(known.id.as_str(), wanted);
        assert!(matches!(&known.via, Via::Key { id, .. } if id.as_ref() == newest.record.id.as_str()));
    }
    // A new server gives the rotated key the same caller id.
    let fresh = KeyIndex::load(door.state.clone()).await.unwrap();
    let as_clock: Arc<dyn Clock> = Arc::<SetClock>::clone(&door.clock);
    let credentials = Credentials::new(fresh, door.state.clone(), door.plans.clone(), as_clock);
    let Prompt::Now(Ok(known)) = credentials.identify(Credential::Key(newest.key.expose())) else {
        panic!("the key is not taken")
    };
    assert_eq!(known.id.as_str(), wanted);
    assert_ne!(door.key(other.key.expose()).unwrap().id.as_str(), wanted);
}

/// Asserts that a session that ends at one server ends at another server with the same state immediately.
async fn ends_at_once(target: StateTarget) {
    let here = Door::on(State::open(&target).await.unwrap()).await;
    let there = Door::on(State::open(&target).await.unwrap()).await;
    let (account, token) = here.sign_in(3_600_000).await;
    for door in [&here, &there] {
        let known = door.session(token.text()).await.unwrap();
        assert_eq!(
            (known.id.as_str(), &known.via),
            (format!("account:{account}").as_str(), &Via::Session)
        );
        assert!(Arc::ptr_eq(&known.allowance, door.plans.of_session()));
    }
    here.state.end_session(&token.hash(), here.clock.now()).await.unwrap();
    for door in [&here, &there] {
        assert_eq!(door.session(token.text()).await.unwrap_err(), NotTaken::Invalid);
    }
}

#[tokio::test]
async fn a_session_that_is_signed_out_ends_at_once_on_every_server() {
    let folder = tempfile::tempdir().unwrap();
    ends_at_once(StateTarget::Folder(folder.path().join("state"))).await;
    if let Some(url) = kit::postgres_database().await {
        ends_at_once(StateTarget::postgres(&url).unwrap()).await;
    }
}

#[tokio::test]
async fn a_session_ends_when_its_time_is_over() {
    let door = Door::open().await;
    let (_, token) = door.sign_in(1_000).await;
    door.clock.advance_ms(999);
    door.session(token.text()).await.unwrap();
    door.clock.advance_ms(1);
    assert_eq!(door.session(token.text()).await.unwrap_err(), NotTaken::Invalid);
}

#[tokio::test]
async fn forged_sessions_are_not_taken_and_malformed_ones_not_even_looked_up() {
    let door = Door::open().await;
    let forged = SessionToken::generate().unwrap();
    assert_eq!(door.session(forged.text()).await.unwrap_err(), NotTaken::Invalid);
    for malformed in [
        "",
        "nonsense",
        &forged.text()[1..],
        "haat_sess_'; DROP TABLE sessions; --",
    ] {
        let answer = door.credentials.identify(Credential::Session(malformed));
        assert!(matches!(answer, Prompt::Now(Err(NotTaken::Invalid))), "{malformed}");
    }
}

#[tokio::test]
async fn without_the_state_known_keys_hold_on_and_nothing_else_can_be_asked_for() {
    let door = Door::open().await;
    let key = create(&door.state, "App", Plan::Free, None).await;
    door.keys.refresh().await.unwrap();
    let (_, token) = door.sign_in(3_600_000).await;
    door.session(token.text()).await.unwrap();
    door.state.close().await;
    assert!(door.key(key.key.expose()).is_ok());
    let unknown = state::ApiKey::generate().unwrap();
    assert_eq!(
        door.key_asked_for(unknown.expose()).await.unwrap_err(),
        NotTaken::Unavailable
    );
    assert_eq!(door.session(token.text()).await.unwrap_err(), NotTaken::Unavailable);
    assert!(door.key(key.key.expose()).is_ok());
}

#[tokio::test]
async fn debug_output_holds_no_key_and_no_session() {
    let door = Door::open().await;
    let key = create(&door.state, "App", Plan::Free, None).await;
    door.keys.refresh().await.unwrap();
    let (_, token) = door.sign_in(3_600_000).await;
    door.session(token.text()).await.unwrap();
    let known = door.key(key.key.expose()).unwrap();
    let shown = format!("{:?} {known:?}", door.credentials);
    assert!(
        !shown.contains(&key.key.expose()[10..37]) && !shown.contains(&token.text()[10..]),
        "{shown}"
    );
}

#[tokio::test]
async fn forged_sessions_of_one_network_are_not_looked_up_after_some() {
    let site = crate::site::Site::open().await;
    let (_, session) = site.sign_in().await;
    for _ in 0..60 {
        let forged = state::SessionToken::generate().unwrap().text().to_owned();
        let refused = site.get_in("/v1/me", &forged).await;
        assert_eq!((refused.status, refused.code().as_str()), (401, "invalid_session"));
        // These requests are slow enough for the limit of any network.
        site.clock.advance_ms(200);
    }
    // A valid session is not looked up either. The request is anonymous, so it may call only open operations.
    let refused = site.get_in("/v1/me", &session).await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "rate_limit"));
    assert_eq!(site.get_in("/v1/plans", &session).await.status, 200);
    let (key, _) = site.key("App", Plan::Free, None).await;
    assert_eq!(site.get_with("/v1/me", &key).await.status, 200);
}
