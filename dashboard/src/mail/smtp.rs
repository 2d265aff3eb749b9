use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::extension::ClientId;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::sync::{Mutex, Semaphore};
use url::Url;

use super::Mail;
use crate::config::{DashboardConfigError, MailConfig};

/// Mails that wait or are being sent: the last one is there before its link ends.
const WAITING_MAX: usize = 30;
const STEP_TIMEOUT: Duration = Duration::from_secs(8);
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sends mails through one server, one at a time, each once: whoever waits for one in vain asks again.
#[derive(Debug)]
pub(crate) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    places: Arc<Semaphore>,
    turn: Mutex<()>,
}

impl Smtp {
    pub(super) fn new(config: &MailConfig) -> Result<Self, DashboardConfigError> {
        // Text after the mailbox is not read: it must not go on in another line.
        let from = Some(&config.from).filter(|from| !from.contains(char::is_control));
        let from: Option<Mailbox> = from.and_then(|from| from.parse().ok());
        let from = from.ok_or(DashboardConfigError::MailFrom)?;
        let url = Url::parse(&config.smtp_url).map_err(|_| DashboardConfigError::SmtpUrl)?;
        let is_plain = matches!(url.path(), "" | "/")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        let host = url.host_str().filter(|host| is_plain && !host.is_empty());
        let host = host.ok_or(DashboardConfigError::SmtpUrl)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let builder = match url.scheme() {
            "smtps" => AsyncSmtpTransport::<Tokio1Executor>::relay(host),
            "smtp" if is_here => Ok(AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)),
            // A server that does not go on with TLS gets neither the password nor the mail.
            "smtp" => AsyncSmtpTransport::<Tokio1Executor>::starttls_relay(host),
            _ => return Err(DashboardConfigError::SmtpUrl),
        };
        let mut builder = builder
            .map_err(|error| DashboardConfigError::Smtp(error.to_string()))?
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

    pub(super) fn take(self: &Arc<Self>, mail: Mail) -> bool {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return false;
        };
        let smtp = Arc::clone(self);
        tokio::spawn(async move {
            let turn = smtp.turn.lock().await;
            let outcome = smtp.send(&mail).await;
            metrics::counter!("dashboard_mails_total", "outcome" => outcome).increment(1);
            drop((turn, place));
        });
        true
    }

    async fn send(&self, mail: &Mail) -> &'static str {
        let Ok(message) = self.message(mail) else {
            tracing::warn!(to = %mail.to, "a mail cannot be written");
            return "failed";
        };
        match tokio::time::timeout(TIMEOUT, self.transport.send(message)).await {
            Ok(Ok(_)) => return "sent",
            Ok(Err(error)) => failed(mail, &error),
            Err(_) => tracing::warn!(to = %mail.to, "a mail was not taken in time"),
        }
        "failed"
    }

    fn message(&self, mail: &Mail) -> Result<Message, Box<dyn std::error::Error>> {
        let domain = self.from.email.domain();
        let message = Message::builder()
            .message_id(Some(format!("<haat.{}@{domain}>", mail.made_at.micros())))
            .from(self.from.clone())
            .to(Mailbox::new(None, mail.to.expose().parse()?))
            .subject(mail.subject.clone())
            .header(ContentType::TEXT_PLAIN);
        Ok(message.body(mail.text.clone())?)
    }
}

/// The reason is logged for the operator. The server's own words are left out, for they may repeat the address.
fn failed(mail: &Mail, error: &Error) {
    match error.status() {
        Some(status) => tracing::warn!(to = %mail.to, %status, "the mail server refuses a mail"),
        None if error.is_response() => tracing::warn!(to = %mail.to, "the mail server answers no SMTP"),
        None => {
            let error: &dyn std::error::Error = error;
            tracing::warn!(to = %mail.to, error, "a mail cannot be sent");
        }
    }
}
