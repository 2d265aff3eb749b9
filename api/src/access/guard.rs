use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::extract::Request;
use data_model::{ErrorCode, Timestamp};
use http::{HeaderMap, HeaderValue, Method, header};

use super::credential::{Credential, CredentialError};
use super::{
    Allowance, Caller, ClientNetwork, ForwardedHeader, Identify, KnownCaller, Limit, Meter, NoCredentials, NotTaken,
    Outcome, Prompt, Tries, TryKey, Verdict, Via,
};
use crate::{AddressRanges, Problem};

const OTHER_KEY_WANTED: HeaderValue = HeaderValue::from_static("Bearer realm=\"haat\", error=\"invalid_token\"");

/// Maximum number of invalid sessions per client and minute. A browser sends the cookie of an expired session with
/// every request until the page removes the cookie.
const FORGED_MAX: u32 = 60;

/// Start of the clock that counts invalid sessions.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Time since the start of the process. Changes of the system clock do not affect it.
fn passed() -> Timestamp {
    Timestamp::from_micros(i64::try_from(BEGIN.elapsed().as_micros()).unwrap_or(i64::MAX))
}

/// Operation ids, as in the interface description.
pub type Operations = BTreeSet<String>;

/// The access check of a server. By default everybody may call everything, and no credential is accepted.
#[derive(Debug, Clone)]
pub struct Guard {
    /// Identifies keys and sessions.
    pub identify: Arc<dyn Identify>,
    /// Counts and limits requests under `/v1/`, if limits are enabled.
    pub limit: Option<Arc<dyn Limit>>,
    /// Counts the usage of keys under `/v1/`.
    pub meter: Option<Arc<dyn Meter>>,
    /// Limits of each anonymous caller, and of callers without limits of their own.
    pub anonymous: Arc<Allowance>,
    /// Operations that need a key or a session.
    pub keyed: Operations,
    /// Proxies that are trusted to name the client they forward for.
    pub trusted_proxies: AddressRanges,
    /// Header in which trusted proxies name the client.
    pub forwarded_header: ForwardedHeader,
    /// Counter of forged session cookies, each of which costs a lookup in the state.
    pub forged_sessions: Arc<Tries<ClientNetwork>>,
}

impl Default for Guard {
    fn default() -> Self {
        Self {
            identify: Arc::new(NoCredentials),
            limit: None,
            meter: None,
            anonymous: Arc::new(Allowance::unlimited()),
            keyed: Operations::new(),
            trusted_proxies: AddressRanges::default(),
            forwarded_header: ForwardedHeader::default(),
            forged_sessions: Arc::new(Tries::new(FORGED_MAX, Duration::from_secs(60))),
        }
    }
}

/// Access facts about a route.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouteAccess {
    /// True if requests count towards limits. Requests under `/v1/` and requests for equally expensive documents count.
    /// Requests for other pages and probes do not count.
    pub(crate) counted: bool,
    /// Methods that need a key or a session.
    pub(crate) keyed: Vec<Method>,
    /// True if pages of any origin may read the route.
    pub(crate) any_origin: bool,
    /// True if a `POST` of the route writes nothing.
    pub(crate) reads_by_post: bool,
    /// True if handlers get the network of the request.
    pub(crate) tells_network: bool,
    /// True if the route is served even after a limit is reached, because it reports the limits.
    pub(crate) past_limits: bool,
    /// True if a request may cost more than one request.
    pub(crate) costs_more: bool,
}

/// Decision to admit or refuse a request.
#[derive(Debug)]
pub(crate) struct GuardDecision {
    /// Caller, or the problem that is the response to a refused request.
    pub(crate) outcome: Result<Caller, Problem>,
    /// Limits that the response states.
    pub(crate) told: Option<(Verdict, Arc<Allowance>)>,
}

impl GuardDecision {
    fn refused(problem: Problem) -> Self {
        Self {
            outcome: Err(problem),
            told: None,
        }
    }

    /// Adds the limits to the response headers.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        if let Some((verdict, allowance)) = &self.told {
            verdict.tell(allowance, headers);
        }
    }
}

/// Facts about a request that are needed once the caller is identified.
#[derive(Debug, Clone, Copy)]
struct AdmissionContext {
    counted: bool,
    keyed: bool,
    past_limits: bool,
    /// True if the request may come from outside this site's pages.
    foreign: bool,
    network: Option<ClientNetwork>,
}

impl Guard {
    /// Returns the client's network for a request with these headers from `peer`.
    pub(crate) fn network(&self, peer: IpAddr, headers: &HeaderMap) -> ClientNetwork {
        ClientNetwork::of_request(peer, headers, &self.trusted_proxies, self.forwarded_header)
    }

    /// Admits or refuses a request: identifies the caller, and checks permissions and limits.
    pub(crate) fn enter(
        self: &Arc<Self>,
        request: &Request,
        network: Option<ClientNetwork>,
        route: &RouteAccess,
    ) -> Prompt<GuardDecision> {
        let headers = request.headers();
        let credential = Credential::of(headers, request.uri().query());
        let keyed = route.needs_key(request.method());
        let asking = AdmissionContext {
            counted: route.counted,
            keyed,
            past_limits: route.past_limits,
            foreign: matches!(credential, Ok(Some(Credential::Session(_)))) && may_be_foreign(request, keyed),
            network,
        };
        let credential = match credential {
            Ok(Some(credential)) => credential,
            Ok(None) => return self.admit(Ok(None), asking),
            Err(unreadable) => return self.admit(Err(unreadable.problem()), asking),
        };
        // Pages check sessions themselves, because an expired session must not block the sign-in page.
        if matches!(credential, Credential::Session(_)) && !route.counted {
            return self.admit(Ok(None), asking);
        }
        let is_session = matches!(credential, Credential::Session(_));
        match self.identify.identify(credential) {
            Prompt::Now(known) => self.admit(identified(known, is_session, asking.keyed), asking),
            Prompt::Later(known) => {
                if is_session && let Err(wait) = self.forged_sessions.check(TryKey::of_network(network), passed()) {
                    return self.unknown(asking, wait);
                }
                let guard = Arc::clone(self);
                Prompt::Later(Box::pin(async move {
                    let known = known.await;
                    if is_session && matches!(known, Err(NotTaken::Invalid)) {
                        guard.forged_sessions.note(TryKey::of_network(network), passed());
                    }
                    guard
                        .admit(identified(known, is_session, asking.keyed), asking)
                        .get()
                        .await
                }))
            }
        }
    }

    /// Handles a session without a lookup, because its network sent too many invalid ones. Operations that are open to
    /// everybody treat the caller as anonymous.
    fn unknown(&self, asking: AdmissionContext, wait: Duration) -> Prompt<GuardDecision> {
        if !asking.keyed {
            return self.admit(Ok(None), asking);
        }
        let problem = Problem::new(ErrorCode::RateLimit).detail("Too many requests with sessions that are not valid.");
        Prompt::Now(GuardDecision::refused(problem.retry_after(wait)))
    }

    fn admit(
        &self,
        known: Result<Option<Arc<KnownCaller>>, Problem>,
        asking: AdmissionContext,
    ) -> Prompt<GuardDecision> {
        // A rejected credential counts as a request of its network, so that guessing keys gives no extra attempts.
        let (known, not_taken) = match known {
            Ok(known) => (known, None),
            Err(problem) if matches!(problem.code(), ErrorCode::InvalidKey | ErrorCode::InvalidSession) => {
                (None, Some(problem))
            }
            Err(problem) => return Prompt::Now(GuardDecision::refused(problem)),
        };
        let caller = match known {
            Some(known) if asking.foreign && matches!(known.via, Via::Session | Via::Guest { .. }) => {
                let detail = "A session is accepted only from this site's own pages. Other clients must send a key.";
                let problem = Problem::new(ErrorCode::Forbidden).detail(detail);
                return Prompt::Now(GuardDecision::refused(problem));
            }
            Some(mut known) => {
                if matches!(known.via, Via::Guest { .. }) {
                    let network = asking.network;
                    Arc::make_mut(&mut known).via = Via::Guest { network };
                }
                Caller::Known(known)
            }
            None => Caller::Anonymous(asking.network),
        };
        let wanting = not_taken.or_else(|| (asking.keyed && caller.known().is_none()).then(missing));
        let Some(limit) = self.limit.as_ref().filter(|_| asking.counted) else {
            return Prompt::Now(GuardDecision {
                outcome: wanting.map_or(Ok(caller), Err),
                told: None,
            });
        };
        let allowance = caller.known().map_or(&self.anonymous, |known| &known.allowance);
        let allowance = Arc::clone(allowance);
        let counted = counted(&caller);
        match limit.admit(&counted) {
            Prompt::Now(verdict) if !asking.goes_past(&verdict) => {
                Prompt::Now(judged(caller, wanting, verdict, allowance))
            }
            verdict => {
                let limit = Arc::clone(limit);
                Prompt::Later(Box::pin(async move {
                    let mut verdict = verdict.get().await;
                    if asking.goes_past(&verdict) {
                        verdict.outcome = match verdict.outcome {
                            // Such a route may exceed the rate limit by one more burst. A caller that requests only
                            // such routes is refused after that.
                            Outcome::TooFast(wait) if allowance.burst_time().is_some_and(|most| wait > most) => {
                                Outcome::TooFast(wait)
                            }
                            // The rate limit comes before the daily limit: a caller without remaining burst is too
                            // fast.
                            Outcome::TooManyToday(_) if verdict.remaining == Some(0) => {
                                Outcome::TooFast(Duration::from_secs(1))
                            }
                            _ => {
                                limit.owe(&counted, 1).get().await;
                                Outcome::Allowed
                            }
                        };
                    }
                    judged(caller, wanting, verdict, allowance)
                }))
            }
        }
    }

    /// Checks that `caller` may call an operation according to the access table.
    ///
    /// # Errors
    /// `missing_credentials`
    pub fn check(&self, caller: &Caller, operation_id: &str) -> Result<(), Problem> {
        if caller.known().is_none() && self.keyed.contains(operation_id) {
            return Err(missing());
        }
        Ok(())
    }

    /// Charges one more request of `caller` to `route`. A request with several operations needs this, because the edge
    /// charged only the first one.
    ///
    /// # Errors
    /// `rate_limit` or `daily_limit`
    pub async fn charge(&self, caller: &Caller, route: &str) -> Result<(), Problem> {
        if let Some(limit) = &self.limit {
            let verdict = limit.admit(&counted(caller)).get().await;
            if let Some(problem) = too_much(&verdict) {
                return Err(problem);
            }
        }
        self.count(caller, route);
        Ok(())
    }

    /// Charges `caller` for an admitted request that costs as much as `requests` requests.
    pub async fn owe(&self, caller: &Caller, requests: usize) {
        let more = u32::try_from(requests.saturating_sub(1)).unwrap_or(u32::MAX);
        if let Some(limit) = self.limit.as_ref().filter(|_| more > 0) {
            limit.owe(&counted(caller), more).get().await;
        }
    }

    /// Updates the limits to state in the response, after a request that may have cost more than one request.
    pub(crate) async fn look_again(&self, decision: &mut GuardDecision) {
        if let (Some(limit), Ok(caller), Some((verdict, _))) = (&self.limit, &decision.outcome, &mut decision.told) {
            *verdict = limit.look(&counted(caller)).get().await;
        }
    }

    /// Counts an admitted request in the usage of its key.
    pub(crate) fn count(&self, caller: &Caller, route: &str) {
        if let (Some(meter), Some(known)) = (&self.meter, caller.known()) {
            meter.count(known, route);
        }
    }
}

/// Returns the caller whose limits a request uses. For a guest this is the network, because anybody can create guests.
fn counted(caller: &Caller) -> Caller {
    match caller.known().map(|known| &known.via) {
        Some(Via::Guest { network }) => Caller::Anonymous(*network),
        _ => caller.clone(),
    }
}

fn identified(
    known: Result<Arc<KnownCaller>, NotTaken>,
    is_session: bool,
    keyed: bool,
) -> Result<Option<Arc<KnownCaller>>, Problem> {
    match known {
        Ok(known) => Ok(Some(known)),
        // A browser sends the cookie of an expired session automatically, so operations that are open to everybody
        // still work.
        Err(_) if is_session && !keyed => Ok(None),
        Err(why) if is_session => Err(refusal(why.code_of_session())),
        Err(why) => Err(refusal(why.code_of_key())),
    }
}

fn refusal(code: ErrorCode) -> Problem {
    let problem = Problem::new(code);
    match code {
        ErrorCode::InvalidKey | ErrorCode::InvalidSession => problem.header(header::WWW_AUTHENTICATE, OTHER_KEY_WANTED),
        _ => problem,
    }
}

fn missing() -> Problem {
    Problem::new(ErrorCode::MissingCredentials).detail("This operation needs a key in X-Service-Key, or a session.")
}

fn judged(caller: Caller, wanting: Option<Problem>, verdict: Verdict, allowance: Arc<Allowance>) -> GuardDecision {
    let refused = too_much(&verdict).or(wanting);
    GuardDecision {
        outcome: refused.map_or(Ok(caller), Err),
        told: Some((verdict, allowance)),
    }
}

fn too_much(verdict: &Verdict) -> Option<Problem> {
    match verdict.outcome {
        Outcome::Allowed => None,
        Outcome::TooFast(wait) => Some(Problem::new(ErrorCode::RateLimit).retry_after(wait)),
        Outcome::TooManyToday(wait) => Some(Problem::new(ErrorCode::DailyLimit).retry_after(wait)),
    }
}

impl AdmissionContext {
    /// True if a request is served even though a limit of the caller is reached.
    fn goes_past(&self, verdict: &Verdict) -> bool {
        self.past_limits && !matches!(verdict.outcome, Outcome::Allowed)
    }
}

impl RouteAccess {
    /// True if requests with this method need a key or a session.
    pub(crate) fn needs_key(&self, method: &Method) -> bool {
        if self.keyed.is_empty() {
            return false;
        }
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.keyed.contains(method)
    }
}

impl CredentialError {
    fn problem(self) -> Problem {
        refusal(ErrorCode::InvalidKey).detail(self.0)
    }
}

/// True if a request may come from something else than a script of this site. Only such scripts may act for a session.
/// Browsers state the origin (`Sec-Fetch-Site`, else `Origin`) and the purpose (`Sec-Fetch-Dest`) of a request. Safe
/// methods are allowed, except for operations that need a caller: such a read may create an object at a store.
fn may_be_foreign(request: &Request, keyed: bool) -> bool {
    let is_safe = request.method().is_safe();
    if is_safe && !keyed {
        return false;
    }
    let headers = request.headers();
    if let Some(site) = headers.get("sec-fetch-site") {
        // The browser follows a link or loads an image.
        let is_no_script = is_safe && headers.get("sec-fetch-dest").is_some_and(|what| what != "empty");
        return site != "same-origin" || is_no_script;
    }
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str().as_bytes()));
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
    let named = origin.and_then(|origin| {
        origin
            .strip_prefix(b"https://")
            .or_else(|| origin.strip_prefix(b"http://"))
    });
    named.is_none() || named != host
}
