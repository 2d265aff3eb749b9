//! A directory of India's pincodes with the district, state and kind of area of each.
//!
//! Input: a [`Pincode`]. Output: its [`Area`], the smallest unit for which delivery rules are stated. An area is a
//! district, or a part of one if a major city ends within it.
//!
//! The data is compiled into the program (`data/reference/pincodes.bin`, packed by [`pack()`]);
//! `data/reference/pincodes.md` describes its source. A lookup takes nanoseconds and allocates nothing.
//!
//! The crate does not know which stores deliver to an area, and never guesses: unknown pincodes have no area.

mod kind;
mod pack;
mod settle;

use std::sync::LazyLock;

use data_model::Pincode;

pub use kind::PlaceKind;
pub use pack::{PackError, pack};

static PACKED: &[u8] = include_bytes!("../../reference/pincodes.bin");

pub(crate) const MAGIC: &[u8; 8] = b"HAATPIN1";

static DIRECTORY: LazyLock<Directory> = LazyLock::new(|| Directory::read(PACKED).unwrap_or_default());

/// Index of an area in [`Directory::areas`], valid for one directory only. Stored data refers to areas by
/// [`Area::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AreaId(pub u16);

impl AreaId {
    /// Returns the id as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A district, or the part of a district that is of a different kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// Permanent name of the area, such as `KARNATAKA/BENGALURU URBAN/metro`.
    pub name: Box<str>,
    /// State or union territory in uppercase. `None` if the source does not state it.
    pub state: Option<Box<str>>,
    /// District in uppercase. `None` if the source does not state it.
    pub district: Option<Box<str>>,
    /// Kind of the area.
    pub kind: PlaceKind,
}

/// All pincodes with their areas.
#[derive(Debug, Default)]
pub struct Directory {
    numbers: Box<[u32]>,
    area_of: Box<[u16]>,
    /// Index of the first pincode of each sorting district (the first three digits), with one more entry at the end.
    begins: Box<[u16]>,
    areas: Box<[Area]>,
    fingerprint: u64,
}

/// Returns the directory that is compiled into the program.
#[must_use]
pub fn directory() -> &'static Directory {
    &DIRECTORY
}

/// A sorting district is the first three digits of a pincode.
const SORTING_DISTRICTS: usize = 1_000;

impl Directory {
    /// Reads a packed file. Returns `None` if it is damaged.
    #[must_use]
    pub fn read(packed: &[u8]) -> Option<Self> {
        let rest = packed.strip_prefix(MAGIC)?;
        let (counts, rest) = rest.split_at_checked(12)?;
        let count = |at: usize| Some(u32::from_le_bytes(counts.get(at..at + 4)?.try_into().ok()?) as usize);
        let (pincodes, areas, text_bytes) = (count(0)?, count(4)?, count(8)?);
        let (text, rest) = rest.split_at_checked(text_bytes)?;
        let (numbers, area_of) = rest.split_at_checked(pincodes.checked_mul(4)?)?;
        let numbers: Box<[u32]> = numbers
            .as_chunks()
            .0
            .iter()
            .map(|four| u32::from_le_bytes(*four))
            .collect();
        let (pairs, []) = area_of.as_chunks() else { return None };
        let area_of: Box<[u16]> = pairs.iter().map(|two| u16::from_le_bytes(*two)).collect();
        let areas_read = std::str::from_utf8(text).ok()?.lines().map(Area::read);
        let areas_read: Box<[Area]> = areas_read.collect::<Option<_>>()?;
        let is_whole = numbers.len() == pincodes
            && area_of.len() == pincodes
            && areas_read.len() == areas
            && numbers.windows(2).all(|pair| pair[0] < pair[1])
            && area_of.iter().all(|area| usize::from(*area) < areas)
            && pincodes <= usize::from(u16::MAX);
        is_whole.then(|| Self {
            begins: begins(&numbers),
            fingerprint: fingerprint(packed),
            numbers,
            area_of,
            areas: areas_read,
        })
    }

    /// Returns the area of a pincode, or `None` if the directory does not have it.
    #[must_use]
    pub fn area(&self, pincode: Pincode) -> Option<AreaId> {
        let number = pincode.number();
        let district = number as usize / 1_000;
        let (from, to) = (*self.begins.get(district)?, *self.begins.get(district + 1)?);
        let of_district = self.numbers.get(usize::from(from)..usize::from(to))?;
        let at = of_district.binary_search(&number).ok()?;
        self.area_of.get(usize::from(from) + at).copied().map(AreaId)
    }

    /// Returns the area with this id.
    #[must_use]
    pub fn get(&self, area: AreaId) -> Option<&Area> {
        self.areas.get(area.index())
    }

    /// Returns the id of the area with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<AreaId> {
        let at = self.areas.binary_search_by(|area| (*area.name).cmp(name)).ok()?;
        u16::try_from(at).ok().map(AreaId)
    }

    /// Returns all areas sorted by name. The index of each is its [`AreaId`].
    #[must_use]
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// Returns all pincodes with their areas, in ascending order.
    pub fn pincodes(&self) -> impl Iterator<Item = (Pincode, AreaId)> + Clone + '_ {
        let both = self.numbers.iter().zip(&self.area_of);
        both.filter_map(|(number, area)| Some((Pincode::from_number(*number)?, AreaId(*area))))
    }

    /// Returns the fingerprint of the directory. Area ids are valid for one directory only.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the number of pincodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns `true` if the directory has no pincodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

impl Area {
    /// Returns the code that store platforms use for the state, or `None` if the area has no state.
    #[must_use]
    pub fn province_code(&self) -> Option<&'static str> {
        let state = self.state.as_deref()?;
        let found = PROVINCES.iter().find(|(name, _)| *name == state);
        found.map(|(_, code)| *code)
    }

    fn read(line: &str) -> Option<Self> {
        let mut parts = line.split('/');
        let (state, district, kind) = (parts.next()?, parts.next()?, parts.next()?);
        let stated = |text: &str| (text != settle::NOT_STATED).then(|| text.into());
        parts.next().is_none().then_some(())?;
        Some(Self {
            name: line.into(),
            state: stated(state),
            district: stated(district),
            kind: kind.parse().ok()?,
        })
    }
}

/// Returns the code that store platforms use for a state of India, given its name or a code in any spelling.
#[must_use]
pub fn province_named(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_uppercase().replace('&', " AND ");
    let words: Vec<&str> = text.split(|char: char| !char.is_ascii_alphabetic()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !matches!(*word, "" | "THE")).collect();
    let text = words.join(" ");
    let is_it = |(name, code): &&(&str, &str)| name.trim_start_matches("THE ") == text || *code == text;
    let found = PROVINCES.iter().chain(&OTHER_NAMES).find(is_it);
    found.map(|(_, code)| *code)
}

/// Former names of states, and codes other than those of the platforms.
const OTHER_NAMES: [(&str, &str); 14] = [
    ("CT", "CG"),
    ("DADRA AND NAGAR HAVELI", "DN"),
    ("DAMAN AND DIU", "DD"),
    ("DH", "DN"),
    ("NATIONAL CAPITAL TERRITORY OF DELHI", "DL"),
    ("NCT OF DELHI", "DL"),
    ("NEW DELHI", "DL"),
    ("OD", "OR"),
    ("ORISSA", "OR"),
    ("PONDICHERRY", "PY"),
    ("TAMILNADU", "TN"),
    ("TG", "TS"),
    ("UT", "UK"),
    ("UTTARANCHAL", "UK"),
];

const PROVINCES: [(&str, &str); 36] = [
    ("ANDAMAN AND NICOBAR ISLANDS", "AN"),
    ("ANDHRA PRADESH", "AP"),
    ("ARUNACHAL PRADESH", "AR"),
    ("ASSAM", "AS"),
    ("BIHAR", "BR"),
    ("CHANDIGARH", "CH"),
    ("CHHATTISGARH", "CG"),
    ("DELHI", "DL"),
    ("GOA", "GA"),
    ("GUJARAT", "GJ"),
    ("HARYANA", "HR"),
    ("HIMACHAL PRADESH", "HP"),
    ("JAMMU AND KASHMIR", "JK"),
    ("JHARKHAND", "JH"),
    ("KARNATAKA", "KA"),
    ("KERALA", "KL"),
    ("LADAKH", "LA"),
    ("LAKSHADWEEP", "LD"),
    ("MADHYA PRADESH", "MP"),
    ("MAHARASHTRA", "MH"),
    ("MANIPUR", "MN"),
    ("MEGHALAYA", "ML"),
    ("MIZORAM", "MZ"),
    ("NAGALAND", "NL"),
    ("ODISHA", "OR"),
    ("PUDUCHERRY", "PY"),
    ("PUNJAB", "PB"),
    ("RAJASTHAN", "RJ"),
    ("SIKKIM", "SK"),
    ("TAMIL NADU", "TN"),
    ("TELANGANA", "TS"),
    ("THE DADRA AND NAGAR HAVELI AND DAMAN AND DIU", "DN"),
    ("TRIPURA", "TR"),
    ("UTTAR PRADESH", "UP"),
    ("UTTARAKHAND", "UK"),
    ("WEST BENGAL", "WB"),
];

fn begins(numbers: &[u32]) -> Box<[u16]> {
    let begin = |district: usize| {
        let at = numbers.partition_point(|number| (*number as usize) < district * 1_000);
        u16::try_from(at).unwrap_or(u16::MAX)
    };
    (0..=SORTING_DISTRICTS).map(begin).collect()
}

/// The FNV-1a hash.
fn fingerprint(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}
