//! Variable-length integers with seven bits per byte, lowest bits first. Small numbers take few bytes.

pub(crate) fn write(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Returns `None` at the end. A truncated or overlong number gives the bits that were read.
pub(crate) fn read(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut byte = bytes.next()?;
    let (mut number, mut shift) = (u32::from(byte & 0x7f), 7);
    while byte & 0x80 != 0 {
        byte = bytes.next().unwrap_or(0);
        number |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
    }
    Some(number)
}
