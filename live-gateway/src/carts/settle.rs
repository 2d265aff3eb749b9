//! Brings one store's cart to what it is to be.
//!
//! A target says how things are to be. So whatever becomes of a call (an answer that is lost, a store that gives fewer
//! than asked for, a process that ends), the cart is read and what is missing is done; nothing is added twice.

use std::collections::BTreeMap;

use data_model::{Classify, ErrorCode, StoredBrand};
use tokio::time::Instant;

use super::record::{Group, Target};
use crate::cart_client::{Buyer, CartAddress, CartClient, CartError};
use crate::hidden::Hidden;
use crate::leases::HeldLease;
use crate::rules::carts::answer::Note;
use crate::rules::carts::draft::draft;
use crate::rules::carts::plan::{Step, next, refused_lines, refuses_customer};
use crate::store_cart::{CartAnswer, Refusal, StoreCart};

/// Most calls to a store within one operation: each kind of step once, and again after what it taught.
const CALLS_MAX: u32 = 16;
/// Most times within one operation that a store is asked what came of a call whose answer was lost.
const LOOKUPS_MAX: u32 = 2;
/// Most times that a cart is made within one operation: once more where the first answer was lost, and without lines
/// that the store refuses.
const CREATES_MAX: u32 = 4;

/// What is known of a brand's part before.
#[derive(Debug, Clone)]
pub(super) struct Before {
    pub(super) brand: StoredBrand,
    pub(super) group: Option<Group>,
    /// Where to deliver, as the whole cart has it.
    pub(super) address: Option<CartAddress>,
    pub(super) buyer: Buyer,
    /// The target was worked on before: the store is asked first.
    pub(super) is_again: bool,
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// The store's cart, where the store told it; `None` where nothing is known but what was known before.
    pub(super) cart: Option<StoreCart>,
    pub(super) problems: Vec<Trouble>,
    /// The store may have done more than it told of.
    pub(super) is_unsure: bool,
    pub(super) notes: Vec<Note>,
    /// The store does not know the customer any more.
    pub(super) is_signed_out: bool,
    /// The store was told who buys.
    pub(super) is_buyer_told: bool,
}

/// What a store did not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) code: ErrorCode,
    pub(super) detail: String,
    /// The variant that it is about.
    pub(super) variant: Option<u64>,
}

impl Settled {
    /// Nothing was asked, for this error.
    pub(super) fn failed(error: &CartError) -> Self {
        Self {
            problems: vec![Trouble::of(error)],
            ..Self::default()
        }
    }

    /// Nothing was asked, for too many stores are asked already.
    pub(super) fn busy() -> Self {
        let trouble = Trouble {
            code: ErrorCode::Overloaded,
            detail: "Too many stores are asked at the same time.".to_owned(),
            variant: None,
        };
        Self {
            problems: vec![trouble],
            ..Self::default()
        }
    }
}

impl Trouble {
    fn of(error: &CartError) -> Self {
        Self {
            code: error.code(),
            detail: error.detail().to_owned(),
            variant: None,
        }
    }

    fn refused(refusal: &Refusal, variant: Option<u64>) -> Self {
        Self {
            code: ErrorCode::StoreRejected,
            detail: format!("The store says: {}", refusal.message),
            variant,
        }
    }
}

struct Work<'a> {
    client: &'a CartClient,
    before: &'a Before,
    /// The right to change the cart: without it no store is asked to change anything.
    lease: &'a HeldLease,
    deadline: Instant,
    target: Target,
    buyer: Buyer,
    /// Whether the store is to be told who buys.
    tell_buyer: bool,
    settled: Settled,
    creates: u32,
    lookups: u32,
    /// The cart was read within this operation, so what is refused of it is not for its age.
    is_fresh: bool,
    /// Lines were added and an answer was lost. A store that is slow may add them yet, after it was asked what it has.
    is_add_lost: bool,
}

/// Why the work ends before its end.
struct Stopped;

/// Brings a store's cart to `target`. It never fails as a whole: what was not done stands in the outcome.
pub(super) async fn settle(
    client: &CartClient,
    before: &Before,
    target: &Target,
    (lease, deadline): (&HeldLease, Instant),
) -> Settled {
    let told = before.group.as_ref().and_then(|group| group.buyer.as_deref());
    let mut work = Work {
        client,
        before,
        lease,
        deadline,
        target: target.clone(),
        buyer: before.buyer.clone(),
        tell_buyer: before.group.is_some() && told != before.buyer.mark().as_deref(),
        settled: Settled::default(),
        creates: 0,
        lookups: 0,
        is_fresh: false,
        is_add_lost: false,
    };
    // What stopped it stands in the outcome.
    let _ = work.run().await;
    work.settled.is_unsure |= work.is_add_lost;
    work.settled
}

impl Work<'_> {
    async fn run(&mut self) -> Result<(), Stopped> {
        let Some(group) = &self.before.group else {
            self.create().await?;
            return self.steps().await;
        };
        // With nothing read, what the store told last is the ground to plan on; it is not told as the outcome.
        let must_read = group.is_unsure || self.before.is_again || self.target.is_read;
        if must_read {
            self.read(&group.seen.id).await?;
        }
        if group.is_unsure {
            self.take_back(group);
        }
        self.steps().await
    }

    /// What came late comes too much: lines of which there are more than were asked for are set to that.
    fn take_back(&mut self, group: &Group) {
        let Some(cart) = &self.settled.cart else { return };
        for line in &cart.lines {
            let variant = line.variant.0;
            if let Some(wanted) = group.wanted.get(&variant).filter(|wanted| line.quantity > **wanted) {
                self.target.lines.entry(variant).or_insert(*wanted);
            }
        }
    }

    /// The cart as far as it is known.
    fn cart(&self) -> Option<&StoreCart> {
        let seen = self.before.group.as_ref().map(|group| &group.seen);
        self.settled.cart.as_ref().or(seen)
    }

    /// Step after step until nothing is left to do.
    async fn steps(&mut self) -> Result<(), Stopped> {
        for _ in 0..CALLS_MAX {
            let Some(cart) = self.cart() else { return Ok(()) };
            let id = cart.id.clone();
            if !self.lease.holds().await {
                return Err(Stopped);
            }
            if self.tell_buyer {
                self.tell_buyer(&id).await?;
                continue;
            }
            let Some(step) = next(cart, &self.target) else {
                self.miss_delivery();
                return Ok(());
            };
            self.take(&id, step).await?;
        }
        Ok(())
    }

    async fn tell_buyer(&mut self, id: &Hidden) -> Result<(), Stopped> {
        let answer = self.client.set_buyer(id, &self.buyer).await;
        let Some(answer) = self.answered(id, answer).await? else {
            return Ok(());
        };
        if refuses_customer(&answer.refusals) {
            self.sign_out();
            return Ok(());
        }
        self.tell_buyer = false;
        self.settled.is_buyer_told = true;
        self.refused(&answer.refusals);
        self.settled.cart = answer.cart.or(self.settled.cart.take());
        Ok(())
    }

    fn sign_out(&mut self) {
        self.buyer.customer_token = None;
        self.settled.is_signed_out = true;
        self.settled.notes.push(Note::SignedOut);
    }

    async fn take(&mut self, id: &Hidden, step: Step) -> Result<(), Stopped> {
        let answer = match &step {
            Step::Remove(lines, _) => self.client.remove_lines(id, lines).await,
            Step::Update(lines, _) => self.client.update_lines(id, lines).await,
            Step::Add(lines) => self.client.until(self.half()).add_lines(id, lines).await,
            Step::Codes(codes) => self.client.set_codes(id, codes).await,
            Step::Address(address) => self.client.set_address(id, address).await,
            Step::Attributes(attributes) => self.client.set_attributes(id, attributes).await,
            Step::Deliver(chosen) => self.client.choose_delivery(id, chosen).await,
        };
        let is_lost = matches!(&answer, Err(error) if error.is_unknown());
        // Whoever worked on it before may have asked for the same, and been told of nothing.
        self.is_add_lost |= (is_lost || self.before.is_again) && matches!(step, Step::Add(_));
        let Some(answer) = self.answered(id, answer).await? else {
            return Ok(());
        };
        let refused = refused_lines(&answer.refusals);
        if let (Step::Add(lines), false) = (&step, refused.is_empty()) {
            // The store takes none of them where it refuses one: the others are asked for again.
            for (at, refusal) in refused {
                let Some((variant, _)) = lines.get(at) else { continue };
                self.target.lines.remove(&variant.0);
                self.settled.problems.push(Trouble::refused(refusal, Some(variant.0)));
            }
            return Ok(());
        }
        let is_stale = answer
            .refusals
            .iter()
            .any(|one| one.code.as_deref() == Some("INVALID_MERCHANDISE_LINE"));
        if is_stale && !self.is_fresh {
            // Somebody changed the cart at the store: what it has now is the ground to plan on.
            return self.read(id).await;
        }
        self.target.after(&step);
        self.refused(&answer.refusals);
        self.settled.cart = answer.cart.or(self.settled.cart.take());
        Ok(())
    }

    fn refused(&mut self, refusals: &[Refusal]) {
        let troubles = refusals.iter().map(|refusal| Trouble::refused(refusal, None));
        self.settled.problems.extend(troubles);
    }

    /// The answer to a mutation; `None` where it is to be planned anew, for the cart was read or made anew.
    async fn answered(
        &mut self,
        id: &Hidden,
        answer: Result<CartAnswer, CartError>,
    ) -> Result<Option<CartAnswer>, Stopped> {
        match answer {
            Ok(answer) if answer.is_gone() => self.rebuild().await.map(|()| None),
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.is_unknown() && self.lookups < LOOKUPS_MAX && Instant::now() < self.deadline => {
                // It may be done already: the cart tells.
                self.lookups += 1;
                self.settled.is_unsure = true;
                self.read(id).await?;
                Ok(None)
            }
            Err(error) => {
                self.settled.is_unsure |= error.is_unknown();
                Err(self.stop(&error))
            }
        }
    }

    async fn read(&mut self, id: &Hidden) -> Result<(), Stopped> {
        match self.client.read(id).await {
            Ok(Some(cart)) => {
                self.settled.cart = Some(cart);
                self.settled.is_unsure = false;
                self.is_fresh = true;
                Ok(())
            }
            Ok(None) => self.rebuild().await,
            Err(error) => {
                self.settled.is_unsure |= self.before.group.as_ref().is_some_and(|group| group.is_unsure);
                Err(self.stop(&error))
            }
        }
    }

    /// The store has forgotten the cart: it is made anew of what is known of it.
    async fn rebuild(&mut self) -> Result<(), Stopped> {
        if !self.settled.notes.contains(&Note::Rebuilt) {
            self.settled.notes.push(Note::Rebuilt);
        }
        if self.target.delivery.is_none() {
            self.target.delivery = self.before.group.as_ref().and_then(|group| group.delivery.clone());
        }
        self.create().await
    }

    async fn create(&mut self) -> Result<(), Stopped> {
        let mut refused: BTreeMap<u64, u32> = BTreeMap::new();
        while self.creates < CREATES_MAX && self.lease.holds().await {
            self.creates += 1;
            let mut target = self.target.clone();
            target.lines.extend(&refused);
            let address = self.before.address.as_ref();
            let draft = draft(self.before.group.as_ref(), &target, address, self.buyer.clone());
            let Some(draft) = draft else { return Err(Stopped) };
            let answer = match self.client.until(self.half()).create(&draft).await {
                Ok(answer) => answer,
                Err(error) if error.is_lost() && self.creates == 1 && Instant::now() < self.deadline => {
                    // Nothing names a cart that was made and not told of, so it cannot be looked up.
                    self.settled.notes.push(Note::MadeTwice);
                    continue;
                }
                Err(error) => return Err(self.stop(&error)),
            };
            if refuses_customer(&answer.refusals) && self.buyer.customer_token.is_some() {
                self.sign_out();
                continue;
            }
            let lines = refused_lines(&answer.refusals);
            if answer.cart.is_none() && !lines.is_empty() {
                for (at, refusal) in lines {
                    let Some((variant, _)) = draft.lines.get(at) else {
                        continue;
                    };
                    if refused.insert(variant.0, 0).is_none() {
                        self.settled.problems.push(Trouble::refused(refusal, Some(variant.0)));
                    }
                }
                continue;
            }
            self.refused(&answer.refusals);
            let Some(cart) = answer.cart else { return Err(Stopped) };
            self.made(cart);
            return Ok(());
        }
        Err(Stopped)
    }

    /// A new cart has all of the target but the choice of delivery.
    fn made(&mut self, cart: StoreCart) {
        self.settled.cart = Some(cart);
        self.settled.is_unsure = false;
        self.settled.is_buyer_told = true;
        self.tell_buyer = false;
        self.is_fresh = true;
        let delivery = self.target.delivery.take();
        self.target = Target {
            delivery,
            ..Target::default()
        };
    }

    /// A way of delivery that the store does not offer is told.
    fn miss_delivery(&mut self) {
        let Some(handle) = self.target.delivery.take() else {
            return;
        };
        let offers = |cart: &StoreCart| {
            let mut options = cart.deliveries.iter().flat_map(|group| &group.options);
            options.any(|option| option.handle == handle)
        };
        if !self.cart().is_some_and(offers) {
            self.settled.problems.push(Trouble {
                code: ErrorCode::StoreRejected,
                detail: "The store does not offer this delivery, or no longer.".to_owned(),
                variant: None,
            });
        }
    }

    /// Until when to wait for what must not be asked twice: time is left to look up what came of it.
    fn half(&self) -> Instant {
        let now = Instant::now();
        now + self.deadline.saturating_duration_since(now) / 2
    }

    fn stop(&mut self, error: &CartError) -> Stopped {
        self.settled.problems.push(Trouble::of(error));
        Stopped
    }
}
