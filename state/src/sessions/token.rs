use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::error::StateError;
use crate::random;

/// 43 characters of a set of 62 encode 256 random bits.
const SECRET_CHARS: usize = 43;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Error for a text that cannot be a token. The error contains no part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is not a session token")]
pub struct TokenError;

/// Defines a secret token of 256 random bits, and the type of its hash.
macro_rules! token {
    ($(#[$about:meta])* $token:ident, $(#[$about_hash:meta])* $hash:ident, $prefix:literal) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $token(String);

        $(#[$about_hash])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $hash([u8; 32]);

        impl $token {
            /// Generates a token with 256 random bits.
            ///
            /// # Errors
            /// [`StateError::Random`].
            pub fn generate() -> Result<Self, StateError> {
                let secret: [u8; SECRET_CHARS] = random::characters(ALPHABET)?;
                Ok(Self(format!("{}{}", $prefix, String::from_utf8_lossy(&secret))))
            }

            /// Returns the secret text, to be given only to its owner.
            #[must_use]
            pub fn text(&self) -> &str {
                &self.0
            }

            /// Returns the hash of the token.
            #[must_use]
            pub fn hash(&self) -> $hash {
                $hash(Sha256::digest(&self.0).into())
            }
        }

        impl FromStr for $token {
            type Err = TokenError;

            fn from_str(text: &str) -> Result<Self, TokenError> {
                let secret = text.strip_prefix($prefix).ok_or(TokenError)?.as_bytes();
                let fits = secret.len() == SECRET_CHARS && secret.iter().all(u8::is_ascii_alphanumeric);
                fits.then(|| Self(text.to_owned())).ok_or(TokenError)
            }
        }

        impl fmt::Debug for $token {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($token), "(***)"))
            }
        }

        impl $hash {
            /// Returns the hash as bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Debug for $hash {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($hash), "({}…)"), hex::encode(&self.0[..4]))
            }
        }
    };
}

token!(
    /// The content of a session cookie.
    SessionToken,
    /// The SHA-256 of a session's token. A plain hash is sufficient, because 256 random bits cannot be guessed.
    SessionHash,
    "haat_sess_"
);
token!(
    /// The secret in a sign-in link.
    LinkToken,
    /// The SHA-256 of a link's token.
    LinkHash,
    "haat_link_"
);
token!(
    /// The secret that binds a sign-in at a provider to the browser that started it.
    PendingToken,
    /// The SHA-256 of a token that binds a sign-in to a browser.
    PendingHash,
    "haat_pend_"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_is_written_and_no_other_kind_is_taken_for_it() {
        let token = SessionToken::generate().unwrap();
        assert_eq!(token.text().parse(), Ok(token.clone()));
        assert_eq!(token.text().len(), 53);
        assert_ne!(token.hash(), SessionToken::generate().unwrap().hash());
        let link = LinkToken::generate().unwrap();
        for text in [
            "",
            link.text(),
            &token.text()[1..],
            &token.text()[..52],
            &format!("{}x", token.text()),
            &token.text().replacen(&token.text()[20..21], "-", 1),
            &format!("haat_sess_{}é", &token.text()[10..51]),
        ] {
            assert_eq!(text.parse::<SessionToken>(), Err(TokenError), "{text:?}");
        }
        let shown = format!("{token:?} {:?}", token.hash());
        assert!(!shown.contains(&token.text()[10..]), "{shown}");
    }
}
