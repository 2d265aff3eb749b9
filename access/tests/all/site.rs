//! Routes behind a guard, as on a real server.

use std::net::IpAddr;
use std::sync::Arc;

use access::schema::KeyWay;
use access::{
    Access, AccessConfig, AccessParts, Credentials, LimitsConfig, LocalLimits, Plans, UsageMeter, open_router,
};
use api::{EdgeConfig, EdgeRouter, Guard, Identify, Limit, Meter, SESSION_COOKIE};
use axum::body::Body;
use data_model::Clock;
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use kit::SetClock;
use serde_json::Value;
use state::{KeyIndex, NewSession, Plan, SessionLimits, SignInMethod, State};
use tokio_util::sync::CancellationToken;

use crate::support::{EVENING, INDIA, create, memory};

pub(crate) struct Site {
    pub(crate) router: EdgeRouter,
    pub(crate) state: State,
    keys: KeyIndex,
    pub(crate) clock: Arc<SetClock>,
    _meter: Arc<UsageMeter>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    /// Returns status and body, with names instead of values that differ between runs.
    pub(crate) fn told(&self, names: &[(&str, &str)]) -> String {
        let value: Value = serde_json::from_str(&self.body).unwrap();
        let mut text = format!("{} {}", self.status, serde_json::to_string_pretty(&value).unwrap());
        for (value, name) in names {
            text = text.replace(value, name);
        }
        text
    }

    pub(crate) fn code(&self) -> String {
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        problem["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub(crate) async fn answer(router: &EdgeRouter, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::get(path)
        .header("host", "haat.test")
        .header("x-request-id", "one-request");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let peer: IpAddr = "192.0.2.1".parse().unwrap();
    let response = router
        .answer_from(Some(peer), request.body(Body::empty()).unwrap())
        .await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}

impl Site {
    pub(crate) async fn open() -> Self {
        Self::with_sign_in(vec![KeyWay::Mail, KeyWay::Operator]).await
    }

    pub(crate) async fn with_sign_in(sign_in: Vec<KeyWay>) -> Self {
        let state = memory().await;
        let keys = KeyIndex::load(state.clone()).await.unwrap();
        let clock = SetClock::at(EVENING);
        let as_clock: Arc<dyn Clock> = Arc::<SetClock>::clone(&clock);
        let plans = Plans::of(&LimitsConfig::default()).unwrap();
        let config = AccessConfig {
            usage_flush_ms: 2,
            ..AccessConfig::default()
        };
        let stop = CancellationToken::new();
        let (meter, writing) = UsageMeter::start(state.clone(), Arc::clone(&as_clock), INDIA, &config, stop);
        tokio::spawn(writing);
        let local = Arc::new(LocalLimits::new(plans.clone(), 1_000, INDIA, Arc::clone(&as_clock)));
        let limits: Arc<dyn Limit> = local;
        let limit = Arc::clone(&limits);
        let identify: Arc<dyn Identify> = Arc::new(Credentials::new(
            keys.clone(),
            state.clone(),
            plans.clone(),
            Arc::clone(&as_clock),
        ));
        let meters: Arc<dyn Meter> = Arc::<UsageMeter>::clone(&meter);
        let guard = Guard {
            identify,
            limit: Some(limit),
            meter: Some(meters),
            anonymous: Arc::clone(plans.anonymous()),
            keyed: config.keyed.clone(),
            ..Guard::default()
        };
        let access = Access::new(AccessParts {
            plans,
            keyed: config.keyed,
            limits: Some(limits),
            known: Some((state.clone(), Arc::clone(&meter))),
            sign_in,
            clock: as_clock,
        });
        let router = open_router(access).edge(EdgeConfig {
            guard: Arc::new(guard),
            ..EdgeConfig::default()
        });
        Self {
            router,
            state,
            keys,
            clock,
            _meter: meter,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        answer(&self.router, path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, key: &str) -> Answer {
        answer(&self.router, path, &[("x-service-key", key)]).await
    }

    pub(crate) async fn get_in(&self, path: &str, session: &str) -> Answer {
        let cookie = format!("{SESSION_COOKIE}={session}");
        // The request has the headers of a script on the site's own page.
        let headers = [("cookie", cookie.as_str()), ("sec-fetch-site", "same-origin")];
        answer(&self.router, path, &headers).await
    }

    pub(crate) async fn key(
        &self,
        name: &str,
        plan: Plan,
        account: Option<&str>,
    ) -> (String, Vec<(String, &'static str)>) {
        let issued = create(&self.state, name, plan, account).await;
        self.keys.refresh().await.unwrap();
        let names = vec![
            (issued.record.id.as_str().to_owned(), "KEY"),
            (format!("\"{}\"", issued.record.hint), "\"HINT\""),
        ];
        (issued.key.expose().to_owned(), names)
    }

    /// Signs an account in. Returns its id and the cookie's value.
    pub(crate) async fn sign_in(&self) -> (String, String) {
        let now = self.clock.now();
        let account = self
            .state
            .find_or_create_account(state::LOCAL_ISSUER, "meera", Some("meera@example.com"), now);
        let account = account.await.unwrap().id;
        let new = NewSession {
            method: SignInMethod::Link,
            client: String::new(),
            limits: SessionLimits {
                idle_ms: 3_600_000,
                total_ms: 3_600_000,
            },
            replaces: None,
        };
        let session = self.state.create_session(&account, new, now).await.unwrap();
        (account.as_str().to_owned(), session.token.text().to_owned())
    }
}

/// Converts names to the parameter type of [`Answer::told`].
pub(crate) fn borrowed<'a>(names: &'a [(String, &'static str)]) -> Vec<(&'a str, &'a str)> {
    names.iter().map(|(value, name)| (value.as_str(), *name)).collect()
}
