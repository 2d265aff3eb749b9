//! Signatures of Standard Webhooks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// Prefix of secrets as receivers get them.
const PREFIX: &str = "whsec_";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    pub(crate) id: &'a str,
    /// Value of the header `webhook-timestamp`, in seconds since 1970.
    pub(crate) timestamp_s: i64,
    pub(crate) body: &'a str,
}

/// Formats a secret for receivers.
pub(crate) fn secret_of(bytes: &[u8]) -> String {
    format!("{PREFIX}{}", STANDARD.encode(bytes))
}

/// Returns the value of `webhook-signature`: one signature for each secret. Malformed secrets are left out.
pub(crate) fn signatures<'a>(secrets: impl IntoIterator<Item = &'a str>, message: Message<'_>) -> String {
    let Message { id, timestamp_s, body } = message;
    let signed = format!("{id}.{timestamp_s}.{body}");
    let sign = |secret: &str| {
        let key = STANDARD.decode(secret.strip_prefix(PREFIX)?).ok()?;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes());
        Some(format!("v1,{}", STANDARD.encode(tag)))
    };
    let signatures: Vec<String> = secrets.into_iter().filter_map(sign).collect();
    signatures.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_standards_own_example() {
        let message = Message {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp_s: 1_614_265_330,
            body: r#"{"test": 2432232314}"#,
        };
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let signed = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signatures([secret], message), signed);
        assert_eq!(signatures([secret, secret], message), format!("{signed} {signed}"));
        assert_eq!(signatures(["MfKQ9r8G", "whsec_*"], message), "");
    }
}
