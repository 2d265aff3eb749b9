use ring::rand::{SecureRandom, SystemRandom};

use crate::cart_failure::CartFailure;

/// 128 random bits as hexadecimal digits: what nobody can guess.
pub(crate) fn random_hex() -> Result<String, CartFailure> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| CartFailure::Random)?;
    Ok(hex::encode(bytes))
}
