use data_model::Secret;
use serde::{Deserialize, Serialize};

/// Mails of the market: links to sign in with, and events of watches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailConfig {
    /// The server that sends them: `smtps://HOST` speaks TLS from the first byte, `smtp://HOST` goes on with it before anything
    /// is told (STARTTLS), except on this machine. Empty: none are sent.
    pub smtp_url: String,
    /// The name to sign in with there; empty: none.
    pub smtp_user: String,
    /// The password of that name.
    #[serde(serialize_with = "Secret::masked_unless_empty")]
    pub smtp_password: Secret,
    /// The sender, such as `The market <sign-in@market.example>`.
    pub from: String,
    /// Links to sign in with that are mailed within an hour at most, to all who ask.
    pub per_hour_max: u32,
    /// Without a server, mails are kept in memory and shown at `/demo/mail`, to anybody: only the demo sets it.
    #[serde(skip)]
    pub outbox: bool,
}

impl Default for MailConfig {
    fn default() -> Self {
        Self {
            smtp_url: String::new(),
            smtp_user: String::new(),
            smtp_password: Secret::new(""),
            from: String::new(),
            per_hour_max: 500,
            outbox: false,
        }
    }
}

/// The reason why no mail can be sent. No message holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailConfigError {
    /// A server is named, but the program cannot speak to one.
    #[error(
        "dashboard.mail.smtp_url is set, but this program was built without e-mail: build it with `--features mail`, or \
         leave it empty and sign in with `haat keys dashboard`"
    )]
    NotBuilt,
    /// The server is none that can be spoken to.
    #[error(
        "dashboard.mail.smtp_url must be smtps://HOST or smtp://HOST, with :PORT where it is not 465 or 587; a name and a \
         password stand in dashboard.mail.smtp_user and smtp_password"
    )]
    SmtpUrl,
    /// Mails have no sender.
    #[error("dashboard.mail.from must be the address of the sender, such as The market <sign-in@market.example>")]
    From,
    /// Mails cannot be sent over TLS.
    #[error("mails cannot be sent: {0}")]
    Smtp(String),
}
