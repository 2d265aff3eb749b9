//! Reconciliation of one store's cart with its target.
//!
//! # Known state of a store's cart
//!
//! A group of a cart records the store's cart as the store last returned it (`seen`), and the accepted requests
//! (`wanted`: quantity by variant). The cart's address and buyer, and a group's codes, chosen delivery and attributes
//! are *settings*. Settings describe the wanted state, even if it has not been sent to the store yet. A call to a store
//! ends in one of three ways:
//!
//! - **Done**: the store returns its cart. The returned cart is final, even if it has fewer items than requested or a
//!   code does not apply.
//! - **Refused**: the store refused the call, did not begin it, or was not reached ([`CartError::is_unknown`] is
//!   false). The cart is unchanged. Requested lines are dropped, and `wanted` does not change. A setting that the store
//!   refused is not sent again. Other settings are sent when the store responds again, and are reported as a problem
//!   until then.
//! - **Unknown**: the response is lost. The cart is read before a result is reported or a call is sent again. Effects
//!   that the cart shows are done. Effects that the cart does not show may still appear while the call can be in
//!   progress. Until then the group is in *doubt*, and its cart is read before each use. A late effect counts as done,
//!   and any surplus is removed. A repeated request is sent only once. A late call may also overwrite a newer setting.
//!   While the doubt lasts, and once afterwards, each read compares the settings with the cart and sends differing
//!   settings once. Carts do not show the buyer, so the buyer is sent again.
//!
//! # Changes at the store
//!
//! A buyer can also change the store's cart at the store's own page. Before a change, each cart that it concerns is
//! read. What the cart then shows differently from `seen`, while the group is not in doubt, was changed there, and
//! becomes the wanted state ([`CartComparison::adopted`]) before the change is applied. The response has a warning. The
//! list of codes and the selected delivery option are the store's. An address that was set there stays in that store's
//! cart: it is not adopted, because the cart's address holds for all stores, and it is not overwritten until an address
//! is set here. Lines that the store adds, merges or splits and lines that a person adds there are not wanted, and are
//! never changed. While the group is in doubt, a difference may be a late effect, which only the rule above explains.
//! Nothing is sent to a store whose cart cannot be read.
//!
//! A target describes the wanted final state, not the items to add. The steps from the current cart to the target
//! ([`next`]) are therefore valid after any outcome. Each step is sent once, and once more if its response was lost.
//! [`CartComparison`] decides which lines of a store's cart belong to the buyer. A cart that the store has deleted is
//! rebuilt from `wanted`.

mod late;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use data_model::ErrorCode;
use tokio::time::Instant;

use self::late::{LostCall, differences};
use super::settled::{Before, ReconcileOutcome, Trouble};
use crate::cart_client::{CartClient, CartError};
use crate::hidden::SecretText;
use crate::leases::HeldLease;
use crate::rules::carts::answer::Note;
use crate::rules::carts::draft::draft;
use crate::rules::carts::own::CartComparison;
use crate::rules::carts::plan::{Step, next, refused_lines, refuses_customer};
use crate::rules::carts::record::{Declined, Group, Target};
use crate::rules::store_cart::{Buyer, CartAnswer, CartDraft, Refusal, StoreCart};

/// Maximum number of calls to a store within one operation: each kind of step once, and once more after the cart was
/// read again.
const CALLS_MAX: u32 = 16;
/// Maximum number of reads within one operation that find the outcome of a lost call, or the current lines if the store
/// does not know the given ones.
const LOOKUPS_MAX: u32 = 2;
/// Maximum number of attempts to create a cart within one operation. The cart is created again if the first response
/// was lost, and without lines that the store refuses.
const CREATES_MAX: u32 = 4;

struct Work<'a> {
    client: &'a CartClient,
    before: &'a Before,
    /// Lease on the cart. Without it, no change may be sent to a store.
    lease: &'a HeldLease,
    deadline: Instant,
    /// Part of the target that is not done yet.
    target: Target,
    /// Quantities by variant that this operation requests.
    asked: BTreeMap<u64, u32>,
    wanted: BTreeMap<u64, u32>,
    /// Variants for which the store has responded, including refused ones.
    taken: BTreeSet<u64>,
    refused: BTreeSet<u64>,
    lost: BTreeMap<u64, LostCall>,
    /// Settings that must be in effect at the end.
    settings: Target,
    buyer: Buyer,
    settled: ReconcileOutcome,
    creates: u32,
    lookups: u32,
    is_through: bool,
}

/// Signal that the work stops for now. The outcome contains the reason.
struct Halt;

/// Works on a store's cart until it matches `target`, as far as the store and the time allow.
pub(super) async fn settle(
    client: &CartClient,
    before: &Before,
    target: &Target,
    lease: &HeldLease,
    deadline: Instant,
) -> ReconcileOutcome {
    let group = before.group.as_ref();
    let told = group.and_then(|group| group.buyer.as_deref());
    let mut target = target.clone();
    target.tells_buyer |= group.is_some() && told != before.buyer.mark().as_deref();
    let mut work = Work {
        client,
        before,
        lease,
        deadline,
        settings: before.settings(&target),
        target: target.clone(),
        asked: target.lines.clone(),
        wanted: group.map(|group| group.wanted.clone()).unwrap_or_default(),
        taken: BTreeSet::new(),
        refused: BTreeSet::new(),
        lost: BTreeMap::new(),
        buyer: before.buyer.clone(),
        settled: ReconcileOutcome::default(),
        creates: 0,
        lookups: 0,
        is_through: false,
    };
    // The outcome contains the reason for a stop.
    let _ = work.run().await;
    work.end()
}

impl Work<'_> {
    async fn run(&mut self) -> Result<(), Halt> {
        let Some(group) = &self.before.group else {
            self.create().await?;
            return self.steps().await;
        };
        self.join_unsent(group);
        if self.before.is_set_late() {
            self.settled.set.clone_from(&self.settings);
        }
        if self.before.is_again {
            // An earlier attempt may have sent the same settings without getting a response.
            self.lose_settings();
            let lost = |(variant, asked): (&u64, &u32)| {
                (
                    *variant,
                    LostCall {
                        before: None,
                        beside: 0,
                        asked: *asked,
                    },
                )
            };
            self.lost = self.asked.iter().map(lost).collect();
        }
        // If the cart was not read, the plan starts from the last known cart, which is not reported as the outcome. A
        // lost call may have changed the cart since.
        let is_known = group.doubt.is_none() && group.unsent == Target::default();
        if self.before.is_fresh {
            self.settled.cart = Some(group.seen.clone());
        } else if !is_known || self.before.is_again || self.target.is_read {
            self.read(&group.seen.id).await?;
        }
        if self.creates == 0 {
            self.take_late(group);
        }
        self.steps().await
    }

    /// Adds settings that were changed while the store did not respond, and settings that late calls may overwrite.
    fn join_unsent(&mut self, group: &Group) {
        let address = self.before.address.as_ref();
        let declined = group
            .declined
            .iter()
            .find(|declined| Some(&declined.address) == address);
        if let Some(declined) = declined.filter(|_| self.target.address.is_none()) {
            let trouble = Trouble::new(ErrorCode::StoreRejected, &declined.detail, None);
            self.settled.problems.push(trouble);
        } else if group.address != self.before.address && self.target.address.is_none() {
            self.target.address.clone_from(&self.before.address);
            // The store may sell a variant to this address that it did not sell to another one.
            for (variant, quantity) in group.short() {
                self.ask(variant, quantity);
            }
        }
        self.target.join(&self.settings);
    }

    /// Requests a quantity of a variant that the operation does not mention.
    fn ask(&mut self, variant: u64, quantity: u32) {
        if let Entry::Vacant(new) = self.asked.entry(variant) {
            new.insert(quantity);
            self.target.lines.insert(variant, quantity);
        }
    }

    /// Returns the cart as far as it is known.
    fn cart(&self) -> Option<&StoreCart> {
        let seen = self.before.group.as_ref().map(|group| &group.seen);
        self.settled.cart.as_ref().or(seen)
    }

    fn holding(&self) -> Option<CartComparison<'_>> {
        Some(CartComparison {
            cart: self.cart()?,
            wanted: &self.wanted,
            before: self.before.group.as_ref().map(Group::known),
        })
    }

    async fn steps(&mut self) -> Result<(), Halt> {
        for _ in 0..CALLS_MAX {
            let Some(holding) = self.holding() else { return Ok(()) };
            let id = holding.cart.id.clone();
            let step = next(holding, &self.target);
            if !self.lease.holds().await {
                return Err(Halt);
            }
            let Some(step) = step else {
                self.is_through = true;
                return Ok(());
            };
            self.take(&id, step).await?;
        }
        Ok(())
    }

    fn sign_out(&mut self) {
        self.buyer.customer_token = None;
        self.settled.is_signed_out = true;
        self.settled.notes.push(Note::SignedOut);
    }

    async fn take(&mut self, id: &SecretText, step: Step) -> Result<(), Halt> {
        let answer = match &step {
            Step::Remove(lines, _) => self.client.remove_lines(id, lines).await,
            Step::Update(lines, _) => self.client.until(self.half()).update_lines(id, lines).await,
            Step::Add(lines) => self.client.until(self.half()).add_lines(id, lines).await,
            Step::Buyer => self.client.set_buyer(id, &self.buyer).await,
            Step::Codes(codes) => self.client.set_codes(id, codes).await,
            Step::Address(address) => self.client.set_address(id, address).await,
            Step::Attributes(attributes) => self.client.set_attributes(id, attributes).await,
            Step::Deliver(chosen) => self.client.choose_delivery(id, chosen).await,
        };
        match &answer {
            Err(error) if error.is_unknown() => self.lose(&step),
            // A removed line need not be removed again.
            Ok(answer) if answer.is_open && step.is_of_settings() => self.lose(&step),
            _ => {}
        }
        let Some(answer) = self.answered(id, answer).await? else {
            return Ok(());
        };
        if self.buyer.customer_token.is_some() && refuses_customer(&answer.refusals) {
            self.sign_out();
            return Ok(());
        }
        let refused = refused_lines(&answer.refusals);
        if let (Step::Add(lines), false) = (&step, refused.is_empty()) {
            // The store adds none of the lines if it refuses one, so the other lines are sent again.
            for (at, refusal) in refused {
                let Some(line) = lines.get(at) else { continue };
                let variant = line.variant.0;
                self.target.lines.remove(&variant);
                self.refused.insert(variant);
                self.settled.problems.push(Trouble::refused(refusal, Some(variant)));
            }
            return Ok(());
        }
        let is_stale = answer
            .refusals
            .iter()
            .any(|one| one.code.as_deref() == Some("INVALID_MERCHANDISE_LINE"));
        if is_stale && self.lookups < LOOKUPS_MAX {
            // The cart was changed at the store, or by an earlier attempt of this call. The next plan starts from the
            // cart's current content.
            self.lookups += 1;
            return self.read(id).await;
        }
        self.refused(&answer.refusals);
        if answer.refusals.is_empty() {
            self.carried_out(&step);
        } else {
            self.refused.extend(step.variants());
            // The step is not sent again, even if its effect arrives late.
            self.settings.after(&step);
            self.settled.set.after(&step);
            self.decline(&step, &answer.refusals);
        }
        self.settled.is_buyer_told |= step == Step::Buyer;
        self.target.after(&step);
        self.settled.cart = answer.cart.or(self.settled.cart.take());
        self.take_late_beside(&step);
        Ok(())
    }

    /// Records the effect of a step that the store carried out.
    fn carried_out(&mut self, step: &Step) {
        for variant in step.variants() {
            self.taken.insert(variant);
            match self.asked.get(&variant) {
                Some(0) | None => self.wanted.remove(&variant),
                Some(pieces) => self.wanted.insert(variant, *pieces),
            };
        }
        match step {
            Step::Address(address) => self.settled.address = Some(address.clone()),
            Step::Deliver(_) => self.settled.chosen.clone_from(&self.target.chosen),
            _ => {}
        }
    }

    fn decline(&mut self, step: &Step, refusals: &[Refusal]) {
        if let (Step::Address(address), Some(refusal)) = (step, refusals.first()) {
            self.settled.declined = Some(Declined {
                address: address.clone(),
                detail: Trouble::refused(refusal, None).detail,
            });
        }
    }

    fn refused(&mut self, refusals: &[Refusal]) {
        let troubles = refusals.iter().map(|refusal| Trouble::refused(refusal, None));
        self.settled.problems.extend(troubles);
    }

    /// Processes the response to a mutation. Returns `None` if a new plan is needed because the cart was read again or
    /// rebuilt.
    async fn answered(
        &mut self,
        id: &SecretText,
        answer: Result<CartAnswer, CartError>,
    ) -> Result<Option<CartAnswer>, Halt> {
        match answer {
            Ok(answer) if answer.is_gone() => self.rebuild().await.map(|()| None),
            Ok(answer) => Ok(Some(answer)),
            Err(error) => {
                self.settled.is_open = error.is_unknown();
                if !self.settled.is_open || self.lookups >= LOOKUPS_MAX || Instant::now() >= self.deadline {
                    return Err(self.stop(&error));
                }
                // The store may have carried out the call. Reading the cart shows it.
                self.lookups += 1;
                self.read(id).await.map(|()| None)
            }
        }
    }

    async fn read(&mut self, id: &SecretText) -> Result<(), Halt> {
        match self.client.read(id).await {
            Ok(Some(cart)) => {
                self.settled.cart = Some(cart);
                self.settled.is_open = false;
                self.look_up();
                Ok(())
            }
            Ok(None) => self.rebuild().await,
            Err(error) => Err(self.stop(&error)),
        }
    }

    /// Rebuilds the cart from the known state, because the store has lost it.
    async fn rebuild(&mut self) -> Result<(), Halt> {
        if !self.settled.notes.contains(&Note::Rebuilt) {
            self.settled.notes.push(Note::Rebuilt);
        }
        if self.target.chosen.is_none() {
            self.target.chosen = self.before.group.as_ref().and_then(|group| group.chosen.clone());
        }
        self.create().await
    }

    async fn create(&mut self) -> Result<(), Halt> {
        let mut refused: BTreeMap<u64, u32> = BTreeMap::new();
        while self.creates < CREATES_MAX && self.lease.holds().await {
            self.creates += 1;
            let mut target = self.target.clone();
            target.lines.extend(&refused);
            let address = self.before.address.as_ref();
            let draft = draft(self.cart(), &self.wanted, &target, address, self.buyer.clone());
            let Some(draft) = draft else { return Err(Halt) };
            let answer = match self.client.until(self.half()).create(&draft).await {
                Ok(answer) => answer,
                Err(error) if error.is_lost() && self.creates == 1 && Instant::now() < self.deadline => {
                    // A cart whose id was never returned cannot be read.
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
                    let Some(line) = draft.lines.get(at) else { continue };
                    let variant = line.variant.0;
                    if refused.insert(variant, 0).is_none() {
                        self.refused.insert(variant);
                        self.settled.problems.push(Trouble::refused(refusal, Some(variant)));
                    }
                }
                continue;
            }
            self.refused(&answer.refusals);
            let Some(cart) = answer.cart else { return Err(Halt) };
            self.made(cart, draft);
            return Ok(());
        }
        Err(Halt)
    }

    /// Records a new cart, which has everything in the target except the choice of delivery. No earlier call can affect
    /// a new cart.
    fn made(&mut self, cart: StoreCart, draft: CartDraft) {
        self.wanted = draft.lines.iter().map(|line| (line.variant.0, line.quantity)).collect();
        self.asked.extend(&self.wanted);
        self.taken.extend(self.wanted.keys());
        self.lost.clear();
        if let Some(group) = &self.before.group {
            let differences = differences(group, &cart, &self.wanted);
            self.settled.problems.extend(differences);
        }
        self.settled.cart = Some(cart);
        self.settled.address = draft.address;
        self.settled.is_open = false;
        self.settled.is_certain = true;
        self.settled.is_set_lost = false;
        self.settled.set = Target::default();
        self.settled.is_buyer_told = true;
        let chosen = self.target.chosen.take();
        self.target = Target {
            chosen,
            ..Target::default()
        };
    }

    /// Returns the deadline for a call that must not be repeated, which leaves time to find the outcome.
    fn half(&self) -> Instant {
        let now = Instant::now();
        now + self.deadline.saturating_duration_since(now) / 2
    }

    fn stop(&mut self, error: &CartError) -> Halt {
        let is_open = self.settled.is_open || !self.lost.is_empty();
        self.settled.problems.push(Trouble::of(error, is_open));
        Halt
    }

    fn end(mut self) -> ReconcileOutcome {
        if self.is_through {
            self.miss_delivery();
            // The address is in effect without a call.
            self.settled.address = self.target.address.take().or(self.settled.address.take());
        }
        let is_known = self.is_through || self.settled.cart.is_some();
        let holding = self.holding().filter(|_| is_known);
        let shows = |variant: u64, pieces: u32| holding.is_some_and(|holding| holding.pieces(variant) == pieces);
        let asked = self.asked.iter().map(|(variant, pieces)| (*variant, *pieces));
        let (done, left): (BTreeMap<_, _>, BTreeMap<_, _>) = asked
            .filter(|(variant, _)| !self.refused.contains(variant))
            .partition(|(variant, pieces)| self.taken.contains(variant) || shows(*variant, *pieces));
        if self.is_through {
            let is_merged = |variant: u64| holding.is_some_and(|holding| holding.is_merged(variant));
            let kept = left.keys().filter(|variant| is_merged(**variant));
            let detail = "The store keeps this variant in one line together with others: remove that line.";
            let kept: Vec<_> = kept
                .map(|variant| Trouble::new(ErrorCode::StoreRejected, detail, Some(*variant)))
                .collect();
            self.settled.problems.extend(kept);
        }
        self.settled.done.extend(done);
        self.settled.lost = self.lost.iter().map(|(variant, lost)| (*variant, lost.asked)).collect();
        if !self.is_through {
            self.settled.unsent = self.target.settings();
        }
        self.settled
    }

    /// Reports a delivery option that the store does not offer.
    fn miss_delivery(&mut self) {
        let Some(chosen) = self.target.chosen.take() else {
            return;
        };
        if self.cart().is_some_and(|cart| !chosen.offered(cart).is_empty()) {
            self.settled.chosen = Some(chosen);
        } else {
            let detail = "The store does not offer this delivery option, or no longer offers it.";
            let trouble = Trouble::new(ErrorCode::StoreRejected, detail, None);
            self.settled.problems.push(trouble);
            self.settled.set.chosen = None;
        }
    }
}
