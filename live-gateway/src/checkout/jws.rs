//! Signed tokens: compact JWS (RFC 7515) with EdDSA over Ed25519 (RFC 8037) or ECDSA over P-256 (RFC 7518, 3.4).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::error::Unspecified;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    UnparsedPublicKey, VerificationAlgorithm,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::config::SigningAlgorithm;

/// Length in bytes of an Ed25519 public or private key. P-256 keys are longer; a public key has 65 bytes.
const ED25519_BYTES: usize = 32;

impl SigningAlgorithm {
    fn of(public_key: &[u8]) -> Self {
        if public_key.len() == ED25519_BYTES {
            Self::EdDsa
        } else {
            Self::Es256
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Es256 => "ES256",
        }
    }

    fn verification(self) -> &'static dyn VerificationAlgorithm {
        match self {
            Self::EdDsa => &ED25519,
            Self::Es256 => &ECDSA_P256_SHA256_FIXED,
        }
    }
}

/// Public key as a JSON Web Key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Jwk {
    /// Key type: `OKP` or `EC`.
    pub kty: &'static str,
    /// Curve: `Ed25519` or `P-256`.
    pub crv: &'static str,
    /// 32 bytes in base64url: the Ed25519 key, or the x coordinate of the P-256 key.
    pub x: String,
    /// The y coordinate of the P-256 key in base64url.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// Key id used in tokens: the thumbprint of the key (RFC 7638).
    pub kid: String,
    /// Use of the key: always `sig`.
    #[serde(rename = "use")]
    pub usage: &'static str,
    /// Signature algorithm: `EdDSA` or `ES256`.
    pub alg: &'static str,
}

#[derive(Debug)]
enum PrivateKey {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair),
}

impl PrivateKey {
    /// Returns the public key: 32 bytes for Ed25519, or the uncompressed point for P-256.
    fn public_half(&self) -> &[u8] {
        match self {
            Self::Ed25519(pair) => pair.public_key().as_ref(),
            Self::P256(pair) => pair.public_key().as_ref(),
        }
    }
}

pub(crate) struct Signer {
    key: PrivateKey,
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

/// Generates a private key: 32 random bytes for Ed25519, PKCS #8 for P-256.
pub(crate) fn generate(algorithm: SigningAlgorithm) -> Result<Vec<u8>, Unspecified> {
    let random = SystemRandom::new();
    match algorithm {
        SigningAlgorithm::EdDsa => {
            let mut seed = vec![0; ED25519_BYTES];
            random.fill(&mut seed).map(|()| seed)
        }
        SigningAlgorithm::Es256 => EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map(|document| document.as_ref().to_vec()),
    }
}

impl Signer {
    /// Parses a private key from [`generate`]. Returns `None` if the bytes are no private key.
    pub(crate) fn from_private(bytes: &[u8]) -> Option<Self> {
        let key = if bytes.len() == ED25519_BYTES {
            PrivateKey::Ed25519(Ed25519KeyPair::from_seed_unchecked(bytes).ok()?)
        } else {
            let random = SystemRandom::new();
            PrivateKey::P256(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes, &random).ok()?)
        };
        let kid = jwk(key.public_half()).kid;
        Some(Self { key, kid })
    }

    pub(crate) fn kid(&self) -> &str {
        &self.kid
    }

    pub(crate) fn public_key(&self) -> &[u8] {
        self.key.public_half()
    }

    /// Signs `claims` in a token of type `typ` (RFC 8725, 3.11). Returns `None` if the claims cannot be serialised or
    /// the operating system returns no random bytes.
    pub(crate) fn token(&self, typ: &str, claims: &impl Serialize) -> Option<String> {
        let header = Header {
            alg: SigningAlgorithm::of(self.public_key()).name(),
            typ,
            kid: &self.kid,
        };
        self.signed(&serde_json::to_vec(&header).ok()?, &serde_json::to_vec(claims).ok()?)
    }

    /// Returns the token: header, payload and the signature over both (RFC 7515, 7.1).
    fn signed(&self, header: &[u8], payload: &[u8]) -> Option<String> {
        let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(payload));
        let signature = match &self.key {
            PrivateKey::Ed25519(pair) => pair.sign(text.as_bytes()),
            PrivateKey::P256(pair) => pair.sign(&SystemRandom::new(), text.as_bytes()).ok()?,
        };
        let signature = URL_SAFE_NO_PAD.encode(signature);
        Some(format!("{text}.{signature}"))
    }
}

/// Returns a public key for verifiers. The key's thumbprint is the SHA-256 of the required JSON keys in their order
/// (RFC 7638).
pub(crate) fn jwk(public_key: &[u8]) -> Jwk {
    let algorithm = SigningAlgorithm::of(public_key);
    let (kty, crv, x, y) = match algorithm {
        SigningAlgorithm::EdDsa => ("OKP", "Ed25519", public_key, None),
        SigningAlgorithm::Es256 => {
            // An uncompressed point is the byte 4, followed by two coordinates of 32 bytes.
            let (x, y) = public_key
                .get(1..)
                .unwrap_or_default()
                .split_at_checked(32)
                .unwrap_or_default();
            ("EC", "P-256", x, Some(URL_SAFE_NO_PAD.encode(y)))
        }
    };
    let x = URL_SAFE_NO_PAD.encode(x);
    let members = match &y {
        None => format!(r#"{{"crv":"{crv}","kty":"{kty}","x":"{x}"}}"#),
        Some(y) => format!(r#"{{"crv":"{crv}","kty":"{kty}","x":"{x}","y":"{y}"}}"#),
    };
    Jwk {
        kty,
        crv,
        x,
        y,
        kid: URL_SAFE_NO_PAD.encode(Sha256::digest(members)),
        usage: "sig",
        alg: algorithm.name(),
    }
}

/// Verifies a token of type `typ` and returns its claims. `key` returns the public key for the key id in the token's
/// header.
pub(crate) fn verified<T: DeserializeOwned>(
    token: &str,
    typ: &str,
    key: impl FnOnce(&str) -> Option<Vec<u8>>,
) -> Option<T> {
    let (text, signature) = token.rsplit_once('.')?;
    let (header, _) = text.split_once('.')?;
    let header = URL_SAFE_NO_PAD.decode(header).ok()?;
    let header: Header<'_> = serde_json::from_slice(&header).ok()?;
    let key = key(header.kid)?;
    // The algorithm comes from the key, never from the token (RFC 8725, 3.1).
    let algorithm = SigningAlgorithm::of(&key);
    if (header.alg, header.typ) != (algorithm.name(), typ) {
        return None;
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let key = UnparsedPublicKey::new(algorithm.verification(), key);
    key.verify(text.as_bytes(), &signature).ok()?;
    claims(token)
}

/// Returns the claims of a token without verification. The token must come from this service's own state.
pub(crate) fn claims<T: DeserializeOwned>(token: &str) -> Option<T> {
    let payload = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the key of RFC 8037, appendix A.1.
    fn signer() -> Signer {
        let seed = URL_SAFE_NO_PAD
            .decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
            .unwrap();
        Signer::from_private(&seed).unwrap()
    }

    #[test]
    fn keys_thumbprints_and_signatures_are_those_of_rfc_8037() {
        let signer = signer();
        let key = jwk(signer.public_key());
        assert_eq!(key.x, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(key.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(signer.kid(), key.kid);
        assert_eq!(
            signer
                .signed(br#"{"alg":"EdDSA"}"#, b"Example of Ed25519 signing")
                .unwrap(),
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
    fn the_thumbprint_of_a_point_is_that_of_its_members_in_order() {
        // Public key of RFC 7515, appendix A.3.
        let coordinate = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let x = coordinate("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
        let y = coordinate("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
        let key = jwk(&[vec![4], x, y].concat());
        assert_eq!((key.kty, key.crv, key.alg), ("EC", "P-256", "ES256"));
        assert_eq!(key.x, "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
        assert_eq!(key.y.as_deref(), Some("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"));
        assert_eq!(key.kid, "oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U");
    }

    #[test]
    fn a_token_holds_for_its_own_key_and_algorithm_alone() {
        let signers = [SigningAlgorithm::EdDsa, SigningAlgorithm::Es256]
            .map(|algorithm| Signer::from_private(&generate(algorithm).unwrap()).unwrap());
        let claims = serde_json::json!({ "iss": "https://haat.example" });
        for (nth, signer) in signers.iter().enumerate() {
            let token = signer.token("JWT", &claims).unwrap();
            let read = |typ: &str, key: &Signer| {
                verified::<serde_json::Value>(&token, typ, |_| Some(key.public_key().to_vec()))
            };
            assert_eq!(read("JWT", signer), Some(claims.clone()));
            assert_eq!(read("other", signer), None);
            assert_eq!(read("JWT", &signers[1 - nth]), None);
            let forged = token.replacen('.', ".e", 1);
            assert!(verified::<serde_json::Value>(&forged, "JWT", |_| Some(signer.public_key().to_vec())).is_none());
        }
    }

    #[test]
    fn other_bytes_are_no_key() {
        assert!(Signer::from_private(&[1; 31]).is_none() && Signer::from_private(&[]).is_none());
    }
}
