use std::time::Duration;

use tokio::time::Instant;

/// Time before the edge's deadline that is reserved for sending the response.
const ANSWER: Duration = Duration::from_millis(100);
/// Time between the end of the work at the stores and the deadline for the response's content.
const WORK: Duration = Duration::from_millis(400);

/// Time budget of one request, shared by all its steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTime {
    began: Instant,
    edge: Option<Instant>,
    budget: Duration,
}

impl RequestTime {
    pub(crate) fn new(budget_ms: u64, edge: Option<Instant>) -> Self {
        Self {
            began: Instant::now(),
            edge,
            budget: Duration::from_millis(budget_ms),
        }
    }

    pub(crate) fn at_least(self, budget_ms: u64) -> Self {
        Self {
            budget: self.budget.max(Duration::from_millis(budget_ms)),
            ..self
        }
    }

    pub(crate) fn deadline(self) -> Instant {
        let own = self.began + self.budget;
        let edge = self.edge.and_then(|edge| edge.checked_sub(ANSWER + WORK));
        own.min(edge.unwrap_or(own))
    }

    /// Returns the deadline for the steps before the work at the stores, which needs a quarter of the budget.
    pub(crate) fn before_work(self) -> Instant {
        let whole = self.deadline().saturating_duration_since(self.began);
        self.began + whole * 3 / 4
    }

    /// Returns the time by which the response must be sent.
    pub(crate) fn answer_by(self) -> Option<Instant> {
        self.edge.and_then(|edge| edge.checked_sub(ANSWER))
    }
}
