use data_index::terms::NO_ROW;

use super::candidate_buffer::{CandidateBuffer, Offer, SIFTED};
use super::collector::{Collector, Search};
use super::cursor::{GroupCursor, WordScore};
use super::groups::OpenGroups;
use super::lists::QueryVariants;
use super::rows::RowSet;
use super::score::as_float;
use super::tier;
use super::top::TopHits;
use super::window::{RowSlot, Slot, Window};
use super::work::Work;

/// Collects products with some but not all of the words, by adding up the scores of the words per product.
pub(super) fn collect(search: &Search<'_>, open: &OpenGroups<'_>, collector: &mut Collector<'_, '_>) {
    let Collector { top, work, marks } = collector;
    // Without a marked row there is no hit so far, so that no hit is missed.
    let mut marks = marks.as_mut().filter(|marks| marks.is_empty());
    let levels = Levels::of(open, search.wanted.is_sentence);
    let mut offer = |buffer: &mut CandidateBuffer<'_>, top: &mut TopHits<'_>, part: u32, some: &[RowSlot]| {
        if let Some(marks) = &mut marks {
            some.iter()
                .for_each(|some| marks.mark_some(part, some.row, usize::from(some.slot.held) + 1 == open.len()));
        }
        buffer.offer(some, |some| levels.offer(some), top);
    };
    let (parts, enough) = (search.release.parts(), search.wanted.enough);
    let divided = GroupDivision::of(open, work.postings_max);
    // Rows of the rare words in each part, if other words were only looked up.
    let mut seen = Vec::new();
    for (at, part) in (0..).zip(parts) {
        let mut buffer = CandidateBuffer::of(part, at, search.eligible(at));
        let of_part = OfPart {
            open,
            levels: &levels,
            at,
            rows: part.rows(),
        };
        seen.push(of_part.sums(&divided, work, |some| offer(&mut buffer, top, at, some)));
        buffer.finish(top);
    }
    if divided.looked_up.is_empty() || top.len() >= enough {
        return;
    }
    // If filters exclude all products of the rare words, the common words are also read.
    let seen = seen.iter().zip(parts);
    let mut seen: Vec<RowSet> = seen.map(|(some, part)| seen_rows(some, part.rows())).collect();
    for (nth, group) in divided.looked_up.iter().enumerate() {
        if top.len() >= enough {
            break;
        }
        let rest = divided.looked_up.get(nth + 1..).unwrap_or_default();
        for ((at, part), seen) in (0..).zip(parts).zip(&mut seen) {
            let mut buffer = CandidateBuffer::of(part, at, search.eligible(at));
            let leading = LeadingGroup { group: *group, rest };
            let of_part = OfPart {
                open,
                levels: &levels,
                at,
                rows: part.rows(),
            };
            of_part.walk(leading, seen, work, |some| offer(&mut buffer, top, at, some));
            buffer.finish(top);
        }
    }
}

fn seen_rows(some: &[RowSlot], rows: u32) -> RowSet {
    let mut seen = RowSet::none(rows);
    some.iter().for_each(|some| seen.insert(some.row));
    seen
}

/// Minimum number of words of a sentence in which some words matter more than others.
const SENTENCE_WORDS_MIN: usize = 4;

/// Tier and score factor of a product by its words.
struct Levels {
    words: usize,
    /// Share of each word in the query, in units of 1 / [`Levels::WHOLE`].
    shares: Vec<u16>,
    /// Minimum share of a product that lacks one word. Without the words for the wanted thing, it lacks more.
    but_one_min: u16,
    /// Weight of each word of a sentence. In other queries, all words have equal shares.
    weights: Vec<f32>,
}

impl Levels {
    const WHOLE: f32 = 60_000.0;

    fn of(open: &OpenGroups<'_>, is_sentence: bool) -> Self {
        let words = open.len();
        let is_weighed = is_sentence && words >= SENTENCE_WORDS_MIN;
        let weights: Vec<f32> = (0..words)
            .filter(|_| is_weighed)
            .map(|group| open.weight(group))
            .collect();
        let all: f32 = if is_weighed {
            weights.iter().sum()
        } else {
            as_float(words as u64)
        };
        let share = |group: usize| weights.get(group).copied().unwrap_or(1.0) / all;
        let shares: Vec<u16> = (0..words).map(|group| (share(group) * Self::WHOLE) as u16).collect();
        let sum: usize = shares.iter().map(|share| usize::from(*share)).sum();
        Self {
            words,
            but_one_min: (sum - sum.div_ceil(words.max(1))) as u16,
            shares,
            weights,
        }
    }

    fn share(&self, group: usize) -> u16 {
        self.shares.get(group).copied().unwrap_or(0)
    }

    /// In a sentence, the field of a word makes less of a difference, because the sentence describes the wanted thing
    /// as descriptions do.
    fn damped(&self, group: usize) -> impl Fn(f32) -> f32 + use<> {
        let weight = self.weights.get(group).copied();
        move |score| weight.map_or(score, |weight| (score * weight).sqrt())
    }

    fn offer(&self, RowSlot { row, slot }: RowSlot) -> Offer {
        // Products with all words were collected before.
        if usize::from(slot.held) >= self.words {
            return Offer::NONE;
        }
        let is_but_one = usize::from(slot.held) + 1 == self.words && slot.share >= self.but_one_min;
        let share = f32::from(slot.share) / Self::WHOLE;
        Offer {
            row,
            tier: if is_but_one { tier::ALL_BUT_ONE } else { tier::ANY },
            // Two rare words of four indicate more than one even rarer word.
            score: slot.score * if self.weights.is_empty() { share.sqrt() } else { share },
        }
    }
}

/// Common word that drives the search now, and the remaining ones.
#[derive(Clone, Copy)]
struct LeadingGroup<'a> {
    group: usize,
    rest: &'a [usize],
}

#[derive(Clone, Copy)]
struct OfPart<'a> {
    open: &'a OpenGroups<'a>,
    levels: &'a Levels,
    at: u32,
    rows: u32,
}

impl OfPart<'_> {
    /// Passes the remaining products with the leading word to `found` in batches, each with its score including the
    /// other words.
    fn walk(&self, leading: LeadingGroup<'_>, seen: &mut RowSet, work: &mut Work, mut found: impl FnMut(&[RowSlot])) {
        let cursor = |group: &usize| {
            let cursor = self.open.lists(self.at as usize, *group)?.cursor()?;
            Some((cursor, *group))
        };
        let mut others: Vec<(GroupCursor<'_>, usize)> = leading.rest.iter().filter_map(cursor).collect();
        let Some((mut leading, group)) = cursor(&leading.group) else {
            return;
        };
        let mut some = Vec::with_capacity(SIFTED);
        let mut row = leading.row();
        while row != NO_ROW && work.step(1 + others.len()) {
            if !seen.has(row) {
                seen.insert(row);
                let mut slot = Slot::default();
                slot.add(
                    self.levels.damped(group)(leading.score().score),
                    self.levels.share(group),
                );
                for (other, group) in &mut others {
                    if other.seek(row) == row {
                        let score = self.levels.damped(*group)(other.score().score);
                        slot.add(score, self.levels.share(*group));
                    }
                }
                some.push(RowSlot { row, slot });
                if some.len() == SIFTED {
                    found(&some);
                    some.clear();
                }
            }
            row = leading.advance();
        }
        found(&some);
        let decoded = others.iter().map(|(other, _)| other.decoded());
        work.read += decoded.chain([leading.decoded()]).sum::<u64>();
    }

    /// Passes every product with some of the words to `found` in batches, with its score and number of words. Returns
    /// all of them if words were looked up.
    fn sums(&self, divided: &GroupDivision, work: &mut Work, mut found: impl FnMut(&[RowSlot])) -> Vec<RowSlot> {
        let mut all = Vec::new();
        if divided.looked_up.is_empty() {
            self.add_up(&divided.driving, work, found);
            return all;
        }
        self.add_up(&divided.driving, work, |some| all.extend_from_slice(some));
        self.look_up(&divided.looked_up, &mut all, work);
        found(&all);
        all
    }

    fn add_up(&self, groups: &[usize], work: &mut Work, mut found: impl FnMut(&[RowSlot])) {
        let lists = groups.iter().filter_map(|group| {
            let lists = self.open.lists(self.at as usize, *group)?;
            Some((lists.variants(), *group))
        });
        let mut words: Vec<(QueryVariants<'_>, usize)> = lists.collect();
        let (mut sums, mut best) = (Window::new(), Window::new());
        let mut some = Vec::new();
        while let Some(next) = words
            .iter()
            .map(|(word, _)| word.row())
            .min()
            .filter(|next| *next < self.rows)
        {
            let end = sums.begin(next);
            for (word, group) in &mut words {
                let (share, damped) = (self.levels.share(*group), self.levels.damped(*group));
                let add = |row, held: WordScore| sums.add(row, damped(held.score), share);
                work.read += word.each_until(end, &mut best, add) as u64;
            }
            some.clear();
            sums.drain(|row, slot| some.push(RowSlot { row, slot }));
            found(&some);
        }
    }

    /// Looks up the words that are too common to be read, for the best products so far.
    fn look_up(&self, groups: &[usize], all: &mut [RowSlot], work: &mut Work) {
        let best = best(all, work.looked_up_max);
        for group in groups {
            let damped = self.levels.damped(*group);
            let lists = self.open.lists(self.at as usize, *group);
            let Some(mut cursor) = lists.and_then(|lists| lists.cursor()) else {
                continue;
            };
            for at in &best {
                let Some(RowSlot { row, slot }) = all.get_mut(*at) else {
                    continue;
                };
                if cursor.seek(*row) == *row {
                    slot.add(damped(cursor.score().score), self.levels.share(*group));
                }
            }
            work.read += cursor.decoded();
        }
    }
}

/// Returns the ascending indexes of the products with the greatest scores. Of equal scores, the first rows count.
fn best(all: &[RowSlot], count: usize) -> Vec<usize> {
    if count >= all.len() {
        return (0..all.len()).collect();
    }
    // Scores are not negative, so that their bits compare like their values.
    let ranks = (0_u64..).zip(all);
    let mut ranks: Vec<u64> = ranks
        .map(|(at, held)| u64::from(!held.slot.score.to_bits()) << 32 | at)
        .collect();
    ranks.select_nth_unstable(count);
    let places = ranks.iter().take(count);
    let mut places: Vec<usize> = places.map(|rank| (rank & u64::from(u32::MAX)) as usize).collect();
    places.sort_unstable();
    places
}

/// Words to be read, rarest first, and words to be looked up. Words that no product has are in neither list.
struct GroupDivision {
    driving: Vec<usize>,
    looked_up: Vec<usize>,
}

impl GroupDivision {
    fn of(open: &OpenGroups<'_>, postings_max: u64) -> Self {
        let groups = (0..open.len()).map(|group| (open.postings(group), group));
        let mut groups: Vec<(u64, usize)> = groups.filter(|(postings, _)| *postings > 0).collect();
        groups.sort_unstable();
        let mut read = 0;
        let mut divided = Self {
            driving: Vec::with_capacity(groups.len()),
            looked_up: Vec::new(),
        };
        for (postings, group) in groups {
            read += postings;
            if divided.driving.is_empty() || read <= postings_max {
                divided.driving.push(group);
            } else {
                divided.looked_up.push(group);
            }
        }
        divided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_those_with_the_greatest_scores_and_of_those_alike_the_first() {
        let all: Vec<_> = [3.0, 0.0, 7.5, 3.0, 3.0, 0.25]
            .iter()
            .map(|score| RowSlot {
                row: 9,
                slot: Slot {
                    score: *score,
                    held: 1,
                    share: 0,
                },
            })
            .collect();
        assert_eq!(best(&all, 1), [2]);
        assert_eq!(best(&all, 3), [0, 2, 3]);
        assert_eq!(best(&all, 5), [0, 2, 3, 4, 5]);
        assert_eq!(best(&all, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(best(&all, 9), [0, 1, 2, 3, 4, 5]);
    }
}
