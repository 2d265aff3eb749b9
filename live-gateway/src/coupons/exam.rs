//! Trial cart: a cart of one item at the store, on which codes are entered until each has a verdict. The store deletes
//! the cart after a while.

use data_model::{Clock, CouponEffect, CouponKind, CouponVerdict, VariantId};
use state::CouponOutcome;

use super::effect::effect;
use super::memory::Slot;
use super::plan::{Plan, takes_nothing, undelivered};
use super::reason::{UntestedReason, reason};
use crate::cart_client::{CartClient, CartError};
use crate::hidden::SecretText;
use crate::rules::store_cart::{
    Buyer, CartAddress, CartAnswer, CartDraft, StoreCart, StoreLine, VariantQuantity, is_same_code,
};

/// Maximum number of codes that are tested with a delivery address.
const DELIVERY_TRIES_MAX: usize = 3;

#[derive(Debug)]
pub(crate) struct TrialCart<'a> {
    pub(crate) client: CartClient,
    pub(crate) item: VariantId,
    /// Country whose prices apply.
    pub(crate) country: Option<String>,
    /// Delivery address for testing shipping codes.
    pub(crate) address: Option<CartAddress>,
    pub(crate) codes_per_call: usize,
    pub(crate) calls_max: usize,
    pub(crate) clock: &'a dyn Clock,
    /// Slot that receives each verdict as soon as it is known.
    pub(crate) slot: &'a Slot,
    pub(crate) cart: Option<SecretText>,
    pub(crate) calls: usize,
    /// Codes that did not apply because the cart had no delivery address.
    pub(crate) undelivered: Vec<String>,
    pub(crate) outcomes: Vec<CouponOutcome>,
}

impl TrialCart<'_> {
    /// Tests codes until all have verdicts. Returns the reason if the test stops early.
    pub(crate) async fn run(&mut self, codes: &[String]) -> Option<UntestedReason> {
        let stop = self.enter_all(codes).await.err();
        if stop.is_none() {
            self.try_delivery().await;
        }
        stop
    }

    async fn enter_all(&mut self, codes: &[String]) -> Result<(), UntestedReason> {
        let mut plan = Plan::of(codes, self.codes_per_call);
        while let Some(group) = plan.next() {
            if self.calls >= self.calls_max {
                return Err(UntestedReason::Budget);
            }
            let (item, tested_at) = (self.item, self.clock.now());
            match self.enter(&group).await {
                Ok(cart) => {
                    self.undelivered.extend(undelivered(&group, &cart));
                    let proven = plan.told(&group, &cart);
                    self.note(proven.into_iter().map(|(code, verdict)| CouponOutcome {
                        variant: (verdict != CouponVerdict::UnknownCode).then_some(item),
                        code,
                        verdict,
                        tested_at,
                    }));
                }
                // The group was too large for the store, so it is halved. A single code stays untested.
                Err(UntestedReason::Refused) => drop(plan.halve(&group)),
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    fn note(&mut self, outcomes: impl Iterator<Item = CouponOutcome>) {
        let from = self.outcomes.len();
        self.outcomes.extend(outcomes);
        self.slot.note(self.outcomes[from..].iter().cloned());
    }

    async fn enter(&mut self, codes: &[String]) -> Result<StoreCart, UntestedReason> {
        if let Some(id) = self.cart.clone() {
            self.calls += 1;
            let answer = self.client.set_codes(&id, codes).await;
            let answer = answer.map_err(|error| reason(&error))?;
            if !answer.is_gone() {
                return self.believed(answer);
            }
            self.cart = None;
        }
        let answer = self.create(&self.draft(codes)).await.map_err(|error| reason(&error))?;
        let cart = self.believed(answer)?;
        self.cart = Some(cart.id.clone());
        Ok(cart)
    }

    fn draft(&self, codes: &[String]) -> CartDraft {
        let one = VariantQuantity {
            variant: self.item,
            quantity: 1,
        };
        CartDraft {
            lines: vec![one],
            codes: codes.to_vec(),
            buyer: Buyer {
                country: self.country.clone(),
                ..Buyer::default()
            },
            ..CartDraft::default()
        }
    }

    /// Creates a cart. If the outcome is unknown, a second cart is created. The first one is harmless, because nobody
    /// knows its id.
    async fn create(&mut self, draft: &CartDraft) -> Result<CartAnswer, CartError> {
        self.calls += 1;
        match self.client.create(draft).await {
            Err(error) if error.is_unknown() && reason(&error) == UntestedReason::StoreUnavailable => {
                self.calls += 1;
                self.client.create(draft).await
            }
            made => made,
        }
    }

    /// Returns the cart of a response if it contains only this item and free lines from the store.
    fn believed(&self, answer: CartAnswer) -> Result<StoreCart, UntestedReason> {
        let is_about = |part: &str| {
            let mut fields = answer.refusals.iter().flat_map(|refusal| &refusal.field);
            fields.any(|field| field == part)
        };
        if is_about("lines") {
            return Err(UntestedReason::SoldOut);
        }
        if is_about("discountCodes") {
            return Err(UntestedReason::Refused);
        }
        if !answer.refusals.is_empty() {
            return Err(UntestedReason::StoreUnavailable);
        }
        let cart = without_free_lines(answer.cart.ok_or(UntestedReason::StoreUnreadable)?);
        match cart.lines.as_slice() {
            [line] if line.variant != self.item => Err(UntestedReason::StoreUnreadable),
            [line] if line.quantity == 1 => Ok(cart),
            [] | [_] => Err(UntestedReason::SoldOut),
            _ => Err(UntestedReason::StoreUnreadable),
        }
    }

    /// Tests shipping codes with a delivery address. Candidates are codes that apply without a discount, and codes that
    /// lack a delivery. A code keeps its earlier verdict if this test gives none.
    async fn try_delivery(&mut self) {
        let Some(address) = self.address.clone() else { return };
        let weightless = self.outcomes.iter().filter_map(|outcome| match &outcome.verdict {
            CouponVerdict::Applicable(effect) if takes_nothing(effect) => Some(outcome.code.clone()),
            CouponVerdict::NotApplicable if self.undelivered.contains(&outcome.code) => Some(outcome.code.clone()),
            _ => None,
        });
        let codes: Vec<String> = weightless.take(DELIVERY_TRIES_MAX).collect();
        let mut delivered: Option<SecretText> = None;
        for code in codes {
            if self.calls >= self.calls_max {
                return;
            }
            let tested_at = self.clock.now();
            let entered = [code.clone()];
            let answer = match &delivered {
                Some(id) => {
                    self.calls += 1;
                    self.client.set_codes(id, &entered).await
                }
                None => {
                    let draft = CartDraft {
                        address: Some(address.clone()),
                        ..self.draft(&entered)
                    };
                    self.create(&draft).await
                }
            };
            let Ok(cart) = answer
                .map_err(|error| reason(&error))
                .and_then(|answer| self.believed(answer))
            else {
                return;
            };
            delivered = Some(cart.id.clone());
            if let Some(effect) = of_delivery(&cart, &code) {
                self.note(std::iter::once(CouponOutcome {
                    variant: Some(self.item),
                    code,
                    verdict: CouponVerdict::Applicable(effect),
                    tested_at,
                }));
            }
        }
    }
}

/// Removes free lines, such as gifts, from a cart that also has priced lines. Other lines' amounts do not include them.
fn without_free_lines(mut cart: StoreCart) -> StoreCart {
    if !cart.lines.iter().any(StoreLine::costs) {
        return cart;
    }
    for free in cart.lines.extract_if(.., |line| !line.costs()) {
        cart.subtotal_minor -= free.subtotal_minor;
        cart.discounts.line_minor -= free.discount_minor;
    }
    cart
}

/// Returns the effect of a code on the shipping cost of a cart, if it has one.
fn of_delivery(cart: &StoreCart, code: &str) -> Option<CouponEffect> {
    let told = cart.codes.iter().find(|told| is_same_code(&told.code, code));
    let effect = effect(cart, told.filter(|told| told.applicable)?);
    (effect.kind == CouponKind::Shipping).then_some(effect)
}
