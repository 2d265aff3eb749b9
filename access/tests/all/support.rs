use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use access::{LimitsConfig, PlanLimits, Plans};
use api::{Allowance, Caller, CallerId, ClientNetwork, KnownCaller, Prompt, Via};
use data_model::TimeZone;
use state::{Actor, IssuedKey, NewKey, Plan, State, StateTarget};

/// Time half an hour before midnight in India, the market's time zone.
pub(crate) const EVENING: &str = "2026-11-23T18:00:00Z";
pub(crate) const INDIA: TimeZone = TimeZone::INDIA;

pub(crate) fn limits(per_second: u32, burst: u32, per_day: u64) -> PlanLimits {
    PlanLimits {
        per_second,
        burst,
        per_day,
    }
}

/// Returns a configuration with the same limits for all callers.
pub(crate) fn all(limits: PlanLimits) -> LimitsConfig {
    LimitsConfig {
        anonymous: limits,
        free: limits,
        granted: limits,
        ..LimitsConfig::default()
    }
}

pub(crate) fn nobody(address: &str) -> Caller {
    Caller::Anonymous(Some(ClientNetwork::of(address.parse::<IpAddr>().unwrap())))
}

/// Returns the owner of a key of the plan `free`.
pub(crate) fn holder(id: &str, plans: &Plans) -> Caller {
    with_allowance(id, plans.of_plan(Plan::Free))
}

pub(crate) fn with_allowance(id: &str, allowance: &Arc<Allowance>) -> Caller {
    Caller::Known(Arc::new(KnownCaller {
        id: CallerId::key(id),
        via: Via::Key {
            id: id.into(),
            plan: "free",
        },
        allowance: Arc::clone(allowance),
    }))
}

pub(crate) fn session(account: &str, plans: &Plans) -> Caller {
    Caller::Known(Arc::new(KnownCaller {
        id: CallerId::account(account),
        via: Via::Session,
        allowance: Arc::clone(plans.of_session()),
    }))
}

pub(crate) async fn there<T>(prompt: Prompt<T>) -> T {
    match prompt {
        Prompt::Now(answer) => answer,
        Prompt::Later(answer) => answer.await,
    }
}

/// Repeats `asked` until it returns true, for at most a minute.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut asked: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !asked().await {
        assert!(Instant::now() < deadline, "{what}: never");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) async fn memory() -> State {
    State::open(&StateTarget::Memory).await.unwrap()
}

pub(crate) fn cli() -> Actor {
    Actor::Operator("cli".to_owned())
}

pub(crate) async fn create(state: &State, name: &str, plan: Plan, account: Option<&str>) -> IssuedKey {
    let new = NewKey {
        name: name.parse().unwrap(),
        plan,
        account: account.map(|account| account.parse().unwrap()),
    };
    let begin = EVENING.parse().unwrap();
    state.create_key(new, &cli(), begin).await.unwrap()
}
