use std::collections::{BTreeMap, BTreeSet};

use data_model::{ErrorCode, Timestamp};
use futures::future::join_all;

use super::Checkouts;
use super::jws::{self, Signer};
use super::schema::{Attribution, BrandCheckout, Checkout};
use super::token::{ATTRIBUTE, Claims, QUOTES_MAX, TYPE};
use crate::cart_context::CallerContext;
use crate::cart_failure::CartFailure;
use crate::carts::Intent;
use crate::hidden::SecretText;
use crate::random::random_hex;
use crate::rules::carts::ids::{CartId, product_id};
use crate::rules::carts::record::{Attributions, Group, Target};
use crate::rules::store_cart::CartAttribute;
use crate::schema::carts::{CartAnswerDocument, CartProblem};

impl Checkouts {
    /// Prepares a cart for checkout at its brands' stores. Each store's cart receives an attribution token, and the
    /// caller receives the checkout links.
    pub(crate) async fn checkout(
        &self,
        asked: &CallerContext,
        id: &CartId,
    ) -> Result<CartAnswerDocument<Checkout>, CartFailure> {
        let signer = self.signer().await?;
        let changed = self.carts.change(asked, id, |record| {
            if record.lines() == 0 {
                return Err(CartFailure::Bound(
                    "cart_id",
                    "the cart is empty: add items before you check out",
                ));
            }
            let mut stores = BTreeMap::new();
            let mut targets = Vec::with_capacity(record.groups.len());
            for group in &record.groups {
                let brand = &group.brand;
                let claims = self.claims(id, brand.store.as_str(), &[group])?;
                let token = signer.token(TYPE, &claims).ok_or(CartFailure::Random)?;
                stores.insert(brand.store.to_string(), SecretText::new(&token));
                let attribute = CartAttribute {
                    key: ATTRIBUTE.to_owned(),
                    value: token,
                };
                targets.push(group.aimed_at(Target {
                    attributes: vec![attribute],
                    is_read: true,
                    ..Target::default()
                }));
            }
            Ok(Intent {
                targets,
                attribution: Some(Attributions { stores }),
                ..Intent::default()
            })
        });
        let changed = changed.await?;
        // A finished operation queries no store again; the stores' earlier responses are still valid.
        let is_through = changed.asked_nothing();
        let changed = Box::pin(self.carts.look_again(asked, changed)).await?;
        let (mut record, mut problems, verified) = changed.into_parts();
        let now = self.context.clock.now();
        let tokens = record.attribution.take().unwrap_or_default();
        let mut groups = std::mem::take(&mut record.groups);
        groups.retain(|group| {
            let carries = tokens.of(&group.brand).is_some_and(|token| carries(group, token));
            carries && record.is_told(group) && (is_through || verified.contains(&group.brand.store))
        });
        problems.extend(groups.iter().flat_map(shortages));
        groups.retain(|group| group.seen.lines.iter().any(|line| line.quantity > 0));
        let links = groups.iter_mut();
        let links = links.map(|group| self.carts.open_link(&asked.caller, group, asked.time.deadline()));
        let closed = join_all(links).await;
        let open = groups.iter().zip(&closed).filter(|(_, closed)| closed.is_none());
        let open: Vec<&Group> = open.map(|(group, _)| group).collect();
        problems.extend(closed.into_iter().flatten());
        if open.is_empty() && problems.is_empty() {
            let detail = "No store has confirmed its cart. Repeat the request with a new Idempotency-Key.";
            problems.push(CartProblem::new(None, None, ErrorCode::Validation, detail));
        }
        let checkout = Checkout {
            cart_id: id.to_string(),
            checkouts: open.iter().map(|group| brand_checkout(group, &tokens)).collect(),
            attribution: self.attribution(&signer, id, &open, &tokens)?,
            problems,
        };
        Ok(CartAnswerDocument::new(checkout, now))
    }

    fn claims(&self, id: &CartId, audience: &str, groups: &[&Group]) -> Result<Claims, CartFailure> {
        let config = &self.context.config;
        let quotes: BTreeSet<&str> = groups.iter().flat_map(|group| group.quotes()).collect();
        let now_s = self.context.clock.now().micros().div_euclid(1_000_000);
        Ok(Claims {
            iss: config.public_url.clone(),
            aud: vec![audience.to_owned()],
            jti: random_hex()?,
            iat: now_s,
            exp: now_s + config.attribution_ms() / 1_000,
            cart: id.hash(),
            brands: groups.iter().map(|group| group.brand.slug.to_string()).collect(),
            quotes: quotes.into_iter().take(QUOTES_MAX).map(str::to_owned).collect(),
        })
    }

    /// Returns the caller's attribution token, which names the brands that have a checkout. For a single brand, it is
    /// the token in the store's cart.
    fn attribution(
        &self,
        signer: &Signer,
        id: &CartId,
        open: &[&Group],
        tokens: &Attributions,
    ) -> Result<Option<Attribution>, CartFailure> {
        let token = match open {
            [] => return Ok(None),
            [only] => tokens.of(&only.brand).unwrap_or_default().to_owned(),
            groups => {
                let claims = self.claims(id, &self.context.config.public_url, groups)?;
                signer.token(TYPE, &claims).ok_or(CartFailure::Random)?
            }
        };
        Ok(self.told(&token))
    }

    fn told(&self, token: &str) -> Option<Attribution> {
        Some(Attribution {
            expires_at: Timestamp::from_micros(jws::claims::<Claims>(token)?.exp.checked_mul(1_000_000)?),
            jwks_url: format!("{}/.well-known/jwks.json", self.context.config.public_url),
            token: token.to_owned(),
        })
    }
}

/// True if the token is in the store's cart.
fn carries(group: &Group, token: &str) -> bool {
    let mut attributes = group.seen.attributes.iter();
    attributes.any(|one| one.key == ATTRIBUTE && one.value == token)
}

/// Returns the problems of lines of which the store has less than requested. The checkout lacks the missing units.
fn shortages(group: &Group) -> impl Iterator<Item = CartProblem> + '_ {
    group.short().map(|(variant, wanted)| {
        let product = group.line(variant).map(|line| product_id(&group.brand, line.product));
        let detail = match group.quantity(variant) {
            0 => format!("The store has none of the {wanted} requested."),
            has => format!("The store has only {has} of the {wanted} requested."),
        };
        CartProblem::new(Some(&group.brand), product, ErrorCode::StoreRejected, detail)
    })
}

fn brand_checkout(group: &Group, tokens: &Attributions) -> BrandCheckout {
    BrandCheckout {
        brand_slug: group.brand.slug.to_string(),
        checkout_url: group.seen.checkout_url.expose().to_owned(),
        currency: group.seen.currency.to_string(),
        total_minor: group.seen.total_minor,
        attribution_token: tokens.of(&group.brand).unwrap_or_default().to_owned(),
    }
}
