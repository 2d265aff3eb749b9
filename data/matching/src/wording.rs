use rustc_hash::FxHashSet;

use crate::ends::are_swapped;
use crate::judgement::Reason;
use crate::maker::Maker;
use crate::quantity::Measure;
use crate::reading::Reading;
use crate::words::{Packing, Word, sound};

/// Reason why a word of one title does not need a counterpart in the other title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Excuse {
    /// The word names the maker or the store.
    Name,
    /// The other product's attributes or options contain the word.
    Stated,
    /// The other product's type contains the word.
    Typed,
    /// The word has no meaning for the product.
    Soft,
    /// The word names a purpose, and the other title names none.
    Purpose,
    /// The word is part of an amount that the other product also states.
    Amount,
    /// The word matters only if the other title has a different word of the same kind.
    Link,
}

/// Comparison of the words of two titles.
#[derive(Debug)]
pub(crate) struct Wording<'a> {
    /// Number of words in both titles, without names.
    pub(crate) same: usize,
    /// Common words that the two titles spell differently.
    spelt: Vec<&'a str>,
    /// Words that only one title has, for each side.
    left: [Vec<(&'a Word, Option<Excuse>)>; 2],
    /// `true` if equal numbers, or the ends of a converter, appear in a different order.
    is_reordered: bool,
}

impl<'a> Wording<'a> {
    pub(crate) fn of(one: &'a Reading, other: &'a Reading) -> Self {
        let (mut mine, mut theirs): (Vec<&Word>, Vec<&Word>) =
            (one.words.iter().collect(), other.words.iter().collect());
        let names = (names(one, [one, other]), names(other, [one, other]));
        let is_name = |word: &Word| names.0.contains(word.sound.as_str()) || names.1.contains(word.sound.as_str());
        let is_reordered = are_reordered(one, other) || are_swapped(one.ends.as_ref(), other.ends.as_ref());
        let (mut same, mut spelt) = (0, Vec::new());
        for is_exact in [true, false] {
            mine.retain(|word| {
                let fits = |their: &&&Word| {
                    if is_exact {
                        their.is_same(word)
                    } else {
                        their.is_near(word)
                    }
                };
                let Some(at) = theirs.iter().position(|their| fits(&their)) else {
                    return true;
                };
                theirs.remove(at);
                same += usize::from(!is_name(word) && !word.is_link());
                if !is_exact {
                    spelt.push(word.stem.as_str());
                }
                false
            });
        }
        spelt.extend(
            join(&mut mine, &mut theirs)
                .into_iter()
                .chain(join(&mut theirs, &mut mine))
                .inspect(|_| same += 1),
        );
        let packed = packed([one, other]);
        let excused = |left: Vec<&'a Word>, names: &FxHashSet<&str>, (of, by): (&Reading, &Reading)| {
            let sides = UnmatchedWords {
                of,
                by,
                names,
                packed,
                has_container: left.iter().any(|word| word.is_container()),
                has_purpose: by.words.iter().any(|word| word.is_purpose),
            };
            left.into_iter().map(|word| (word, sides.excuse(word))).collect()
        };
        Self {
            same,
            spelt,
            is_reordered,
            left: [
                excused(mine, &names.0, (one, other)),
                excused(theirs, &names.1, (other, one)),
            ],
        }
    }

    fn excused(&self, side: usize, wanted: Excuse) -> impl Iterator<Item = &'a Word> {
        let left = self.left.get(side).into_iter().flatten();
        left.filter(move |(_, excuse)| *excuse == Some(wanted))
            .map(|(word, _)| *word)
    }

    /// Returns the reduction of the confidence, or `None` if a word lacks a required counterpart.
    pub(crate) fn doubts(&self) -> Option<f32> {
        if self.is_reordered || self.left.iter().flatten().any(|(_, excuse)| excuse.is_none()) {
            return None;
        }
        let counts = |wanted| [0, 1].map(|side| self.excused(side, wanted).count());
        let (soft, purpose, stated) = (counts(Excuse::Soft), counts(Excuse::Purpose), counts(Excuse::Stated));
        let (typed, links) = (counts(Excuse::Typed), counts(Excuse::Link));
        // If both titles have such generic words, the products may differ, such as a jar and a bottle. Different
        // product types may also mean different products.
        if [soft, typed, links]
            .iter()
            .any(|[mine, theirs]| *mine > 0 && *theirs > 0)
        {
            return None;
        }
        let stated = stated.iter().chain(&typed);
        let spelt = 0.02 * self.spelt.len() as f32;
        let purpose = if purpose.iter().sum::<usize>() > 0 { 0.06 } else { 0.0 };
        Some(spelt + purpose + 0.02 * soft.iter().sum::<usize>() as f32 + 0.01 * stated.sum::<usize>() as f32)
    }

    pub(crate) fn has_purpose(&self) -> bool {
        [0, 1]
            .iter()
            .any(|side| self.excused(*side, Excuse::Purpose).next().is_some())
    }

    /// Returns `true` if only one title names a container, which could also be the product itself.
    pub(crate) fn has_container(&self) -> bool {
        [0, 1]
            .iter()
            .any(|side| self.excused(*side, Excuse::Soft).any(Word::is_container))
    }

    /// Returns the words of one side's title that only the other product's options may contain.
    pub(crate) fn needs(&self, side: usize) -> Vec<&'a str> {
        self.excused(side, Excuse::Stated)
            .map(|word| word.sound.as_str())
            .collect()
    }

    fn all(&self) -> usize {
        let tells = |(_, excuse): &&(&Word, Option<Excuse>)| {
            !matches!(excuse, Some(Excuse::Name | Excuse::Link | Excuse::Amount))
        };
        self.same + self.left.iter().flatten().filter(tells).count()
    }

    pub(crate) fn share(&self) -> f32 {
        self.share_with(0)
    }

    /// Returns the share of agreeing words. `besides` counts further agreeing properties.
    pub(crate) fn share_with(&self, besides: usize) -> f32 {
        (self.same + besides) as f32 / (self.all() + besides).max(1) as f32
    }

    /// Returns `true` if a number or a word for a version has no counterpart.
    pub(crate) fn versions_differ(&self) -> bool {
        let mut left = self.left.iter().flatten().filter(|(_, excuse)| excuse.is_none());
        self.is_reordered || left.any(|(word, _)| word.is_number() || word.is_version())
    }

    /// Returns `true` if each title has a word without its required counterpart.
    pub(crate) fn clash(&self) -> bool {
        self.both(|_| true)
    }

    /// Returns `true` if each title has a number without its required counterpart.
    pub(crate) fn numbers_clash(&self) -> bool {
        self.both(Word::is_number)
    }

    fn both(&self, wanted: impl Fn(&Word) -> bool) -> bool {
        let has =
            |left: &Vec<(&Word, Option<Excuse>)>| left.iter().any(|(word, excuse)| excuse.is_none() && wanted(word));
        self.left.iter().all(has)
    }

    pub(crate) fn spelt(&self) -> impl Iterator<Item = &'a str> {
        self.spelt.iter().copied()
    }

    pub(crate) fn stated(&self) -> impl Iterator<Item = &'a str> {
        [0, 1]
            .into_iter()
            .flat_map(|side| {
                self.excused(side, Excuse::Stated)
                    .chain(self.excused(side, Excuse::Typed))
            })
            .map(|word| word.stem.as_str())
    }

    pub(crate) fn reason(&self) -> Reason {
        let all = self.all();
        if self.same == all {
            Reason::Title
        } else {
            Reason::Words(self.same, all)
        }
    }
}

/// Removes and returns the words that one title writes as one word and the other as two.
fn join<'a>(whole: &mut Vec<&'a Word>, apart: &mut Vec<&'a Word>) -> Vec<&'a str> {
    let mut joined = Vec::new();
    whole.retain(|word| {
        let both = |pair: &[&Word]| {
            matches!(pair, [first, second] if !first.is_number()
                && !second.is_number()
                && sound(&format!("{}{}", first.stem, second.stem)) == word.sound)
        };
        let Some(at) = apart.windows(2).position(both) else {
            return true;
        };
        apart.drain(at..at + 2);
        joined.push(word.stem.as_str());
        false
    });
    joined
}

/// Words of a title that the other title lacks, with the data that may excuse them.
struct UnmatchedWords<'a> {
    of: &'a Reading,
    by: &'a Reading,
    names: &'a FxHashSet<&'a str>,
    packed: Packing,
    has_container: bool,
    has_purpose: bool,
}

impl UnmatchedWords<'_> {
    fn excuse(&self, word: &Word) -> Option<Excuse> {
        if word.is_link() {
            return Some(Excuse::Link);
        }
        if self.names.contains(word.sound.as_str()) && !(word.is_number() && self.by.has(&word.sound)) {
            return Some(Excuse::Name);
        }
        if word.is_counted && self.of.counts_as(self.by) {
            return Some(Excuse::Amount);
        }
        // Sizes are numbers too: a shoe in size `7` is not one in size `8`. The `s` of `6s` is not a size.
        if word.is_number() || word.code.is_some() {
            return None;
        }
        if let Some(stated) = self.stated(word) {
            return Some(stated);
        }
        // A glass jar is a jar, but a glass is not.
        let is_glass = word.stem == "glass" && self.has_container && (self.packed.is_weighed || self.packed.is_poured);
        if is_glass || word.is_soft(self.packed) {
            return Some(Excuse::Soft);
        }
        (word.is_common_purpose() && !self.has_purpose).then_some(Excuse::Purpose)
    }

    fn stated(&self, word: &Word) -> Option<Excuse> {
        let is_offered = self
            .by
            .variants
            .iter()
            .any(|variant| variant.words.contains(&word.sound));
        let is_stated = is_offered || (!word.is_version() && self.by.context.contains(&word.sound));
        if is_stated {
            return self.is_whole(word).then_some(Excuse::Stated);
        }
        (!word.is_version() && self.by.kinds.contains(&word.sound)).then_some(Excuse::Typed)
    }

    /// Returns `true` if the other product has the complete colour, flavour or model that contains the word. Gold, for
    /// example, is not rose gold.
    fn is_whole(&self, word: &Word) -> bool {
        let traits = self.by.traits.iter();
        let telling = traits.filter(|(kind, _)| kind.is_whole());
        let mut values = telling
            .flat_map(|(_, values)| values)
            .filter(|value| value.contains(&word.sound))
            .peekable();
        let is_said = |word: &String| self.of.has(word) || self.of.context.contains(word);
        values.peek().is_none() || values.any(|value| value.iter().all(is_said))
    }
}

/// Returns the words of makers' names in a title that contains the complete name.
fn names<'a>(of: &Reading, makers: [&'a Reading; 2]) -> FxHashSet<&'a str> {
    let makers = makers.into_iter().flat_map(|reading| &reading.makers);
    let is_named = |maker: &&Maker| {
        let mut kept = maker.sounds.iter().take(maker.kept).peekable();
        (kept.peek().is_some() && kept.all(|word| of.has(word))) || maker.forms.iter().any(|form| of.has(form))
    };
    makers
        .filter(is_named)
        .flat_map(Maker::names)
        .map(String::as_str)
        .collect()
}

/// Numbers attached to letters are ignored, because the letters identify them.
fn are_reordered(one: &Reading, other: &Reading) -> bool {
    let numbers = |reading: &'_ Reading| -> Vec<String> {
        let numbers = reading
            .words
            .iter()
            .filter(|word| word.is_number() && word.code.is_none());
        numbers.map(|word| word.stem.clone()).collect()
    };
    let (mut mine, mut theirs) = (numbers(one), numbers(other));
    if mine == theirs {
        return false;
    }
    mine.sort_unstable();
    theirs.sort_unstable();
    mine == theirs
}

fn packed(readings: [&Reading; 2]) -> Packing {
    let quantities = readings
        .into_iter()
        .flat_map(|reading| reading.quantities.iter().chain(&reading.context_quantities));
    let has = |measure| quantities.clone().any(|quantity| quantity.measure == measure);
    Packing {
        is_weighed: has(Measure::Mass),
        is_poured: has(Measure::Volume),
    }
}
