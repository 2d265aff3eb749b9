use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::Notify;

use crate::pace::PaceStart;
use crate::terms::{CallerTag, Priority};

/// Maximum number of consecutive interactive calls while a crawl waits. The crawl gets the next slot, and therefore an
/// eighth of the request rate at a store with constant interactive calls. No buyer waits for two crawl requests in a
/// row.
const INTERACTIVE_RUN_MAX: u32 = 7;
/// Maximum number of missed rounds for which a caller goes before the callers who had a turn in them.
const ROUNDS_KEPT: u64 = 2;
/// Maximum number of callers whose last turns are remembered. Another caller makes all of them forgotten.
const CALLERS_MAX: usize = 1_024;

/// Queue of calls that wait for a turn at one host, and the number of calls in flight. No slot is assigned in advance:
/// the first call is chosen when a slot becomes free.
#[derive(Debug)]
pub(crate) struct Line {
    slots_max: usize,
    in_flight: usize,
    crawl: VecDeque<Ticket>,
    /// Interactive calls for all callers.
    shared: VecDeque<Ticket>,
    /// Interactive calls of single callers, by round. Every caller has one turn in each round.
    callers: BTreeMap<(u64, u64), Ticket>,
    served: HashMap<CallerTag, u64>,
    round: u64,
    /// True if the last interactive call was for all callers.
    was_shared: bool,
    /// Number of interactive calls sent since the last crawl call, while a crawl call waited.
    run: u32,
    tickets: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    number: u64,
    priority: Priority,
    caller: Option<CallerTag>,
    /// Round in which the call has its turn, which is 0 for calls for all callers.
    round: u64,
    /// The call is notified when it has become the first, or a slot has become free.
    pub(crate) wake: Arc<Notify>,
}

impl Line {
    pub(crate) fn new(slots_max: usize) -> Self {
        Self {
            slots_max,
            in_flight: 0,
            crawl: VecDeque::new(),
            shared: VecDeque::new(),
            callers: BTreeMap::new(),
            served: HashMap::new(),
            round: 0,
            was_shared: false,
            run: 0,
            tickets: 0,
        }
    }

    /// Adds a call at the end of the queue of its priority, or of its caller.
    pub(crate) fn join(&mut self, priority: Priority, caller: Option<CallerTag>) -> Ticket {
        self.tickets += 1;
        let own = self.callers.values().filter(|other| other.caller == caller);
        let served = caller.and_then(|caller| self.served.get(&caller).copied());
        let next = own.map(|other| other.round).chain(served).map(|round| round + 1).max();
        let round = next.unwrap_or(0).max(self.round.saturating_sub(ROUNDS_KEPT));
        let ticket = Ticket {
            number: self.tickets,
            priority,
            caller,
            round: if caller.is_some() { round } else { 0 },
            wake: Arc::new(Notify::new()),
        };
        match (priority, caller) {
            (Priority::Crawl, _) => self.crawl.push_back(ticket.clone()),
            (Priority::Interactive, None) => self.shared.push_back(ticket.clone()),
            (Priority::Interactive, Some(_)) => {
                self.callers.insert((round, ticket.number), ticket.clone());
            }
        }
        ticket
    }

    pub(crate) fn leave(&mut self, ticket: &Ticket) {
        self.crawl.retain(|waiting| waiting.number != ticket.number);
        self.shared.retain(|waiting| waiting.number != ticket.number);
        self.callers.remove(&(ticket.round, ticket.number));
    }

    pub(crate) fn first(&self) -> Option<&Ticket> {
        let (shared, own) = (self.shared.front(), self.callers.values().next());
        let interactive = if self.was_shared {
            own.or(shared)
        } else {
            shared.or(own)
        };
        let crawl_is_due = self.run >= INTERACTIVE_RUN_MAX || interactive.is_none();
        self.crawl.front().filter(|_| crawl_is_due).or(interactive)
    }

    pub(crate) fn is_first(&self, ticket: &Ticket) -> bool {
        self.first().is_some_and(|first| first.number == ticket.number)
    }

    /// Callers who never pause take every slot as it becomes available. A call for all callers may therefore follow one
    /// of theirs without waiting for the next slot.
    pub(crate) fn start_of(&self, ticket: &Ticket) -> PaceStart {
        let is_shared = ticket.priority == Priority::Interactive && ticket.caller.is_none();
        if is_shared && !self.was_shared {
            PaceStart::Early
        } else {
            PaceStart::OnTime
        }
    }

    pub(crate) fn has_slot(&self) -> bool {
        self.in_flight < self.slots_max
    }

    /// Returns the number of calls that go before this one, if no other call joins.
    pub(crate) fn ahead(&self, ticket: &Ticket) -> u32 {
        let before = |queue: &VecDeque<Ticket>| queue.iter().filter(|other| other.number < ticket.number).count();
        let (run, run_max) = (self.run as usize, INTERACTIVE_RUN_MAX as usize);
        let count = match (ticket.priority, ticket.caller) {
            (Priority::Crawl, _) => {
                let before = before(&self.crawl);
                let turns_of_buyers = run_max.saturating_sub(run) + run_max * before;
                before + turns_of_buyers.min(self.shared.len() + self.callers.len())
            }
            (Priority::Interactive, caller) => {
                let before = if caller.is_none() {
                    let before = before(&self.shared);
                    before + (before + usize::from(self.was_shared)).min(self.callers.len())
                } else {
                    let before = self.callers.range(..(ticket.round, ticket.number)).count();
                    before + (before + usize::from(!self.was_shared)).min(self.shared.len())
                };
                before + ((before + run) / run_max).min(self.crawl.len())
            }
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    pub(crate) fn enter(&mut self, ticket: &Ticket) {
        self.leave(ticket);
        self.in_flight += 1;
        if ticket.priority == Priority::Interactive {
            self.was_shared = ticket.caller.is_none();
            self.round = self.round.max(ticket.round);
        }
        if let Some(caller) = ticket.caller.filter(|_| ticket.priority == Priority::Interactive) {
            if self.served.len() >= CALLERS_MAX {
                self.served.clear();
            }
            self.served.insert(caller, ticket.round);
        }
        self.run = match ticket.priority {
            Priority::Interactive if !self.crawl.is_empty() => self.run + 1,
            _ => 0,
        };
    }

    pub(crate) fn exit(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Join(Priority, Option<u8>),
        Leave(usize),
        Enter,
        Exit,
    }

    fn tag(caller: u8) -> CallerTag {
        CallerTag::of(&caller.to_string())
    }

    /// Returns the names of all waiting calls in the order of their turns. `-` is a call for all callers.
    fn turns(mut line: Line) -> String {
        let mut turns = String::new();
        while let Some(first) = line.first().cloned() {
            let caller = (0..10).find(|caller| first.caller == Some(tag(*caller)));
            turns.push(caller.map_or('-', |caller| char::from(b'0' + caller)));
            line.enter(&first);
        }
        turns
    }

    #[test]
    fn callers_take_turns_and_every_other_one_is_for_all() {
        let joined = |order: &str| {
            let mut line = Line::new(usize::MAX);
            for name in order.bytes() {
                line.join(Priority::Interactive, name.is_ascii_digit().then(|| tag(name - b'0')));
            }
            line
        };
        for (order, expected) in [
            ("111122", "121211"),
            ("1112233", "1231231"),
            ("--11", "-1-1"),
            ("1111-", "-1111"),
            ("11112-2-", "-1-21211"),
        ] {
            assert_eq!(turns(joined(order)), expected, "{order}");
        }
        // A caller with fewer past turns goes before callers with more.
        let mut line = joined("1111112");
        for _ in 0..3 {
            let first = line.first().cloned().unwrap();
            line.enter(&first);
        }
        for name in [3, 3, 2] {
            line.join(Priority::Interactive, Some(tag(name)));
        }
        assert_eq!(turns(line), "3321111");
    }

    #[test]
    fn a_caller_who_had_no_turn_for_long_goes_before_those_who_never_pause() {
        let mut line = Line::new(usize::MAX);
        let mut order = Vec::new();
        for round in 0..10 {
            // The first caller returns after a pause with four calls.
            let quiet = if round == 8 { 4 } else { usize::from(round == 0) };
            let callers = (1..4).chain(std::iter::repeat_n(0, quiet));
            callers.for_each(|caller| drop(line.join(Priority::Interactive, Some(tag(caller)))));
            for _ in 0..quiet + 3 {
                let first = line.first().cloned().unwrap();
                order.extend((0..4).find(|caller| first.caller == Some(tag(*caller))));
                line.enter(&first);
            }
        }
        assert_eq!(order[25..32], [0, 0, 0, 1, 2, 3, 0]);
    }

    #[test]
    fn what_is_remembered_of_callers_is_bounded() {
        let mut line = Line::new(usize::MAX);
        for caller in 0..3 * CALLERS_MAX {
            let ticket = line.join(Priority::Interactive, Some(CallerTag::of(&caller.to_string())));
            line.enter(&ticket);
            assert!(line.served.len() <= CALLERS_MAX);
        }
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => Just(Step::Join(Priority::Crawl, None)),
            4 => proptest::option::of(0..3_u8).prop_map(|caller| Step::Join(Priority::Interactive, caller)),
            1 => (0_usize..20).prop_map(Step::Leave),
            6 => Just(Step::Enter),
            4 => Just(Step::Exit),
        ]
    }

    fn one() -> impl Strategy<Value = (Priority, Option<CallerTag>)> {
        prop_oneof![
            1 => Just((Priority::Crawl, None)),
            2 => proptest::option::of(0..3_u8).prop_map(|caller| (Priority::Interactive, caller.map(tag))),
        ]
    }

    proptest! {
        /// For any sequence of joins and leaves, a waiting call gets a turn whenever a slot is free. No call overtakes
        /// another of the same priority and caller. A crawl call goes before a buyer exactly after seven buyers.
        #[test]
        fn turns_go_to_buyers_first_and_to_the_crawl_now_and_then(steps in proptest::collection::vec(step(), 0..400), slots in 1_usize..4) {
            let mut line = Line::new(slots);
            let mut waiting: Vec<Ticket> = Vec::new();
            let mut in_flight = 0;
            let mut buyers_in_a_row = 0;
            for step in steps {
                match step {
                    Step::Join(priority, caller) => waiting.push(line.join(priority, caller.map(tag))),
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
                        prop_assert!(waiting[..at].iter().all(|ticket| ticket.priority != first.priority || ticket.caller != first.caller));
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

        /// The number of calls ahead is known when a call joins, if no other call joins later.
        #[test]
        fn the_wait_is_known_when_one_joins(crowd in proptest::collection::vec(one(), 0..60), gone in 0_usize..30, last in one()) {
            let mut line = Line::new(usize::MAX);
            crowd.into_iter().for_each(|(priority, caller)| drop(line.join(priority, caller)));
            for _ in 0..gone {
                if let Some(first) = line.first().cloned() {
                    line.enter(&first);
                }
            }
            let ticket = line.join(last.0, last.1);
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
