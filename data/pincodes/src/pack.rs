use std::collections::{BTreeMap, BTreeSet};

use data_model::Pincode;

use crate::settle::{NOT_STATED, Place, Point, settled};
use crate::{MAGIC, PlaceKind};

/// Reason why a table of pincodes cannot be packed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// The first line does not name the columns `pincode`, `district` and `state`.
    #[error("the header must contain the columns pincode, district and state")]
    Header,
    /// A line lacks a column, is quoted, or has an invalid pincode.
    #[error("line {line} cannot be read")]
    Line {
        /// Line number, from 1.
        line: usize,
    },
    /// A pincode occurs twice.
    #[error("pincode {pincode} is a duplicate")]
    Twice {
        /// The duplicate pincode.
        pincode: u32,
    },
    /// The table has more pincodes or areas than the layout supports.
    #[error("the file has too many pincodes or areas")]
    TooMany,
}

/// Packs a table of pincodes into the layout that [`crate::Directory`] reads.
///
/// The table is CSV without quotes. The columns are `pincode`, `district`, `state` and optionally `latitude` and
/// `longitude`; other columns are ignored. Statements about a pincode that conflict with the other rows of the table
/// are dropped.
///
/// The layout is `HAATPIN1`; the numbers of pincodes, areas and bytes of text as little-endian `u32`; a line of text
/// for each area; the pincodes as `u32` in ascending order; and the area of each as `u16`.
pub fn pack(csv: &str) -> Result<Vec<u8>, PackError> {
    let mut lines = csv.lines().enumerate();
    let header: Vec<&str> = lines.next().map_or(Vec::new(), |(_, line)| line.split(',').collect());
    let column = |name| header.iter().position(|title| *title == name).ok_or(PackError::Header);
    let (pincode, district, state) = (column("pincode")?, column("district")?, column("state")?);
    let (latitude, longitude) = (column("latitude").ok(), column("longitude").ok());
    let mut places: BTreeMap<u32, Place> = BTreeMap::new();
    for (nth, line) in lines {
        let wrong = PackError::Line { line: nth + 1 };
        let parts: Vec<&str> = line.split(',').collect();
        if parts.len() != header.len() || line.contains('"') {
            return Err(wrong);
        }
        let number = parts[pincode].parse::<Pincode>().map_err(|_| wrong)?.number();
        let degrees = |column: Option<usize>| column.and_then(|column| parts[column].parse::<f64>().ok());
        let at = degrees(latitude).zip(degrees(longitude));
        let place = Place {
            state: tidy(parts[state]),
            district: tidy(parts[district]),
            at: at.map(|(latitude, longitude)| Point { latitude, longitude }),
        };
        if places.insert(number, place).is_some() {
            return Err(PackError::Twice { pincode: number });
        }
    }
    let names = settled(&places).into_iter().map(|(number, place)| {
        let Place { state, district, .. } = place;
        let kind = PlaceKind::of(number, &state, &district);
        (number, format!("{state}/{district}/{kind}"))
    });
    write(&names.collect())
}

fn tidy(text: &str) -> String {
    let upper = text.to_uppercase().replace('/', " ");
    let words: Vec<&str> = upper.split_whitespace().collect();
    if words.is_empty() {
        NOT_STATED.to_owned()
    } else {
        words.join(" ")
    }
}

fn write(names: &BTreeMap<u32, String>) -> Result<Vec<u8>, PackError> {
    let areas: BTreeSet<&str> = names.values().map(String::as_str).collect();
    let areas: Vec<&str> = areas.into_iter().collect();
    let text: String = areas.iter().flat_map(|area| [area, "\n"]).collect();
    let mut packed = MAGIC.to_vec();
    for count in [names.len(), areas.len(), text.len()] {
        let fits = count <= usize::from(u16::MAX) || count == text.len();
        let count = u32::try_from(count).ok().filter(|_| fits).ok_or(PackError::TooMany)?;
        packed.extend(count.to_le_bytes());
    }
    packed.extend(text.as_bytes());
    packed.extend(names.keys().flat_map(|number| number.to_le_bytes()));
    for name in names.values() {
        let at = areas.binary_search(&name.as_str()).ok();
        let at = at.and_then(|at| u16::try_from(at).ok()).ok_or(PackError::TooMany)?;
        packed.extend(at.to_le_bytes());
    }
    Ok(packed)
}
