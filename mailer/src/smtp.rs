use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::sync::{Mutex, Semaphore};
use url::Url;

use crate::config::{MailConfig, MailConfigError};
use crate::{Mail, MailError, SEND_TIMEOUT};

/// Maximum number of e-mails that wait or are being sent. Even the last one arrives before its sign-in link expires.
const WAITING_MAX: usize = 30;
const STEP_TIMEOUT: Duration = Duration::from_secs(8);
const TIMEOUT: Duration = Duration::from_secs(20);

const UNSUBSCRIBE: HeaderName = HeaderName::new_from_ascii_str("List-Unsubscribe");
const UNSUBSCRIBE_POST: HeaderName = HeaderName::new_from_ascii_str("List-Unsubscribe-Post");

/// SMTP transport that sends e-mails through one server, one at a time.
#[derive(Debug)]
pub(crate) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    places: Arc<Semaphore>,
    turn: Mutex<()>,
}

impl Smtp {
    pub(crate) fn new(config: &MailConfig) -> Result<Self, MailConfigError> {
        // Text after the mailbox is not parsed, so control characters are refused to prevent additional header lines.
        let from = Some(&config.from).filter(|from| !from.contains(char::is_control));
        let from: Option<Mailbox> = from.and_then(|from| from.parse().ok());
        let from = from.ok_or(MailConfigError::From)?;
        let url = Url::parse(&config.smtp_url).map_err(|_| MailConfigError::SmtpUrl)?;
        let is_plain = matches!(url.path(), "" | "/")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let host = url.host_str().filter(|host| is_plain && !host.is_empty());
        let host = host.ok_or(MailConfigError::SmtpUrl)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let builder = match url.scheme() {
            "smtps" => AsyncSmtpTransport::<Tokio1Executor>::relay(host),
            "smtp" if is_here => Ok(AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)),
            // A server without TLS receives neither the password nor the e-mail.
            "smtp" => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(host),
            _ => return Err(MailConfigError::SmtpUrl),
        };
        let mut builder = builder
            .map_err(|error| MailConfigError::Smtp(error.to_string()))?
            .hello_name(ClientId::Domain(from.email.domain().to_owned()))
            .timeout(Some(STEP_TIMEOUT));
        if let Some(port) = url.port() {
            builder = builder.port(port);
        }
        if !config.smtp_user.is_empty() {
            let password = config.smtp_password.expose().to_owned();
            builder = builder.credentials(Credentials::new(config.smtp_user.clone(), password));
        }
        Ok(Self {
            transport: builder.build(),
            from,
            places: Arc::new(Semaphore::new(WAITING_MAX)),
            turn: Mutex::new(()),
        })
    }

    /// Sends an e-mail once in the background. If it does not arrive, its recipient can request another one.
    pub(crate) fn take(self: &Arc<Self>, mail: Mail) -> bool {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return false;
        };
        let smtp = Arc::clone(self);
        tokio::spawn(async move {
            let turn = smtp.turn.lock().await;
            // The error is already logged.
            let _ = smtp.send_now(&mail).await;
            drop((turn, place));
        });
        true
    }

    /// Waits for earlier e-mails for a limited time, then sends this one.
    pub(crate) async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let turn = tokio::time::timeout(SEND_TIMEOUT - TIMEOUT, self.turn.lock()).await;
        let _turn = turn.map_err(|_| MailError::Busy)?;
        self.send_now(mail).await
    }

    async fn send_now(&self, mail: &Mail) -> Result<(), MailError> {
        let sent = self.hand_over(mail).await;
        let outcome = if sent.is_ok() { "sent" } else { "failed" };
        metrics::counter!("mails_total", "outcome" => outcome).increment(1);
        sent
    }

    async fn hand_over(&self, mail: &Mail) -> Result<(), MailError> {
        let message = self.message(mail).map_err(|_| {
            tracing::warn!(to = %mail.to, "an e-mail cannot be encoded");
            MailError::Unwritable
        })?;
        match tokio::time::timeout(TIMEOUT, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(failed(mail, &error)),
            Err(_) => {
                tracing::warn!(to = %mail.to, "the mail server did not accept an e-mail in time");
                Err(MailError::Unavailable)
            }
        }
    }

    fn message(&self, mail: &Mail) -> Result<Message, Box<dyn std::error::Error>> {
        let domain = self.from.email.domain();
        let mut message = Message::builder()
            .message_id(Some(format!("<haat.{}@{domain}>", mail.id)))
            .from(self.from.clone())
            .to(Mailbox::new(None, mail.to.expose().parse()?))
            .subject(mail.subject.clone())
            .header(ContentType::TEXT_PLAIN);
        if let Some(url) = &mail.unsubscribe_url {
            let one_click = "List-Unsubscribe=One-Click".to_owned();
            message = message
                .raw_header(HeaderValue::new(UNSUBSCRIBE, format!("<{url}>")))
                .raw_header(HeaderValue::new(UNSUBSCRIBE_POST, one_click));
        }
        Ok(message.body(mail.text.clone())?)
    }
}

/// Logs the error for the operator and converts it. The server's message is left out, because it may contain the
/// address.
fn failed(mail: &Mail, error: &Error) -> MailError {
    match error.status() {
        Some(status) => {
            tracing::warn!(to = %mail.to, %status, "the mail server refuses an e-mail");
            return MailError::Refused(status.to_string());
        }
        None if error.is_response() => tracing::warn!(to = %mail.to, "the mail server does not speak SMTP"),
        None => {
            let error: &dyn std::error::Error = error;
            tracing::warn!(to = %mail.to, error, "an e-mail cannot be sent");
        }
    }
    MailError::Unavailable
}
