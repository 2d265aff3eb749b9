use ring::rand::{SecureRandom, SystemRandom};

use crate::cart_failure::CartFailure;

/// Returns 128 unpredictable random bits as hexadecimal digits.
pub(crate) fn random_hex() -> Result<String, CartFailure> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| CartFailure::Random)?;
    Ok(hex::encode(bytes))
}
