use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openidconnect::{Nonce, PkceCodeVerifier};
use sha2::{Digest, Sha256};
use state::{PendingHash, PendingToken};

/// The proof that a provider's answer belongs to the sign-in that a browser began: all of it follows from a secret that
/// the browser alone holds, in a cookie. The server keeps the secret's hash, to take each sign-in once.
#[derive(Debug, Clone)]
pub(crate) struct Proof(PendingToken);

impl Proof {
    pub(crate) const fn of(token: PendingToken) -> Self {
        Self(token)
    }

    /// The hash under which the sign-in is kept.
    pub(crate) fn hash(&self) -> PendingHash {
        self.0.hash()
    }

    /// For the browser's cookie.
    pub(crate) fn secret(&self) -> &str {
        self.0.text()
    }

    /// Comes back with the answer: it was given to this browser.
    pub(crate) fn state(&self) -> String {
        self.derive("state")
    }

    /// Comes back in the ID token: it was made for this sign-in.
    pub(super) fn nonce(&self) -> Nonce {
        Nonce::new(self.derive("nonce"))
    }

    /// Whoever takes the code must hold it (RFC 7636).
    pub(super) fn verifier(&self) -> PkceCodeVerifier {
        PkceCodeVerifier::new(self.derive("verifier"))
    }

    /// 43 characters, as RFC 7636 wants them at least. Each says nothing of the others or of the secret.
    fn derive(&self, what: &str) -> String {
        let hash = Sha256::new()
            .chain_update(format!("haat/oidc/{what}/v1:"))
            .chain_update(self.0.text())
            .finalize();
        URL_SAFE_NO_PAD.encode(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_derived_is_the_same_each_time_and_differs_by_use_and_secret() {
        let proof = |_| Proof::of(PendingToken::generate().unwrap());
        let [one, other] = [0, 1].map(proof);
        assert_eq!(one.state(), one.state());
        let all = [
            one.state(),
            one.nonce().secret().clone(),
            one.verifier().secret().clone(),
            other.state(),
        ];
        for (at, text) in all.iter().enumerate() {
            assert_eq!(text.len(), 43);
            assert!(!all[..at].contains(text), "{all:?}");
        }
        assert!(!format!("{one:?}").contains(&one.secret()[10..]));
    }
}
