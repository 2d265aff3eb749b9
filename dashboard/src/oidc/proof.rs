use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openidconnect::{Nonce, PkceCodeVerifier};
use sha2::{Digest, Sha256};
use state::{PendingHash, PendingToken};

/// Proof that a provider's response belongs to the sign-in that a browser started. All values are derived from a secret
/// in the browser's cookie. The server stores only a hash of the secret, so that each sign-in can be used once.
#[derive(Debug, Clone)]
pub(crate) struct Proof(PendingToken);

impl Proof {
    pub(crate) const fn of(token: PendingToken) -> Self {
        Self(token)
    }

    /// Returns the hash under which the pending sign-in is stored.
    pub(crate) fn hash(&self) -> PendingHash {
        self.0.hash()
    }

    /// Returns the secret for the browser's cookie.
    pub(crate) fn secret(&self) -> &str {
        self.0.text()
    }

    /// Returns the `state` parameter. The provider's response repeats it, which proves that the response belongs to
    /// this browser.
    pub(crate) fn state(&self) -> String {
        self.derive("state")
    }

    /// Returns the nonce. The ID token repeats it, which proves that the token was issued for this sign-in.
    pub(super) fn nonce(&self) -> Nonce {
        Nonce::new(self.derive("nonce"))
    }

    /// Returns the PKCE verifier, which is needed to redeem the code (RFC 7636).
    pub(super) fn verifier(&self) -> PkceCodeVerifier {
        PkceCodeVerifier::new(self.derive("verifier"))
    }

    /// Derives a value of 43 characters, the minimum length in RFC 7636. A value reveals neither the other values nor
    /// the secret.
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
