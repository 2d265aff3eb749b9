//! Finds the noun that names the product in a title, a product type or a tag.

use google_taxonomy::ProductCategory;

use super::table::{PHRASE_WORDS_MAX, ROOT, Rule, Strength, Table, UNKNOWN};
use super::words::{Join, WORDS_MAX, each_word};

#[derive(Clone, Copy, Debug)]
struct Word {
    id: u32,
    opens_segment: bool,
    measure: bool,
    join: Join,
}

/// A text as the ids of its words.
#[derive(Debug)]
pub(super) struct Text {
    words: [Word; WORDS_MAX],
    length: usize,
}

/// A phrase of the table found in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'t> {
    pub(super) rule: &'t Rule,
    /// Words in the phrase.
    pub(super) length: usize,
    /// Id of its last word.
    pub(super) noun: u32,
    pub(super) strength: Strength,
    end: usize,
    /// The ids of its words; [`UNKNOWN`] beyond its length.
    words: [u32; PHRASE_WORDS_MAX],
}

impl<'t> Head<'t> {
    /// What a weak word means where it is all there is.
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

    /// Whether it is a longer phrase that has the other in it: "baseball cap", of "baseball".
    pub(super) fn has_within(&self, other: &Head<'_>) -> bool {
        let words = |head: &Head<'_>| head.words.into_iter().take(head.length).collect::<Vec<_>>();
        self.length > other.length && words(self).windows(other.length).any(|part| part == words(other))
    }

    /// The noun is known, but does not tell a category.
    pub(super) fn is_open(&self) -> bool {
        self.category().is_none()
    }

    /// Later is better, then longer: both make the head of an English noun phrase.
    fn beats(&self, other: &Option<Head<'t>>) -> bool {
        other.is_none_or(|other| (self.end, self.length) > (other.end, other.length))
    }

    /// Weak before broad, then longer, then later.
    fn outranks(&self, other: &Option<Head<'t>>) -> bool {
        other.is_none_or(|other| (self.strength, self.length, self.end) > (other.strength, other.length, other.end))
    }
}

impl Text {
    pub(super) fn read(table: &Table, text: &str) -> Self {
        let blank = Word {
            id: UNKNOWN,
            opens_segment: false,
            measure: false,
            join: Join::Plain,
        };
        let mut read = Self {
            words: [blank; WORDS_MAX],
            length: 0,
        };
        each_word(text, |word| {
            if let Some(slot) = read.words.get_mut(read.length) {
                let id = table.word(word.form).unwrap_or(UNKNOWN);
                *slot = Word {
                    id,
                    opens_segment: word.opens_segment,
                    measure: word.measure,
                    join: word.join,
                };
                read.length += 1;
            }
        });
        read
    }

    fn words(&self) -> &[Word] {
        self.words.get(..self.length).unwrap_or(&[])
    }

    /// The head of the first segment that has one; a weak one counts only if no segment has a better one.
    pub(super) fn head<'t>(&self, table: &'t Table) -> Option<Head<'t>> {
        let words = self.words();
        let (mut best, mut spare): (Option<Head<'t>>, Option<Head<'t>>) = (None, None);
        let (mut covered, mut hidden) = (0, 0);
        let mut spare_done = false;
        for (at, word) in words.iter().enumerate() {
            if word.opens_segment && at > 0 {
                if best.is_some() {
                    break;
                }
                spare_done = spare.is_some();
            }
            let found = self.longest(table, at);
            if found.is_none() && at >= covered {
                match word.join {
                    Join::Hard if at > 0 => break,
                    Join::Soft if best.is_some() => break,
                    Join::Soft => spare_done = spare.is_some(),
                    Join::Hard | Join::Plain => {}
                }
            }
            let Some(head) = found.filter(|head| head.end > hidden) else {
                continue;
            };
            covered = covered.max(head.end);
            match head.strength {
                Strength::Feature => hidden = head.end,
                Strength::Weak | Strength::Broad => {
                    if !spare_done && head.outranks(&spare) && self.may_be_weak(&head) {
                        spare = Some(head);
                    }
                }
                Strength::Alone | Strength::Head | Strength::Decisive => {
                    if head.beats(&best)
                        && !self.is_measure(&head)
                        && !(best.is_some() && self.is_counted(table, &head))
                    {
                        best = Some(head);
                    }
                }
            }
        }
        let open = best.filter(|head| head.is_open());
        match (open, spare) {
            (Some(open), Some(spare)) if spare.end > open.end => Some(spare),
            _ => best.or(spare),
        }
    }

    /// The first phrase that decides wherever it stands, as the brackets of "… (Hardcover)" do.
    pub(super) fn decisive<'t>(&self, table: &'t Table) -> Option<Head<'t>> {
        (0..self.length)
            .filter_map(|at| self.longest(table, at))
            .find(|head| head.strength == Strength::Decisive)
    }

    /// The whole text is one phrase, but for words about who it is for.
    pub(super) fn whole<'t>(&self, table: &'t Table, skipped: &[u32]) -> Option<Head<'t>> {
        let start = self
            .words()
            .iter()
            .take_while(|word| skipped.contains(&word.id))
            .count();
        self.longest(table, start).filter(|head| head.end == self.length)
    }

    /// "Box of chocolates", "Set of 4": the noun counts something else.
    fn is_measure(&self, head: &Head<'_>) -> bool {
        head.is_open()
            && self
                .words()
                .get(head.end)
                .is_some_and(|word| word.join == Join::Soft && !word.opens_segment)
    }

    /// "2 Door", "3-Drawer": counts parts of what was named before; not in "iPad Air 2 Case", for nobody counts cases.
    fn is_counted(&self, table: &Table, head: &Head<'_>) -> bool {
        let start = head.end - head.length;
        head.length == 1
            && !table.uncounted().contains(&head.noun)
            && start
                .checked_sub(1)
                .and_then(|before| self.words().get(before))
                .is_some_and(|w| w.measure)
    }

    /// A single weak word names the product only at the end of its segment, but for an amount: "Honey 250 g", not
    /// "Honey Sun Dried".
    fn may_be_weak(&self, head: &Head<'_>) -> bool {
        let after = self.words().get(head.end..).unwrap_or(&[]);
        head.length > 1
            || after
                .iter()
                .find(|word| !word.measure)
                .is_none_or(|word| word.opens_segment || word.join != Join::Plain)
    }

    /// The longest phrase that starts at `start` and holds in this text.
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
