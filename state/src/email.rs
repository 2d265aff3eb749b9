use std::fmt;
use std::str::FromStr;

/// RFC 5321, 4.5.3.1.
const BYTES_MAX: usize = 254;
const LOCAL_BYTES_MAX: usize = 64;
const LABEL_BYTES_MAX: usize = 63;

/// An e-mail address in lowercase. Both sides of the `@` are dot-atoms of ASCII (RFC 5322, 3.4.1), so the address
/// cannot contain a line break or a second address. Display output is masked.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct EmailAddress(String);

/// Error for a text that is not an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an e-mail address")]
pub struct NotAnAddress;

impl EmailAddress {
    /// Returns the unmasked address, to be shown only to its owner.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for EmailAddress {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (local, domain) = text.rsplit_once('@').ok_or(NotAnAddress)?;
        let fits = text.len() <= BYTES_MAX
            && local.len() <= LOCAL_BYTES_MAX
            && local.split('.').all(is_atom)
            && domain.contains('.')
            && domain.split('.').all(is_label);
        fits.then(|| Self(text.to_ascii_lowercase())).ok_or(NotAnAddress)
    }
}

fn is_atom(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

fn is_label(text: &str) -> bool {
    let fits = (1..=LABEL_BYTES_MAX).contains(&text.len()) && !text.starts_with('-') && !text.ends_with('-');
    fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or_default();
        write!(f, "{}***@{domain}", local.get(..1).unwrap_or_default())
    }
}

impl fmt::Debug for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_mailbox_in_lower_case_and_shown_masked() {
        let read: EmailAddress = "Asha.Rao+Shop@Mail.Example".parse().unwrap();
        assert_eq!(read.expose(), "asha.rao+shop@mail.example");
        assert_eq!(format!("{read} {read:?}"), "a***@mail.example a***@mail.example");
        let long = format!("{}@mail.example", "a".repeat(65));
        let longer = format!("a@{}.example", "a.".repeat(130));
        for text in [
            "",
            "asha",
            "@mail.example",
            "asha@",
            "asha@mail",
            "asha@mail..example",
            "asha@-mail.example",
            "asha@[192.0.2.1]",
            ".asha@mail.example",
            "asha..rao@mail.example",
            "asha@mail.example\r\nBcc: b@mail.example",
            "asha\n@mail.example",
            "asha@mail.example,b@mail.example",
            "asha@mail.example b@mail.example",
            "a@b@mail.example",
            "<asha@mail.example>",
            "\"asha rao\"@mail.example",
            "ашa@mail.example",
            &long,
            &longer,
        ] {
            assert_eq!(text.parse::<EmailAddress>(), Err(NotAnAddress), "{text:?}");
        }
    }
}
