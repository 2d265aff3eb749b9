use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::terms::Priority;

/// Interactive calls that go one after the other while a crawl waits; the place behind them is the crawl's. A crawl of a
/// store whose buyers never pause keeps an eighth of the pace, and no buyer waits for two requests of a crawl in a row.
const INTERACTIVE_RUN_MAX: u32 = 7;

/// Who waits for a turn at one host, and how many have theirs. Nobody holds a place beforehand: who is first is decided
/// when a place comes up.
#[derive(Debug)]
pub(crate) struct Line {
    slots_max: usize,
    in_flight: usize,
    crawl: VecDeque<Ticket>,
    interactive: VecDeque<Ticket>,
    /// Interactive calls that went since a crawl did, while one waited.
    run: u32,
    tickets: u64,
}

/// One who waits.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    number: u64,
    pub(crate) priority: Priority,
    /// Told when this one has become the first, or a slot has become free.
    pub(crate) wake: Arc<Notify>,
}

impl Line {
    pub(crate) fn new(slots_max: usize) -> Self {
        Self {
            slots_max,
            in_flight: 0,
            crawl: VecDeque::new(),
            interactive: VecDeque::new(),
            run: 0,
            tickets: 0,
        }
    }

    /// Goes to the end of those of the same priority.
    pub(crate) fn join(&mut self, priority: Priority) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket {
            number: self.tickets,
            priority,
            wake: Arc::new(Notify::new()),
        };
        self.of(priority).push_back(ticket.clone());
        ticket
    }

    /// Goes away without a turn.
    pub(crate) fn leave(&mut self, ticket: &Ticket) {
        self.of(ticket.priority)
            .retain(|waiting| waiting.number != ticket.number);
    }

    /// Whose the next place is.
    pub(crate) fn first(&self) -> Option<&Ticket> {
        let crawl_is_due = self.run >= INTERACTIVE_RUN_MAX || self.interactive.is_empty();
        match self.crawl.front() {
            Some(crawl) if crawl_is_due => Some(crawl),
            _ => self.interactive.front(),
        }
    }

    pub(crate) fn is_first(&self, ticket: &Ticket) -> bool {
        self.first().is_some_and(|first| first.number == ticket.number)
    }

    /// Whether one more request may be in flight.
    pub(crate) fn has_slot(&self) -> bool {
        self.in_flight < self.slots_max
    }

    /// How many go before this one, if nobody else comes.
    pub(crate) fn ahead(&self, ticket: &Ticket) -> u32 {
        let before = |queue: &VecDeque<Ticket>| queue.iter().filter(|other| other.number < ticket.number).count();
        let (run, run_max) = (self.run as usize, INTERACTIVE_RUN_MAX as usize);
        let count = match ticket.priority {
            Priority::Crawl => {
                let before = before(&self.crawl);
                let turns_of_buyers = run_max.saturating_sub(run) + run_max * before;
                before + turns_of_buyers.min(self.interactive.len())
            }
            Priority::Interactive => {
                let before = before(&self.interactive);
                before + ((before + run) / run_max).min(self.crawl.len())
            }
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The first takes its turn.
    pub(crate) fn enter(&mut self, ticket: &Ticket) {
        self.leave(ticket);
        self.in_flight += 1;
        self.run = match ticket.priority {
            Priority::Interactive if !self.crawl.is_empty() => self.run + 1,
            _ => 0,
        };
    }

    /// A turn is over.
    pub(crate) fn exit(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    fn of(&mut self, priority: Priority) -> &mut VecDeque<Ticket> {
        match priority {
            Priority::Crawl => &mut self.crawl,
            Priority::Interactive => &mut self.interactive,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Join(Priority),
        Leave(usize),
        Enter,
        Exit,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => Just(Step::Join(Priority::Crawl)),
            4 => Just(Step::Join(Priority::Interactive)),
            1 => (0_usize..20).prop_map(Step::Leave),
            6 => Just(Step::Enter),
            4 => Just(Step::Exit),
        ]
    }

    proptest! {
        /// Whoever comes and goes: a slot and somebody who waits means a turn; nobody overtakes within a priority; a crawl
        /// goes before a buyer only after seven buyers, and at the latest then.
        #[test]
        fn turns_go_to_buyers_first_and_to_the_crawl_now_and_then(steps in proptest::collection::vec(step(), 0..400), slots in 1_usize..4) {
            let mut line = Line::new(slots);
            let mut waiting: Vec<Ticket> = Vec::new();
            let mut in_flight = 0;
            let mut buyers_in_a_row = 0;
            for step in steps {
                match step {
                    Step::Join(priority) => waiting.push(line.join(priority)),
                    Step::Leave(at) if at < waiting.len() => line.leave(&waiting.remove(at)),
                    Step::Leave(_) => {}
                    Step::Exit => {
                        line.exit();
                        in_flight = usize::saturating_sub(in_flight, 1);
                    }
                    Step::Enter => {
                        prop_assert_eq!(line.has_slot(), in_flight < slots);
                        prop_assert_eq!(line.first().is_none(), waiting.is_empty());
                        let Some(first) = line.first().cloned().filter(|_| line.has_slot()) else { continue };
                        let at = waiting.iter().position(|ticket| ticket.number == first.number).unwrap();
                        prop_assert!(waiting[..at].iter().all(|ticket| ticket.priority != first.priority));
                        let others = |priority| waiting.iter().any(|ticket| ticket.priority == priority);
                        if first.priority == Priority::Crawl && others(Priority::Interactive) {
                            prop_assert_eq!(buyers_in_a_row, 7);
                        }
                        line.enter(&first);
                        waiting.remove(at);
                        in_flight += 1;
                        let crawl_waits = waiting.iter().any(|ticket| ticket.priority == Priority::Crawl);
                        buyers_in_a_row = match first.priority {
                            Priority::Interactive if crawl_waits => buyers_in_a_row + 1,
                            _ => 0,
                        };
                        prop_assert!(buyers_in_a_row <= 7);
                    }
                }
            }
        }

        /// How many go before one is known when it comes, if nobody else does.
        #[test]
        fn the_wait_is_known_when_one_joins(crowd in proptest::collection::vec(any::<bool>(), 0..60), gone in 0_usize..30, buyer: bool) {
            let mut line = Line::new(usize::MAX);
            let priority = |buyer| if buyer { Priority::Interactive } else { Priority::Crawl };
            crowd.into_iter().for_each(|buyer| drop(line.join(priority(buyer))));
            for _ in 0..gone {
                if let Some(first) = line.first().cloned() {
                    line.enter(&first);
                }
            }
            let ticket = line.join(priority(buyer));
            let ahead = line.ahead(&ticket);
            let mut went = 0;
            while !line.is_first(&ticket) {
                let first = line.first().cloned().unwrap();
                line.enter(&first);
                went += 1;
            }
            prop_assert_eq!(went, ahead);
        }
    }
}
