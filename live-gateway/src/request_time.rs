use std::time::Duration;

use tokio::time::Instant;

/// The time between the moment at which the content of an answer must be known and the edge's deadline.
const ANSWER: Duration = Duration::from_millis(100);
/// The time between the end of the stores' work and that moment.
const WORK: Duration = Duration::from_millis(400);

/// The time of one request, from the edge to the stores: whatever waits within it has what is left of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestTime {
    began: Instant,
    /// When the edge gives up, where it does.
    edge: Option<Instant>,
    budget: Duration,
}

impl RequestTime {
    /// The time of a request that begins now.
    pub(crate) fn new(budget_ms: u64, edge: Option<Instant>) -> Self {
        Self {
            began: Instant::now(),
            edge,
            budget: Duration::from_millis(budget_ms),
        }
    }

    /// The same request, whose work may take that long at least.
    pub(crate) fn at_least(self, budget_ms: u64) -> Self {
        Self {
            budget: self.budget.max(Duration::from_millis(budget_ms)),
            ..self
        }
    }

    /// The moment until which stores may work.
    pub(crate) fn deadline(self) -> Instant {
        let own = self.began + self.budget;
        let edge = self.edge.and_then(|edge| edge.checked_sub(ANSWER + WORK));
        own.min(edge.unwrap_or(own))
    }

    /// The moment until which the steps before the work may take: a quarter of the time is left for them.
    pub(crate) fn before_work(self) -> Instant {
        let whole = self.deadline().saturating_duration_since(self.began);
        self.began + whole * 3 / 4
    }

    /// When to answer at the latest.
    pub(crate) fn answer_by(self) -> Option<Instant> {
        self.edge.and_then(|edge| edge.checked_sub(ANSWER))
    }
}
