//! Random bytes and characters from the operating system's generator.

use ring::rand::{SecureRandom, SystemRandom};

#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the operating system does not provide random bytes")]
pub(crate) struct RandomError;

pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), RandomError> {
    SystemRandom::new().fill(bytes).map_err(|_| RandomError)
}

/// Returns `N` uniformly random characters of `alphabet`, which has at most 64.
pub(crate) fn characters<const N: usize>(alphabet: &[u8]) -> Result<[u8; N], RandomError> {
    let mut characters = [0; N];
    let mut filled = 0;
    let mut bytes = [0; 64];
    while filled < N {
        fill(&mut bytes)?;
        // Numbers beyond the alphabet are skipped, so that all characters are equally likely.
        let drawn = bytes.iter().filter_map(|byte| alphabet.get(usize::from(byte & 0x3f)));
        for (place, character) in characters[filled..].iter_mut().zip(drawn) {
            *place = *character;
            filled += 1;
        }
    }
    Ok(characters)
}

pub(crate) fn characters_of_32<const N: usize>(alphabet: &[u8; 32]) -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes.map(|byte| alphabet[usize::from(byte & 0x1f)]))
}
