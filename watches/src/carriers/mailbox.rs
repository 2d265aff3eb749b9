//! Delivery by e-mail to an address that the owner is known to have.

use api::TryKey;
use async_trait::async_trait;
use mailer::Mail;
use state::{DueEvent, EmailAddress};

use super::{Carrier, Failure};
use crate::event::EventMessage;
use crate::letter::{Letter, Links};
use crate::stop::StopToken;
use crate::target::Mailbox;
use crate::watches::WatchesParts;

#[async_trait]
impl Carrier for Mailbox {
    async fn carry(&self, event: &DueEvent, parts: &WatchesParts) -> Result<(), Failure> {
        let sender = parts.mail.as_ref();
        let sender = sender.ok_or_else(|| Failure::passing(&"this server sends no mail"))?;
        let to: EmailAddress = self.email.parse().map_err(|error| Failure::passing(&error))?;
        let (now, address) = (parts.clock.now(), || [TryKey::one(to.clone())]);
        let may = sender.sent.check(address(), now);
        may.map_err(|_| Failure::passing(&"the address has received the maximum number of e-mails for today"))?;
        let unreadable = |_: serde_json::Error| Failure::passing(&"the event cannot be written as an e-mail");
        let message: EventMessage = serde_json::from_str(&event.body).map_err(unreadable)?;
        let stop = StopToken::of(event).link(&parts.keys, &sender.public_url);
        let stop = stop.map_err(|_| Failure::passing(&"the e-mail has no unsubscribe link"))?;
        let Letter { subject, text } = Letter::of(
            &message.data,
            &Links {
                market: &sender.public_url,
                stop: &stop,
            },
        );
        let mail = Mail {
            // The id is the same for each attempt.
            id: event.id.clone(),
            to: to.clone(),
            subject,
            text,
            unsubscribe_url: Some(stop),
            made_at: event.created_at,
        };
        sender
            .mailer
            .send(mail)
            .await
            .map_err(|error| Failure::passing(&error))?;
        sender.sent.note(address(), now);
        Ok(())
    }
}
