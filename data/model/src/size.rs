//! Parses size labels of clothing, footwear and bedding into one canonical spelling.

mod read;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

/// A size in canonical spelling, such as `m`, `xxl`, `one-size`, `uk-8.5`, `waist-32`, `34b`, `6-12m`, `4y` or `38`.
///
/// Labels that would need a guess are rejected: ranges of letter sizes, numbers with a unit of length or volume, and
/// other text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size(Kind);

/// Numbers are stored in halves: 17 means 8.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// Number of steps above M.
    Letter(i8),
    OneSize,
    Region(SizeSystem, u16),
    Bra {
        band: u8,
        cup: u8,
    },
    Age {
        from_months: u16,
        to_months: u16,
    },
}

crate::named! {
    /// System in which a size is stated. Sizes of one system can be ordered. Sizes are never converted between systems.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum SizeSystem {
        /// Letter sizes: XS, S, M, L and so on.
        Letter = "letter",
        /// One size fits all.
        OneSize = "one-size",
        /// A United Kingdom size number.
        Uk = "uk",
        /// A United States size number.
        Us = "us",
        /// A continental European size number.
        Eu = "eu",
        /// An Indian size number.
        In = "in",
        /// Waist measurement in inches.
        Waist = "waist",
        /// Bra size: band and cup.
        Bra = "bra",
        /// Age of a child.
        Age = "age",
        /// A number in an unknown size system.
        Number = "number",
    }
}

const ONE_SIZE: &str = "one-size";

const LETTER_MIN: i8 = -5;
const LETTER_MAX: i8 = 12;

/// Cups G and H are left out because `30g` is a weight.
const CUPS: [&str; 10] = ["aa", "a", "b", "c", "d", "dd", "ddd", "e", "f", "ff"];

/// Maximum age in months: 18 years.
const AGE_MONTHS_MAX: u16 = 216;

const fn halves(system: SizeSystem) -> std::ops::RangeInclusive<u16> {
    match system {
        SizeSystem::Waist => 32..=140,
        SizeSystem::Eu | SizeSystem::Number => 0..=400,
        _ => 0..=120,
    }
}

impl Size {
    /// Parses a size label. `says` is the system in the option's name: UK numbers for `UK Size`, and
    /// [`SizeSystem::Number`] if the name states no system.
    #[must_use]
    pub fn read(label: &str, says: SizeSystem) -> Option<Self> {
        read::label(label, says)
    }

    /// Parses a letter size from one lowercase word, such as `xl`, `2xl` or `xxs`.
    #[must_use]
    pub fn of_letters(word: &str) -> Option<Self> {
        read::letters(word).map(|steps| Self(Kind::Letter(steps)))
    }

    /// Parses a bra size, with band and cup in one lowercase word such as `34b`.
    #[must_use]
    pub fn of_cup(word: &str) -> Option<Self> {
        read::cup(word)
    }

    /// Returns the system of the size.
    #[must_use]
    pub const fn system(self) -> SizeSystem {
        match self.0 {
            Kind::Letter(_) => SizeSystem::Letter,
            Kind::OneSize => SizeSystem::OneSize,
            Kind::Region(system, _) => system,
            Kind::Bra { .. } => SizeSystem::Bra,
            Kind::Age { .. } => SizeSystem::Age,
        }
    }

    /// Returns a sort key among the sizes of one system, which is lower for smaller sizes. The key is the step from M
    /// for letters, the number itself for numbers, and the starting age in months for ages. For bras, the key is the
    /// band, with cups in between.
    #[must_use]
    pub fn ordinal(self) -> f64 {
        match self.0 {
            Kind::Letter(steps) => f64::from(steps),
            Kind::OneSize => 0.0,
            Kind::Region(_, halves) => f64::from(halves) / 2.0,
            Kind::Bra { band, cup } => f64::from(band) + f64::from(cup) / 100.0,
            Kind::Age { from_months, .. } => f64::from(from_months),
        }
    }

    fn of_halves(system: SizeSystem, halves: u16) -> Option<Self> {
        self::halves(system)
            .contains(&halves)
            .then_some(Self(Kind::Region(system, halves)))
    }

    fn of_age(from_months: u16, to_months: u16) -> Option<Self> {
        let is_age = from_months <= to_months && to_months > 0 && to_months <= AGE_MONTHS_MAX;
        is_age.then_some(Self(Kind::Age { from_months, to_months }))
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Size({self})")
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Letter(steps) => letters_of(f, steps),
            Kind::OneSize => f.write_str(ONE_SIZE),
            Kind::Region(SizeSystem::Number, halves) => number(f, halves),
            Kind::Region(system, halves) => {
                write!(f, "{}-", system.as_str())?;
                number(f, halves)
            }
            Kind::Bra { band, cup } => write!(f, "{band}{}", CUPS.get(usize::from(cup)).copied().unwrap_or_default()),
            Kind::Age { from_months, to_months } => {
                let in_years = from_months.is_multiple_of(12) && to_months.is_multiple_of(12);
                match (in_years, from_months == to_months) {
                    (true, true) => write!(f, "{}y", to_months / 12),
                    (true, false) => write!(f, "{}-{}y", from_months / 12, to_months / 12),
                    // `6m` would be a length.
                    (false, true) => write!(f, "{to_months}mo"),
                    (false, false) => write!(f, "{from_months}-{to_months}m"),
                }
            }
        }
    }
}

fn letters_of(f: &mut fmt::Formatter<'_>, steps: i8) -> fmt::Result {
    match steps {
        ..-3 => write!(f, "{}xs", steps.unsigned_abs() - 1),
        -3 => f.write_str("xxs"),
        -2 => f.write_str("xs"),
        -1 => f.write_str("s"),
        0 => f.write_str("m"),
        1 => f.write_str("l"),
        2 => f.write_str("xl"),
        3 => f.write_str("xxl"),
        _ => write!(f, "{}xl", steps - 1),
    }
}

fn number(f: &mut fmt::Formatter<'_>, halves: u16) -> fmt::Result {
    write!(f, "{}{}", halves / 2, if halves.is_multiple_of(2) { "" } else { ".5" })
}

/// Error: a text is not in the canonical spelling of [`Size`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a size: {0:?}")]
pub struct NotASize(String);

impl FromStr for Size {
    type Err = NotASize;

    /// Parses the canonical spelling only.
    fn from_str(text: &str) -> Result<Self, NotASize> {
        let read = Self::read(text, SizeSystem::Number);
        let is_spelled = |size: &Self| size.to_string() == text;
        read.filter(is_spelled)
            .ok_or_else(|| NotASize(crate::ids::excerpt(text)))
    }
}
