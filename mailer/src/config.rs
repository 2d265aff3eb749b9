use data_model::Secret;
use serde::{Deserialize, Serialize};

/// Settings for e-mails of the market: sign-in links, and events of watches.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailConfig {
    /// SMTP server that sends the e-mails. `smtps://HOST` uses TLS from the start. `smtp://HOST` switches to TLS before
    /// anything is sent (STARTTLS), except on this machine. If empty, no e-mail is sent.
    pub smtp_url: String,
    /// User name at the SMTP server; empty for no authentication.
    pub smtp_user: String,
    /// Password of the user at the SMTP server.
    #[serde(serialize_with = "Secret::masked_unless_empty")]
    pub smtp_password: Secret,
    /// Sender address, for example `The market <sign-in@market.example>`.
    pub from: String,
    /// Maximum number of sign-in links sent within an hour, over all recipients.
    pub per_hour_max: u32,
    /// True to keep e-mails in memory and show them to anyone at `/demo/mail`, if no server is set. Only the demo sets
    /// this.
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

/// Reasons why no e-mail can be sent. Messages never contain a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailConfigError {
    /// An SMTP server is set, but the program was built without e-mail support.
    #[error(
        "dashboard.mail.smtp_url is set, but this program was built without e-mail: build it with `--features mail`, or \
         leave it empty and sign in with `haat keys dashboard`"
    )]
    NotBuilt,
    /// The address of the SMTP server is invalid.
    #[error(
        "dashboard.mail.smtp_url must be smtps://HOST or smtp://HOST, followed by :PORT unless the port is 465 or \
         587; set the user name and password in dashboard.mail.smtp_user and smtp_password"
    )]
    SmtpUrl,
    /// The sender address is missing or invalid.
    #[error("dashboard.mail.from must be the sender's address, such as The market <sign-in@market.example>")]
    From,
    /// The TLS client for SMTP cannot be set up.
    #[error("mails cannot be sent: {0}")]
    Smtp(String),
}
