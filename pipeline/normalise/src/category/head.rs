//! Finds the noun that names the product in a title, a product type or a tag.

use google_taxonomy::ProductCategory;

use super::table::{PHRASE_WORDS_MAX, ROOT, Rule, Strength, Table, UNKNOWN};
use super::words::{Join, WORDS_MAX, each_word};

#[derive(Clone, Copy, Debug)]
struct Word {
    id: u32,
    opens_segment: bool,
    measure: bool,
    /// True for a colour, size or audience, which does not indicate the kind of the product.
    plain: bool,
    join: Join,
}

/// Minimum points of a text in a language in which nouns precede their modifiers.
const NOUN_FIRST_POINTS_MIN: u8 = 2;

#[derive(Debug)]
pub(super) struct Text {
    words: [Word; WORDS_MAX],
    length: usize,
    /// True if the text's language places nouns before their modifiers.
    noun_first: bool,
}

/// A phrase of the table in a text, which is a candidate for the head noun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'t> {
    pub(super) rule: &'t Rule,
    /// Number of words in the phrase.
    pub(super) length: usize,
    /// Last word of the phrase.
    pub(super) noun: u32,
    pub(super) strength: Strength,
    /// True if no other word in the text contradicts the phrase.
    pub(super) sure: bool,
    end: usize,
    /// [`UNKNOWN`] follows the phrase's words.
    words: [u32; PHRASE_WORDS_MAX],
}

impl<'t> Head<'t> {
    /// Returns the head with the strength of a weak word that is the whole text.
    pub(super) fn alone(self) -> Self {
        let strength = match self.strength {
            Strength::Weak | Strength::Alone => Strength::Head,
            other => other,
        };
        Self { strength, ..self }
    }

    pub(super) fn category(&self) -> Option<ProductCategory> {
        if self.strength == Strength::Alone {
            None
        } else {
            self.rule.category
        }
    }

    pub(super) fn phrase(&self) -> &[u32] {
        self.words.get(..self.length).unwrap_or_default()
    }

    /// Returns true if this longer phrase contains the other one, as "baseball cap" contains "baseball".
    pub(super) fn has_within(&self, other: &Head<'_>) -> bool {
        self.length > other.length && self.phrase().windows(other.length).any(|part| part == other.phrase())
    }

    /// Returns the head as uncertain, because it is only in words about the product's place or material.
    fn of_another(self) -> Self {
        Self { sure: false, ..self }
    }

    /// Returns true if the noun is known but does not name a category.
    pub(super) fn is_open(&self) -> bool {
        self.category().is_none()
    }

    /// Returns true for a later phrase, or a longer one at the same end. In English, both indicate the head of a noun
    /// phrase.
    fn beats(&self, other: &Option<Head<'t>>) -> bool {
        other.is_none_or(|other| (self.end, self.length) > (other.end, other.length))
    }

    /// Compares two weak candidates by strength, then length, then position.
    fn outranks(&self, other: &Option<Head<'t>>) -> bool {
        other.is_none_or(|other| (self.strength, self.length, self.end) > (other.strength, other.length, other.end))
    }
}

#[derive(Debug, Default)]
struct Search<'t> {
    best: Option<Head<'t>>,
    spare: Option<Head<'t>>,
    spare_done: bool,
    /// Best candidate among words about another object.
    aside: Option<Head<'t>>,
    /// Phrases up to this position were found.
    covered: usize,
    /// Nouns up to this position are ignored.
    hidden: usize,
    /// End of the last noun that names no category. In "set de …", the product follows it.
    open_end: usize,
    /// Position of the word that makes the following phrase describe another object.
    beside: Option<usize>,
}

impl<'t> Search<'t> {
    /// Returns true if the current head is sufficient.
    fn ends_segment(&mut self) -> bool {
        self.spare_done = self.spare.is_some();
        self.beside = None;
        self.best.is_some()
    }

    /// Processes a word that joins the next phrase to the previous one. Returns true if the previous one is sufficient.
    fn joins(&mut self, text: &Text, at: usize, join: Join) -> bool {
        match join {
            Join::Plain => return false,
            Join::Hard => return at > 0,
            _ if self.best.is_some() => return true,
            Join::Soft => self.spare_done = self.spare.is_some(),
            Join::Of => {
                self.spare_done = self.spare.is_some();
                if self.open_end != at && text.has_word_before(at) {
                    self.beside = Some(at);
                }
            }
            Join::Place => self.beside = Some(at),
        }
        false
    }

    fn takes(&mut self, text: &Text, table: &Table, head: Head<'t>) {
        self.covered = self.covered.max(head.end);
        if head.is_open() {
            self.open_end = head.end;
        }
        let start = head.end - head.length;
        let of_another = self.beside.is_some_and(|at| start == at + 1);
        if of_another && head.strength != Strength::Feature {
            if self.aside.is_none() && text.is_place(self.beside) && !head.is_open() {
                self.aside = Some(head);
            }
            self.hidden = head.end;
            return;
        }
        match head.strength {
            Strength::Feature => self.hidden = head.end,
            Strength::Weak | Strength::Broad => {
                if text.is_plain_word(&head) {
                    return;
                }
                if !self.spare_done && head.outranks(&self.spare) && text.may_be_weak(&head) {
                    self.spare = Some(head);
                }
            }
            Strength::Alone | Strength::Head | Strength::Decisive => {
                let counted = self.best.is_some() && text.is_counted(table, &head);
                let first_holds = text.noun_first && self.best.is_some_and(|best| !best.is_open());
                if !first_holds && head.beats(&self.best) && !text.is_measure(&head) && !counted {
                    self.best = Some(head);
                }
            }
        }
    }
}

impl Text {
    /// Phrases in brackets move to the end as separate segments.
    pub(super) fn read(table: &Table, text: &str) -> Self {
        let blank = Word {
            id: UNKNOWN,
            opens_segment: false,
            measure: false,
            plain: false,
            join: Join::Plain,
        };
        let empty = || Self {
            words: [blank; WORDS_MAX],
            length: 0,
            noun_first: false,
        };
        let (mut read, mut asides) = (empty(), empty());
        let mut noun_first_points = 0_u8;
        each_word(text, |word| {
            noun_first_points = noun_first_points.saturating_add(word.noun_first_points);
            let id = table
                .word(word.form)
                .or_else(|| table.ending(word.form))
                .unwrap_or(UNKNOWN);
            let to = if word.aside { &mut asides } else { &mut read };
            to.push(Word {
                id,
                opens_segment: word.opens_segment,
                measure: word.measure,
                plain: table.is_plain(id),
                join: word.join,
            });
        });
        for word in asides.words() {
            read.push(*word);
        }
        read.noun_first = noun_first_points >= NOUN_FIRST_POINTS_MIN;
        read
    }

    fn push(&mut self, word: Word) {
        if let Some(slot) = self.words.get_mut(self.length) {
            *slot = word;
            self.length += 1;
        }
    }

    fn words(&self) -> &[Word] {
        self.words.get(..self.length).unwrap_or(&[])
    }

    /// Returns the head of the first segment that has one. A weak head counts only if no segment has a better one.
    /// Words about another object count only if no other words have a head.
    pub(super) fn head<'t>(&self, table: &'t Table) -> Option<Head<'t>> {
        let mut search = Search::default();
        for (at, word) in self.words().iter().enumerate() {
            if word.opens_segment && at > 0 && search.ends_segment() {
                break;
            }
            let found = self.longest(table, at);
            if found.is_none() && at >= search.covered && search.joins(self, at, word.join) {
                break;
            }
            if let Some(head) = found.filter(|head| head.end > search.hidden) {
                search.takes(self, table, head);
            }
        }
        let open = search.best.filter(|head| head.is_open());
        let head = match (open, search.spare) {
            (Some(open), Some(spare)) if spare.end > open.end => Some(spare),
            _ => search.best.or(search.spare),
        };
        let head = head.or_else(|| search.aside.map(Head::of_another));
        head.map(|head| self.doubted(head))
    }

    /// A head is uncertain if another word follows it. That word may be the real noun, or the head may be part of a
    /// name: "Blazer Mid 77" is not a jacket.
    fn doubted<'t>(&self, head: Head<'t>) -> Head<'t> {
        let behind = self.words().get(head.end..).unwrap_or(&[]);
        let next = behind
            .first()
            .filter(|word| !word.opens_segment && word.join == Join::Plain);
        let doubtful = !self.noun_first && next.is_some_and(|word| !word.measure && !word.plain);
        Head {
            sure: head.sure && !doubtful,
            ..head
        }
    }

    /// Returns the first phrase that decides regardless of its position, such as "… (Hardcover)".
    pub(super) fn decisive<'t>(&self, table: &'t Table) -> Option<Head<'t>> {
        (0..self.length)
            .filter_map(|at| self.longest(table, at))
            .find(|head| head.strength == Strength::Decisive)
    }

    pub(super) fn has_any(&self, words: &[u32]) -> bool {
        self.words()
            .iter()
            .any(|word| word.id != UNKNOWN && words.contains(&word.id))
    }

    /// Returns true if the text is not empty and has only these words.
    pub(super) fn is_of(&self, words: &[u32]) -> bool {
        let is_one = |word: &Word| word.id != UNKNOWN && words.contains(&word.id);
        self.length > 0 && self.words().iter().all(is_one)
    }

    /// Returns the phrase that is the whole text, except for words about the audience.
    pub(super) fn whole<'t>(&self, table: &'t Table, skipped: &[u32]) -> Option<Head<'t>> {
        let start = self
            .words()
            .iter()
            .take_while(|word| skipped.contains(&word.id))
            .count();
        self.longest(table, start).filter(|head| head.end == self.length)
    }

    /// Returns true for a single word that is primarily a colour, such as "Mint" or "Peach".
    fn is_plain_word(&self, head: &Head<'_>) -> bool {
        let word = head.end.checked_sub(1).and_then(|at| self.words().get(at));
        head.length == 1 && self.length > 1 && word.is_some_and(|word| word.plain)
    }

    /// Returns true if the preposition introduces a location and not a material.
    fn is_place(&self, at: Option<usize>) -> bool {
        let word = at.and_then(|at| self.words().get(at));
        word.is_some_and(|word| word.join == Join::Place)
    }

    /// Returns true if the previous word in the segment may be the noun although no rule has it, as in "extracto de
    /// café".
    fn has_word_before(&self, at: usize) -> bool {
        let here = self.words().get(at).is_some_and(|word| word.opens_segment);
        let before = at.checked_sub(1).and_then(|before| self.words().get(before));
        !here && before.is_some_and(|word| !word.measure && !word.plain)
    }

    /// Returns true if the noun counts something else, as in "Box of chocolates" and "Set of 4".
    fn is_measure(&self, head: &Head<'_>) -> bool {
        head.is_open()
            && self
                .words()
                .get(head.end)
                .is_some_and(|word| matches!(word.join, Join::Soft | Join::Of) && !word.opens_segment)
    }

    /// Returns true if a number before the noun counts parts of an earlier noun, as in "2 Door" and "3-Drawer". In
    /// "iPad Air 2 Case", the number does not count the case.
    fn is_counted(&self, table: &Table, head: &Head<'_>) -> bool {
        let start = head.end - head.length;
        head.length == 1
            && !table.uncounted().contains(&head.noun)
            && start
                .checked_sub(1)
                .and_then(|before| self.words().get(before))
                .is_some_and(|w| w.measure)
    }

    /// A single weak word names the product only at the end of its segment, not counting amounts: "Honey 250 g", but
    /// not "Honey Sun Dried".
    fn may_be_weak(&self, head: &Head<'_>) -> bool {
        let after = self.words().get(head.end..).unwrap_or(&[]);
        head.length > 1
            || after
                .iter()
                .find(|word| !word.measure)
                .is_none_or(|word| word.opens_segment || word.join != Join::Plain)
    }

    /// Returns the longest phrase from `start` whose context is in this text.
    fn longest<'t>(&self, table: &'t Table, start: usize) -> Option<Head<'t>> {
        let mut node = ROOT;
        let mut best = None;
        let mut words = [UNKNOWN; PHRASE_WORDS_MAX];
        for (offset, word) in self.words().get(start..)?.iter().take(PHRASE_WORDS_MAX).enumerate() {
            if word.id == UNKNOWN || (offset > 0 && word.opens_segment) {
                break;
            }
            let Some(next) = table.next(node, word.id) else { break };
            node = next;
            if let Some(slot) = words.get_mut(offset) {
                *slot = word.id;
            }
            let rule = table.rules(node).iter().find(|rule| self.allows(rule));
            if let Some(rule) = rule {
                let length = offset + 1;
                best = Some(Head {
                    rule,
                    length,
                    noun: word.id,
                    strength: rule.strength,
                    sure: true,
                    end: start + length,
                    words,
                });
            }
        }
        best
    }

    fn allows(&self, rule: &Rule) -> bool {
        rule.context.is_empty()
            || self
                .words()
                .iter()
                .any(|word| word.id != UNKNOWN && rule.context.contains(&word.id))
    }
}
