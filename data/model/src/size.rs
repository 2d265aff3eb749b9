//! Sizes of what is worn, laid and worn on feet, as labels spell them, read into one spelling.

mod read;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

/// A size in one spelling: `m`, `xxl`, `one-size`, `uk-8.5`, `waist-32`, `34b`, `6-12m`, `4y`, `38`.
///
/// A text that cannot be read without a guess is no size: a range of letters, a number with a unit of length or volume,
/// a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size(Kind);

/// Numbers are in halves: 17 is 8.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// Steps above M.
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

/// The unit that a size counts in. Sizes of one system can be put in order; between systems nothing is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SizeSystem {
    /// XS, S, M, L, …
    Letter,
    /// One for all.
    OneSize,
    /// A number of the United Kingdom.
    Uk,
    /// A number of the United States.
    Us,
    /// A number of continental Europe.
    Eu,
    /// A number of India.
    In,
    /// Round the waist, in inches.
    Waist,
    /// Band and cup.
    Bra,
    /// The age of a child.
    Age,
    /// A number of which nothing says what it counts.
    Number,
}

impl SizeSystem {
    /// All systems.
    pub const ALL: [Self; 10] = [
        Self::Letter,
        Self::OneSize,
        Self::Uk,
        Self::Us,
        Self::Eu,
        Self::In,
        Self::Waist,
        Self::Bra,
        Self::Age,
        Self::Number,
    ];

    /// The system as tables spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Letter => "letter",
            Self::OneSize => "one-size",
            Self::Uk => "uk",
            Self::Us => "us",
            Self::Eu => "eu",
            Self::In => "in",
            Self::Waist => "waist",
            Self::Bra => "bra",
            Self::Age => "age",
            Self::Number => "number",
        }
    }
}

const ONE_SIZE: &str = "one-size";

/// Steps above M that letters reach.
const LETTER_MIN: i8 = -5;
const LETTER_MAX: i8 = 12;

/// G and H are left out: `30g` is a weight.
const CUPS: [&str; 10] = ["aa", "a", "b", "c", "d", "dd", "ddd", "e", "f", "ff"];

/// Months of 18 years.
const AGE_MONTHS_MAX: u16 = 216;

/// The numbers of each system, in halves.
const fn halves(system: SizeSystem) -> std::ops::RangeInclusive<u16> {
    match system {
        SizeSystem::Waist => 32..=140,
        SizeSystem::Eu | SizeSystem::Number => 0..=400,
        _ => 0..=120,
    }
}

impl Size {
    /// Reads a label. `says` is what the option's name says of its numbers: `UK Size` that they are those of the United
    /// Kingdom; [`SizeSystem::Number`] where it says nothing.
    #[must_use]
    pub fn read(label: &str, says: SizeSystem) -> Option<Self> {
        read::label(label, says)
    }

    /// The size that is one word of letters, in lower case: `xl`, `2xl`, `xxs`.
    #[must_use]
    pub fn of_letters(word: &str) -> Option<Self> {
        read::letters(word).map(|steps| Self(Kind::Letter(steps)))
    }

    /// The size that is band and cup in one word, in lower case: `34b`.
    #[must_use]
    pub fn of_cup(word: &str) -> Option<Self> {
        read::cup(word)
    }

    /// The unit that it counts in.
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

    /// Its place among the sizes of its system: a smaller size has a smaller one. Letters count steps from M, which is 0;
    /// numbers are themselves; ages count months at their beginning; a bra is its band, cups between two bands.
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

/// A text is no size in the spelling of [`Size`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a size: {0:?}")]
pub struct NotASize(String);

impl FromStr for Size {
    type Err = NotASize;

    /// Reads the one spelling, and no other.
    fn from_str(text: &str) -> Result<Self, NotASize> {
        let read = Self::read(text, SizeSystem::Number);
        let is_spelled = |size: &Self| size.to_string() == text;
        read.filter(is_spelled)
            .ok_or_else(|| NotASize(crate::ids::excerpt(text)))
    }
}
