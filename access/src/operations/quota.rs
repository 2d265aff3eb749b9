use api::{Caller, Verdict};
use data_model::Timestamp;

use super::Access;
use crate::plans::{ANONYMOUS, plan_of};
use crate::schema::{AccessLimits, Quota};

impl Access {
    /// Returns the quota of `caller` with the remaining requests. If a shared server counts but does not respond, the
    /// remaining requests are those that this process counted.
    pub(crate) async fn quota(&self, caller: &Caller) -> Quota {
        let now = self.now();
        let plan = plan_of(caller.known().map(AsRef::as_ref));
        let limits = match &self.0.limits {
            Some(_) => AccessLimits::of(self.0.plans.of_caller(caller)),
            None => AccessLimits::of(&api::Allowance::unlimited()),
        };
        // Only the guard knows the network of an anonymous caller. The header `RateLimit` states the remaining
        // requests.
        let verdict = match caller.known() {
            Some(_) => self.look(caller).await,
            None => None,
        };
        let today = verdict.and_then(|verdict: Verdict| verdict.today);
        Quota {
            plan,
            limits,
            remaining_today: today.map(|(remaining, _)| remaining),
            resets_at: today.map(|(_, left)| after(now, left)),
            note: note(plan, &limits),
        }
    }
}

fn after(now: Timestamp, left: std::time::Duration) -> Timestamp {
    // A day ends at a full second, so the time is rounded to hide what passed since the verdict.
    let micros = i64::try_from(left.as_micros()).unwrap_or(i64::MAX);
    let end = now.micros().saturating_add(micros);
    Timestamp::from_micros(
        end.saturating_add(500_000)
            .div_euclid(1_000_000)
            .saturating_mul(1_000_000),
    )
}

fn note(plan: &str, limits: &AccessLimits) -> String {
    let AccessLimits {
        rate_limit_rps,
        burst,
        daily_limit,
        unlimited,
    } = limits;
    if *unlimited {
        return "There is no limit; 2147483647 stands for an unlimited number.".to_owned();
    }
    let mut note = format!("{rate_limit_rps} requests per second on average, {burst} at once");
    if let Some(daily_limit) = daily_limit {
        note.push_str(&format!(", {daily_limit} on one of the market's days"));
    }
    note.push_str(if plan == ANONYMOUS {
        ", shared by all clients at your address. /v1/plans describes the limits of keys, and how to get one."
    } else {
        "."
    });
    note
}
