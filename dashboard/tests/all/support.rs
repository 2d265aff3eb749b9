use std::collections::BTreeMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use api::{Allowance, EdgeConfig, EdgeRouter, OpenRouter};
use axum::body::{Body, to_bytes};
use dashboard::{Dashboard, DashboardConfig, DashboardConfigError, Market};
use http::{HeaderMap, Request, StatusCode, header};
use kit::SetClock;
use serde_json::Value;
use state::{AccountId, Actor, LOCAL_ISSUER, LinkToken, State, StateTarget};

/// Default origin of [`Site`]s.
pub(crate) const ORIGIN: &str = "https://market.example";

/// Dashboard with a state database of its own.
pub(crate) struct Site {
    pub(crate) state: State,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) router: EdgeRouter,
}

pub(crate) fn config() -> DashboardConfig {
    DashboardConfig {
        public_url: ORIGIN.to_owned(),
        ..DashboardConfig::default()
    }
}

/// Returns a market in a time zone five and a half hours ahead of UTC. A free key allows 20 requests per second and
/// 50,000 per day.
pub(crate) fn market() -> Market {
    let [per_second, burst] = [20, 60].map(|number| NonZeroU32::new(number).unwrap());
    Market {
        time_zone: "Asia/Kolkata".parse().unwrap(),
        free: Arc::new(Allowance::new(per_second, burst, Some(50_000))),
        granted: Arc::new(Allowance::unlimited()),
    }
}

pub(crate) fn dashboard(
    state: &State,
    clock: &Arc<SetClock>,
    config: DashboardConfig,
) -> Result<Dashboard, DashboardConfigError> {
    let clock = Arc::clone(clock);
    Dashboard::new(state.clone(), clock, market(), config)
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::with(config()).await
    }

    pub(crate) async fn with(config: DashboardConfig) -> Self {
        let state = State::open(&StateTarget::Memory).await.unwrap();
        Self::on(state, config, OpenRouter::default())
    }

    /// Creates a site over an existing state database, with additional routes of the test.
    pub(crate) fn on(state: State, config: DashboardConfig, more: OpenRouter) -> Self {
        let clock = SetClock::noon();
        let routes = dashboard(&state, &clock, config).unwrap().open_router().merge(more);
        Self {
            router: routes.edge(EdgeConfig::default()),
            state,
            clock,
        }
    }

    /// Creates a sign-in link from the operator for `name`, and returns it with the account.
    pub(crate) async fn link(&self, name: &str) -> (LinkToken, AccountId) {
        let now = data_model::Clock::now(&*self.clock);
        let account = self.state.find_or_create_account(LOCAL_ISSUER, name, None, now);
        let id = account.await.unwrap().id;
        let (lifetime, operator) = (Duration::from_secs(900), Actor::Operator("cli".to_owned()));
        let link = self.state.create_sign_in_link(&id, lifetime, &operator, now).await;
        (link.unwrap(), id)
    }

    pub(crate) async fn signed_in(&self, name: &str) -> Browser<'_> {
        let mut browser = Browser::new(self);
        let (link, _) = self.link(name).await;
        let told = browser
            .post("/dashboard/api/link", &serde_json::json!({ "token": link.text() }))
            .await;
        assert_eq!(told.status, StatusCode::OK, "{told:?}");
        browser
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.text());
        self.json()["data"].clone()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        assert_eq!(self.json()["code"], code, "{}", self.text());
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn cookies(&self) -> Vec<String> {
        let values = self.headers.get_all(header::SET_COOKIE).into_iter();
        values.map(|value| value.to_str().unwrap().to_owned()).collect()
    }
}

/// Simulated browser on the dashboard's page, which stores cookies and sends the headers that name the origin.
pub(crate) struct Browser<'a> {
    pub(crate) site: &'a Site,
    pub(crate) cookies: BTreeMap<String, String>,
    pub(crate) from: Option<IpAddr>,
}

impl<'a> Browser<'a> {
    pub(crate) fn new(site: &'a Site) -> Self {
        Self {
            site,
            cookies: BTreeMap::new(),
            from: None,
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send(self.page("GET", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn delete(&mut self, path: &str) -> Answer {
        self.send(self.page("DELETE", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.with_body("POST", path, body).await
    }

    pub(crate) async fn with_body(&mut self, method: &str, path: &str, body: &Value) -> Answer {
        let request = self.page(method, path).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    /// Builds a request like those of the page's script.
    pub(crate) fn page(&self, method: &str, path: &str) -> http::request::Builder {
        self.plain(method, path)
            .header("sec-fetch-site", "same-origin")
            .header("origin", ORIGIN)
            .header("x-haat-dashboard", "1")
    }

    /// Builds a request that has only the browser's cookies.
    pub(crate) fn plain(&self, method: &str, path: &str) -> http::request::Builder {
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "market.example");
        let request = request.header(
            "user-agent",
            "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36",
        );
        if cookies.is_empty() {
            request
        } else {
            request.header("cookie", cookies.join("; "))
        }
    }

    pub(crate) async fn send(&mut self, request: Request<Body>) -> Answer {
        let answer = send_from(&self.site.router, self.from, request).await;
        for line in answer.cookies() {
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }
}

pub(crate) async fn send_from(router: &EdgeRouter, from: Option<IpAddr>, request: Request<Body>) -> Answer {
    let (parts, body) = router.answer_from(from, request).await.into_parts();
    Answer {
        status: parts.status,
        headers: parts.headers,
        body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
    }
}
