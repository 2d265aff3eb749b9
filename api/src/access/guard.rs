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

/// Sessions that are not valid, of one client in a minute. A browser whose session is over sends its cookie with all that a
/// page asks, until that page removes it.
const FORGED_MAX: u32 = 60;

/// When the process began to count forged sessions.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time since then, which no clock that is set changes.
fn passed() -> Timestamp {
    Timestamp::from_micros(i64::try_from(BEGIN.elapsed().as_micros()).unwrap_or(i64::MAX))
}

/// Operations by their ids in the interface description.
pub type Operations = BTreeSet<String>;

/// The access check of a server. By default everybody may ask everything, and no credential is taken.
#[derive(Debug, Clone)]
pub struct Guard {
    /// Knows keys and sessions.
    pub identify: Arc<dyn Identify>,
    /// Counts requests under `/v1/`, where they are limited.
    pub limit: Option<Arc<dyn Limit>>,
    /// Counts what keys are used for, under `/v1/`.
    pub meter: Option<Arc<dyn Meter>>,
    /// The limits of a caller without limits of their own, and of each anonymous one.
    pub anonymous: Arc<Allowance>,
    /// Operations that need a key or a session.
    pub keyed: Operations,
    /// Proxies whose word on whom they forward for is believed.
    pub trusted_proxies: AddressRanges,
    /// The header in which they say it.
    pub forwarded_header: ForwardedHeader,
    /// Cookies of sessions that there are not: each costs a look into the state.
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

/// The facts of a route that the guard needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouteAccess {
    /// Requests count: those under `/v1/` do, and those for documents that cost as much; other pages and probes do not.
    pub(crate) counted: bool,
    /// The methods that need a key or a session.
    pub(crate) keyed: Vec<Method>,
    /// True where pages of any origin may read it.
    pub(crate) any_origin: bool,
    /// True where a `POST` reads, and writes nothing.
    pub(crate) reads_by_post: bool,
    /// Its handlers get the network that a request comes from.
    pub(crate) tells_network: bool,
    /// True where it is answered when a limit of the caller's is reached, too: it says what the limits are.
    pub(crate) past_limits: bool,
}

/// A request that was let in, or not.
#[derive(Debug)]
pub(crate) struct GuardDecision {
    /// The caller, or the problem that keeps them out.
    pub(crate) outcome: Result<Caller, Problem>,
    /// The limits that the answer states.
    pub(crate) told: Option<(Verdict, Arc<Allowance>)>,
}

impl GuardDecision {
    fn refused(problem: Problem) -> Self {
        Self {
            outcome: Err(problem),
            told: None,
        }
    }

    /// Adds the limits to the answer's headers.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        if let Some((verdict, allowance)) = &self.told {
            verdict.tell(allowance, headers);
        }
    }
}

/// The facts of a request that admission needs once the caller is known.
#[derive(Debug, Clone, Copy)]
struct AdmissionContext {
    counted: bool,
    keyed: bool,
    past_limits: bool,
    /// Something else than a page of this site may have sent it.
    foreign: bool,
    network: Option<ClientNetwork>,
}

impl Guard {
    /// The network of whoever sent a request with these headers over a connection from `peer`.
    pub(crate) fn network(&self, peer: IpAddr, headers: &HeaderMap) -> ClientNetwork {
        ClientNetwork::of_request(peer, headers, &self.trusted_proxies, self.forwarded_header)
    }

    /// Lets a request in, or not: who asks, whether they may, and whether it is too much.
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
        // Pages know sessions themselves: one that is over is no reason to refuse the page to sign in at.
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

    /// The way of a session that nobody looks up, for its network sent too many that are not valid: what anybody may ask is
    /// answered as to anybody.
    fn unknown(&self, asking: AdmissionContext, wait: Duration) -> Prompt<GuardDecision> {
        if !asking.keyed {
            return self.admit(Ok(None), asking);
        }
        let problem = Problem::new(ErrorCode::RateLimit).detail("Too many sessions that are not valid.");
        Prompt::Now(GuardDecision::refused(problem.retry_after(wait)))
    }

    fn admit(
        &self,
        known: Result<Option<Arc<KnownCaller>>, Problem>,
        asking: AdmissionContext,
    ) -> Prompt<GuardDecision> {
        // A credential that is not taken is a request of its network's: whoever guesses has no more tries than anybody.
        let (known, not_taken) = match known {
            Ok(known) => (known, None),
            Err(problem) if matches!(problem.code(), ErrorCode::InvalidKey | ErrorCode::InvalidSession) => {
                (None, Some(problem))
            }
            // The identity could not be looked up.
            Err(problem) => return Prompt::Now(GuardDecision::refused(problem)),
        };
        let caller = match known {
            Some(known) if asking.foreign && matches!(known.via, Via::Session | Via::Guest { .. }) => {
                let detail = "A session is taken from this site's own pages alone; other clients send a key.";
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
                            // As many more as come at once are answered past the pace; who asks for nothing else is refused at last.
                            Outcome::TooFast(wait) if allowance.burst_time().is_some_and(|most| wait > most) => {
                                Outcome::TooFast(wait)
                            }
                            // The pace holds on any day: who has nothing left of it comes too fast.
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

    /// Checks that the access table lets `caller` call an operation.
    ///
    /// # Errors
    /// `missing_credentials`
    pub fn check(&self, caller: &Caller, operation_id: &str) -> Result<(), Problem> {
        if caller.known().is_none() && self.keyed.contains(operation_id) {
            return Err(missing());
        }
        Ok(())
    }

    /// Takes one more request of `caller` to `route` into account: for what holds several requests in one, of which the
    /// way in has counted the first.
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

    /// Takes into account that a request of `caller` that was let in as one costs as much as `requests`.
    pub async fn owe(&self, caller: &Caller, requests: usize) {
        let more = u32::try_from(requests.saturating_sub(1)).unwrap_or(u32::MAX);
        if let Some(limit) = self.limit.as_ref().filter(|_| more > 0) {
            limit.owe(&counted(caller), more).get().await;
        }
    }

    /// Counts an admitted request.
    pub(crate) fn count(&self, caller: &Caller, route: &str) {
        if let (Some(meter), Some(known)) = (&self.meter, caller.known()) {
            meter.count(known, route);
        }
    }
}

/// The caller whose allowance a request takes: a guest's is their network's, since anybody may be as many guests as they
/// like.
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
        // A browser sends the cookie of a session that is over by itself: what anybody may ask is answered to anybody.
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
    /// True where a request may be answered though a limit of the caller's is reached.
    fn goes_past(&self, verdict: &Verdict) -> bool {
        self.past_limits && !matches!(verdict.outcome, Outcome::Allowed)
    }
}

impl RouteAccess {
    /// True where a request of this method needs a key or a session.
    pub(crate) fn needs_key(&self, method: &Method) -> bool {
        if self.keyed.is_empty() {
            return false;
        }
        // HEAD is handled like GET.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        self.keyed.contains(method)
    }
}

impl CredentialError {
    fn problem(self) -> Problem {
        refusal(ErrorCode::InvalidKey).detail(self.0)
    }
}

/// Tells requests that may come from elsewhere than a page of this site, which alone acts in a session's name: browsers say
/// where a request comes from (`Sec-Fetch-Site`, else `Origin`), and for what (`Sec-Fetch-Dest`). A safe method is let
/// through unless its operation needs somebody: such a read may make something at a store, so it must be a script's.
fn may_be_foreign(request: &Request, keyed: bool) -> bool {
    let is_safe = request.method().is_safe();
    if is_safe && !keyed {
        return false;
    }
    let headers = request.headers();
    if let Some(site) = headers.get("sec-fetch-site") {
        // A link that is followed, or a picture that is loaded.
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
