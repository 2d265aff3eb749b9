//! Signed tokens: compact JWS with EdDSA over Ed25519 (RFC 7515, RFC 8037). Pure.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

pub(crate) const SEED_BYTES: usize = 32;
const ALG: &str = "EdDSA";

/// A public key as a JSON Web Key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Jwk {
    /// Always `OKP`.
    pub kty: &'static str,
    /// Always `Ed25519`.
    pub crv: &'static str,
    /// The key's 32 bytes in base64url.
    pub x: String,
    /// Names the key in tokens: its thumbprint (RFC 7638).
    pub kid: String,
    /// Always `sig`.
    #[serde(rename = "use")]
    pub usage: &'static str,
    /// Always `EdDSA`.
    pub alg: &'static str,
}

/// A key that signs.
pub(crate) struct Signer {
    pair: Ed25519KeyPair,
    kid: String,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.kid)
    }
}

#[derive(Serialize, Deserialize)]
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
    kid: &'a str,
}

impl Signer {
    /// The key that follows from 32 random bytes; `None` where they are not as many.
    pub(crate) fn from_seed(seed: &[u8]) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).ok()?;
        let kid = thumbprint(pair.public_key().as_ref());
        Some(Self { pair, kid })
    }

    pub(crate) fn kid(&self) -> &str {
        &self.kid
    }

    pub(crate) fn public_key(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.pair.public_key().as_ref());
        bytes
    }

    /// A token for the purpose `typ` (RFC 8725, 3.11) that says `claims`.
    pub(crate) fn token(&self, typ: &str, claims: &impl Serialize) -> Result<String, serde_json::Error> {
        let header = Header {
            alg: ALG,
            typ,
            kid: &self.kid,
        };
        Ok(self.signed(&serde_json::to_vec(&header)?, &serde_json::to_vec(claims)?))
    }

    /// Header and payload, and the signature over both (RFC 7515, 7.1).
    fn signed(&self, header: &[u8], payload: &[u8]) -> String {
        let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
        let signature = URL_SAFE_NO_PAD.encode(self.pair.sign(text.as_bytes()));
        format!("{text}.{signature}")
    }
}

/// A public key for those who verify.
pub(crate) fn jwk(public_key: &[u8; 32]) -> Jwk {
    Jwk {
        kty: "OKP",
        crv: "Ed25519",
        x: URL_SAFE_NO_PAD.encode(public_key),
        kid: thumbprint(public_key),
        usage: "sig",
        alg: "EdDSA",
    }
}

/// The thumbprint of a key: SHA-256 of its required members, in their order (RFC 7638; RFC 8037, 2).
fn thumbprint(public_key: &[u8]) -> String {
    let x = URL_SAFE_NO_PAD.encode(public_key);
    let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
    URL_SAFE_NO_PAD.encode(Sha256::digest(members))
}

/// The claims of a token for the purpose `typ` that the key of its header signed; `key` finds the public key of a name.
pub(crate) fn verified<T: DeserializeOwned>(
    token: &str,
    typ: &str,
    key: impl FnOnce(&str) -> Option<[u8; 32]>,
) -> Option<T> {
    let (text, signature) = token.rsplit_once('.')?;
    let (header, _) = text.split_once('.')?;
    let header = URL_SAFE_NO_PAD.decode(header).ok()?;
    let header: Header<'_> = serde_json::from_slice(&header).ok()?;
    let key = key(header.kid).filter(|_| (header.alg, header.typ) == (ALG, typ))?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let key = UnparsedPublicKey::new(&ED25519, key);
    key.verify(text.as_bytes(), &signature).ok()?;
    claims(token)
}

/// The claims of a token, unverified: for tokens that this service kept for itself.
pub(crate) fn claims<T: DeserializeOwned>(token: &str) -> Option<T> {
    let payload = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 8037, appendix A.1.
    fn signer() -> Signer {
        let seed = URL_SAFE_NO_PAD
            .decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
            .unwrap();
        Signer::from_seed(&seed).unwrap()
    }

    #[test]
    fn keys_thumbprints_and_signatures_are_those_of_rfc_8037() {
        let signer = signer();
        let key = jwk(&signer.public_key());
        assert_eq!(key.x, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(key.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(signer.kid(), key.kid);
        assert_eq!(
            signer.signed(br#"{"alg":"EdDSA"}"#, b"Example of Ed25519 signing"),
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        );
    }

    #[test]
    fn a_token_names_its_key_and_says_its_claims() {
        let token = signer()
            .token("JWT", &serde_json::json!({ "iss": "https://haat.example" }))
            .unwrap();
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        insta::assert_snapshot!(String::from_utf8(header).unwrap(), @r#"
        {"alg":"EdDSA","typ":"JWT","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}
        "#);
        let said: serde_json::Value = claims(&token).unwrap();
        assert_eq!(said["iss"], "https://haat.example");
        assert!(!format!("{:?}", signer()).contains("nWG"));
    }

    #[test]
    fn a_seed_of_another_length_is_no_key() {
        assert!(Signer::from_seed(&[1; 31]).is_none() && Signer::from_seed(&[]).is_none());
    }
}
