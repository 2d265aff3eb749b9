//! Operations on watches: typed request in, typed response out.

use api::{Caller, Via};
use data_model::{ProductIdent, Timestamp, VariantId};
use serde::Serialize;
use sha2::{Digest, Sha256};
use state::{Account, EventState, WatchCreation, WatchEventRow, WatchRow};
use url::Url;

use crate::error::WatchError;
use crate::event::{EventData, EventMessage, TEST};
use crate::rules::conditions::{Conditions, Subject, Terms, WatchReason};
use crate::rules::reading::{Reading, WatchedProduct};
use crate::schema::{Watch, WatchEvent};
use crate::target::{Mailbox, Target, Webhook, check, random_hex};
use crate::watches::Watches;

const EVENTS_MAX: u32 = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NewWatch {
    pub(crate) subject: NewSubject,
    pub(crate) conditions: Conditions,
    #[serde(flatten)]
    pub(crate) receiver: NewReceiver,
}

/// Receiver of the events of a new watch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NewReceiver {
    WebhookUrl(Url),
    /// E-mail address of a person.
    Email(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) enum NewSubject {
    Product { ident: ProductIdent, variant: Option<u64> },
    Query(String),
}

/// Watch that was created now, or earlier under the same idempotency key.
#[derive(Debug)]
pub(crate) struct CreatedWatch {
    pub(crate) watch: Watch,
    pub(crate) is_replayed: bool,
}

/// Returns the owner of a caller's watches. Guests cannot own watches, because anyone can create any number of guests.
fn owner(caller: &Caller) -> Result<String, WatchError> {
    let known = caller.known().filter(|known| !matches!(known.via, Via::Guest { .. }));
    Ok(known.ok_or(WatchError::Anonymous)?.id.as_str().to_owned())
}

/// Returns the id of a new watch, which is the same for the same idempotency key of a caller.
fn watch_id(owner: &str, idempotency_key: Option<&str>) -> Result<String, WatchError> {
    let digits = match idempotency_key {
        Some(key) => hex::encode(&Sha256::digest(format!("{owner}\n{key}"))[..16]),
        None => random_hex()?,
    };
    Ok(format!("wat_{digits}"))
}

impl Watches {
    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Creates a watch. A repeated request with the same idempotency key creates no second watch.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        idempotency_key: Option<&str>,
        new: NewWatch,
    ) -> Result<CreatedWatch, WatchError> {
        let parts = &self.0;
        let owner = owner(caller)?;
        let request_hash = Sha256::digest(serde_json::to_vec(&new)?).to_vec();
        let id = watch_id(&owner, idempotency_key)?;
        let target = self.target(caller, new.receiver).await?;
        let now = parts.clock.now();
        let (terms, seen) = self.terms(new.subject, new.conditions, now).await?;
        let row = WatchRow {
            caller: owner,
            request_hash,
            product: match &terms.subject {
                Subject::Product(product) => Some(product.id.to_string()),
                Subject::Query(_) => None,
            },
            terms: serde_json::to_string(&terms)?,
            target: target.seal(&parts.keys, &id)?,
            created_at: now,
            paused_at: None,
            seen_at: seen.observed_at,
            seen: serde_json::to_string(&seen)?,
            id,
        };
        let max = parts.config.per_caller_max;
        let (row, is_replayed) = match parts.state.create_watch(&row, max).await? {
            WatchCreation::Created => (row, false),
            WatchCreation::Existing(existing) if existing.request_hash == row.request_hash => (*existing, true),
            WatchCreation::Existing(_) => return Err(WatchError::Mismatch),
            WatchCreation::TooMany => return Err(WatchError::TooMany { max }),
        };
        let watch = self.document_with_secret(&row)?;
        Ok(CreatedWatch { watch, is_replayed })
    }

    /// Returns the receiver if it is allowed. An e-mail address must be the one with which the caller's account signs
    /// in, because the account proves that the address is the caller's. No other address receives e-mails.
    async fn target(&self, caller: &Caller, receiver: NewReceiver) -> Result<Target, WatchError> {
        let parts = &self.0;
        let email = match receiver {
            NewReceiver::WebhookUrl(url) => {
                check(&url, parts.allow_loopback)?;
                return Ok(Target::Webhook(Webhook::new(url)?));
            }
            NewReceiver::Email(email) => email,
        };
        if parts.mail.is_none() {
            return Err(WatchError::NoMail);
        }
        let account = caller.known().and_then(|known| known.id.as_account()?.parse().ok());
        let account = match account {
            Some(id) => parts.state.account(&id).await?,
            None => None,
        };
        let proved = account.as_ref().and_then(Account::proved_email);
        if proved != Some(email.as_str()) {
            return Err(WatchError::Unproved);
        }
        Ok(Target::Mailbox(Mailbox { email }))
    }

    async fn terms(
        &self,
        subject: NewSubject,
        conditions: Conditions,
        now: Timestamp,
    ) -> Result<(Terms, Reading), WatchError> {
        let (ident, variant) = match subject {
            NewSubject::Product { ident, variant } => (ident, variant.map(VariantId)),
            NewSubject::Query(query) => {
                let subject = Subject::Query(query);
                return Ok((Terms { subject, conditions }, Reading::gone(now)));
            }
        };
        let resolved = self.0.market.resolve(&[ident]).await?;
        let product = resolved.products.first().and_then(Option::as_ref);
        let product = product.ok_or(WatchError::NoProduct)?;
        let brand = resolved.brands.get(product.brand).ok_or(WatchError::NoProduct)?;
        if variant.is_some_and(|wanted| product.variants.iter().all(|one| one.id != wanted)) {
            return Err(WatchError::NoVariant);
        }
        let watched = WatchedProduct {
            id: product.id,
            title: product.title.clone(),
            brand_slug: brand.slug.to_string(),
            variant_id: variant.map(|id| id.to_string()),
        };
        let currency = conditions.price_below.map(|_| product.currency);
        let terms = Terms {
            subject: Subject::Product(watched),
            conditions: Conditions { currency, ..conditions },
        };
        Ok((terms, Reading::of(product, variant, brand.refreshed_at)))
    }

    /// Returns the caller's watches, the oldest first.
    pub(crate) async fn list(&self, caller: &Caller) -> Result<Vec<Watch>, WatchError> {
        let rows = self.0.state.watches(&owner(caller)?).await?;
        rows.iter().map(|row| self.document(row)).collect()
    }

    pub(crate) async fn get(&self, caller: &Caller, id: &str) -> Result<Watch, WatchError> {
        let row = self.row(caller, id).await?;
        self.document(&row)
    }

    pub(crate) async fn pause(&self, caller: &Caller, id: &str, paused: bool) -> Result<Watch, WatchError> {
        let row = self.row(caller, id).await?;
        if row.paused_at.is_some() != paused {
            let at = paused.then(|| self.now());
            self.0.state.pause_watch(&row.caller, id, at).await?;
        }
        self.get(caller, id).await
    }

    /// Deletes a watch and returns its last content.
    pub(crate) async fn delete(&self, caller: &Caller, id: &str) -> Result<Watch, WatchError> {
        let row = self.0.state.delete_watch(&owner(caller)?, id).await?;
        self.document(&row.ok_or(WatchError::Unknown)?)
    }

    pub(crate) async fn rotate_secret(&self, caller: &Caller, id: &str) -> Result<Watch, WatchError> {
        let parts = &self.0;
        // If another request replaces the secret at the same time, the next attempt replaces that newer secret.
        for _ in 0..3 {
            let row = self.row(caller, id).await?;
            let Target::Webhook(webhook) = Target::open(&parts.keys, id, &row.target)? else {
                return Err(WatchError::NoSecret);
            };
            let target = Target::Webhook(webhook.rotated(self.now())?);
            let sealed = target.seal(&parts.keys, id)?;
            if parts.state.replace_watch_target(&row, sealed.clone()).await? {
                return self.document_with_secret(&WatchRow { target: sealed, ..row });
            }
        }
        Err(WatchError::Market(crate::market::MarketError::NotReady))
    }

    /// Creates an event of the type `watch.test`.
    pub(crate) async fn test(&self, caller: &Caller, id: &str) -> Result<WatchEvent, WatchError> {
        let row = self.row(caller, id).await?;
        let now = self.now();
        let terms: Terms = serde_json::from_str(&row.terms)?;
        let (product, query) = match terms.subject {
            Subject::Product(product) => (Some(product), None),
            Subject::Query(query) => (None, Some(query)),
        };
        let data = EventData {
            event_id: format!("evt_{}", random_hex()?),
            watch_id: row.id.clone(),
            reasons: vec![WatchReason::Test],
            product,
            query,
            before: None,
            now: None,
            quote: None,
        };
        let event = EventMessage::new(TEST, now, data).row()?;
        self.0.state.add_watch_event(&event, now).await?;
        Ok(WatchEvent {
            id: event.id,
            state: EventState::Waiting.as_str(),
            attempts: 0,
            created_at: now,
            next_attempt_at: Some(now),
            failure: None,
        })
    }

    /// Returns the latest events of a watch, the newest first.
    pub(crate) async fn events(&self, caller: &Caller, id: &str) -> Result<Vec<WatchEvent>, WatchError> {
        let row = self.row(caller, id).await?;
        let events = self.0.state.watch_events(&row.id, EVENTS_MAX).await?;
        Ok(events.into_iter().map(event).collect())
    }

    async fn row(&self, caller: &Caller, id: &str) -> Result<WatchRow, WatchError> {
        let row = self.0.state.watch(&owner(caller)?, id).await?;
        row.ok_or(WatchError::Unknown)
    }

    fn document(&self, row: &WatchRow) -> Result<Watch, WatchError> {
        let (webhook_url, email) = match Target::open(&self.0.keys, &row.id, &row.target)? {
            Target::Webhook(webhook) => (Some(webhook.url.into()), None),
            Target::Mailbox(mailbox) => (None, Some(mailbox.email)),
        };
        let terms: Terms = serde_json::from_str(&row.terms)?;
        let (product, query) = match terms.subject {
            Subject::Product(product) => (Some(product), None),
            Subject::Query(query) => (None, Some(query)),
        };
        let seen = match &product {
            Some(_) => Some(serde_json::from_str(&row.seen)?),
            None => None,
        };
        Ok(Watch {
            id: row.id.clone(),
            product,
            query,
            conditions: terms.conditions,
            webhook_url,
            email,
            secret: None,
            created_at: row.created_at,
            paused_at: row.paused_at,
            seen,
        })
    }

    fn document_with_secret(&self, row: &WatchRow) -> Result<Watch, WatchError> {
        let secret = match Target::open(&self.0.keys, &row.id, &row.target)? {
            Target::Webhook(webhook) => Some(webhook.secret),
            Target::Mailbox(_) => None,
        };
        Ok(Watch {
            secret,
            ..self.document(row)?
        })
    }
}

fn event(row: WatchEventRow) -> WatchEvent {
    WatchEvent {
        id: row.id,
        state: row.state.as_str(),
        attempts: row.attempts,
        created_at: row.created_at,
        next_attempt_at: (row.state == EventState::Waiting).then_some(row.due_at),
        failure: row.letter,
    }
}
