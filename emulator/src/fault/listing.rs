//! Invalid records in listings of products.

use super::Fault;
use crate::catalogue::Catalogue;
use crate::generated::Scratch;

/// Invalid records between the real ones of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mischief {
    /// Nonsense values, one after every `every` records.
    Nonsense { every: u64 },
    /// Record that is not valid UTF-8, in the middle of the page.
    InvalidUtf8,
    /// Record with this size, in the middle of the page.
    Huge { bytes: u64 },
}

impl Mischief {
    /// Returns a number for the kind, so that pages with different kinds have different validators.
    pub(crate) fn tag(self) -> u64 {
        match self {
            Self::Nonsense { every } => 1 + (every << 2),
            Self::InvalidUtf8 => 2,
            Self::Huge { bytes } => 3 + (bytes << 2),
        }
    }

    pub(crate) fn of(fault: &Fault) -> Option<Self> {
        match fault {
            Fault::NonsenseRecords { every } => Some(Self::Nonsense {
                every: u64::from((*every).max(1)),
            }),
            Fault::InvalidUtf8 => Some(Self::InvalidUtf8),
            Fault::HugeRecord { bytes } => Some(Self::Huge { bytes: *bytes }),
            _ => None,
        }
    }
}

/// Values that are no products. Each has caused an error in some parser. Ids are outside the range that stores use.
const NONSENSE: &[&str] = &[
    "null",
    "42",
    "\"a product\"",
    "[]",
    "{}",
    "true",
    "{\"id\":\"not-a-number\",\"title\":\"Id is a word\",\"handle\":\"id-is-a-word\",\"variants\":[]}",
    "{\"id\":-1,\"title\":null,\"handle\":null,\"variants\":null,\"images\":null,\"options\":null,\"tags\":null}",
    "{\"id\":1e30,\"title\":\"Huge id\",\"handle\":\"huge-id\",\"variants\":{}}",
    "{\"id\":3,\"title\":7,\"handle\":[],\"body_html\":{},\"tags\":\"a, b\",\"variants\":\"none\",\"images\":5}",
    "{\"id\":4,\"title\":\"Price is an object\",\"handle\":\"price-object\",\"variants\":[{\"id\":40,\"price\":{\"amount\":\"1.00\"},\"title\":\"x\"}]}",
    "{\"id\":5,\"title\":\"Price is negative\",\"handle\":\"price-negative\",\"variants\":[{\"id\":50,\"price\":\"-10.00\",\"title\":\"x\"}]}",
    "{\"id\":6,\"title\":\"Price is a word\",\"handle\":\"price-word\",\"variants\":[{\"id\":60,\"price\":\"free\",\"title\":\"x\"}]}",
    "{\"id\":7,\"title\":\"Price overflows\",\"handle\":\"price-overflow\",\"variants\":[{\"id\":70,\"price\":\"99999999999999999999999.00\",\"title\":\"x\"}]}",
    "{\"id\":8,\"title\":\"\",\"handle\":\"no-title\",\"variants\":[{\"id\":80,\"price\":\"1.00\",\"title\":\"x\"}]}",
    "{\"id\":9,\"title\":\"No variants\",\"handle\":\"no-variants\",\"variants\":[],\"images\":[],\"options\":[],\"tags\":[]}",
    "{\"id\":10,\"id\":11,\"title\":\"Twice the same key\",\"title\":\"Second\",\"handle\":\"twice\",\"variants\":[]}",
    "{\"id\":12,\"title\":\"Half a pair \\ud83d\",\"handle\":\"half-a-pair\",\"variants\":[]}",
];

/// Depth of the nested value after `NONSENSE`, which exceeds the limit of recursive parsers.
const DEPTH: usize = 300;

/// Appends the invalid record after the `nth` record (from 0) of a page of `count`.
pub(crate) fn push_mischief(mischief: Mischief, catalogue: &Catalogue, nth: u64, count: u64, out: &mut Vec<u8>) {
    match mischief {
        Mischief::Nonsense { every } => {
            if (nth + 1).is_multiple_of(every) {
                push_nonsense((nth / every) as usize, out);
            }
        }
        Mischief::InvalidUtf8 if nth == count / 2 => {
            let mut record = Vec::new();
            catalogue.push_invented(0, &mut Scratch::default(), &mut record);
            let title = b"\"title\":\"";
            let at = record
                .windows(title.len())
                .position(|window| window == title)
                .map_or(0, |at| at + title.len());
            out.push(b',');
            out.extend_from_slice(&record[..at]);
            out.extend_from_slice(b"Caf\xe9 \xff\xfe\xc3(");
            out.extend_from_slice(&record[at..]);
        }
        Mischief::Huge { bytes } if nth == count / 2 => {
            out.extend_from_slice(b",{\"id\":13,\"title\":\"Huge\",\"handle\":\"huge\",\"body_html\":\"");
            out.extend(std::iter::repeat_n(
                b'x',
                usize::try_from(bytes.min(1 << 30)).unwrap_or(1 << 30),
            ));
            out.extend_from_slice(b"\",\"tags\":[],\"variants\":[],\"images\":[],\"options\":[]}");
        }
        Mischief::InvalidUtf8 | Mischief::Huge { .. } => {}
    }
}

fn push_nonsense(nth: usize, out: &mut Vec<u8>) {
    out.push(b',');
    match NONSENSE.get(nth % (NONSENSE.len() + 1)) {
        Some(text) => out.extend_from_slice(text.as_bytes()),
        None => {
            out.extend(std::iter::repeat_n(b'[', DEPTH));
            out.extend(std::iter::repeat_n(b']', DEPTH));
        }
    }
}
