use data_index::Release;
use data_index::terms::NO_ROW;

use super::cursor::GroupCursor;
use super::groups::OpenGroups;
use super::index::{TextIndex, as_float};
use super::lists::Ways;
use super::matches::{Marks, RowSet};
use super::sieve::{Offer, SIFTED, Sieve};
use super::strict::Passing;
use super::top::TopHits;
use super::window::{Slot, Window};
use super::{Wanted, Work, tier};

/// Collects products that hold some of the words but not all: scores of every word are added up product by product.
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    open: &OpenGroups<'_>,
    wanted: &Wanted<'_>,
    (top, work, mut marks): (&mut TopHits<'_>, &mut Work, Option<&mut Marks<'_>>),
) {
    let levels = Levels::of(open.len());
    let mut offer = |sieve: &mut Sieve<'_>, top: &mut TopHits<'_>, part: u32, some: &[(u32, Slot)]| {
        if let Some(marks) = &mut marks {
            some.iter()
                .for_each(|(row, slot)| marks.mark_some(part, *row, slot.held as usize + 1 == open.len()));
        }
        sieve.offer(some, |(row, slot)| levels.offer(row, slot), top);
    };
    let divided = Divided::of(open, work.postings_max);
    let passing = |part| Passing::of(release, index, (wanted.filter, wanted.allowed), part);
    // By part, what was found of the rare words where others were only looked up.
    let mut seen = Vec::new();
    for (at, part) in (0..).zip(release.parts()) {
        let mut sieve = Sieve::of(part, at, passing(at));
        seen.push(sums(open, (at, part.rows()), &divided, work, |some| {
            offer(&mut sieve, top, at, some);
        }));
        sieve.finish(top);
    }
    if divided.looked_up.is_empty() || top.len() >= wanted.enough {
        return;
    }
    // Filters may leave nothing of the rare words' products: then the common ones are asked for after all.
    let mut seen: Vec<RowSet> = seen
        .iter()
        .zip(release.parts())
        .map(|(some, part)| seen_rows(some, part.rows()))
        .collect();
    for (at, group) in divided.looked_up.iter().enumerate() {
        if top.len() >= wanted.enough {
            break;
        }
        let rest = divided.looked_up.get(at + 1..).unwrap_or_default();
        for ((at, part), seen) in (0..).zip(release.parts()).zip(&mut seen) {
            let mut sieve = Sieve::of(part, at, passing(at));
            walk(open, at, (*group, rest), (seen, work), |some| {
                offer(&mut sieve, top, at, some);
            });
            sieve.finish(top);
        }
    }
}

fn seen_rows(some: &[(u32, Slot)], rows: u32) -> RowSet {
    let mut seen = RowSet::none(rows);
    some.iter().for_each(|(row, _)| seen.insert(*row));
    seen
}

/// By how many words a product holds: what its score is worth.
struct Levels(Vec<Level>);

#[derive(Clone, Copy)]
struct Level {
    tier: u8,
    share: f32,
}

impl Levels {
    fn of(words: usize) -> Self {
        let all = as_float(words as u64);
        let level = |held: usize| Level {
            tier: if held + 1 >= words {
                tier::ALL_BUT_ONE
            } else {
                tier::ANY
            },
            // Two rare words of four tell more than one that is rarer still.
            share: (as_float(held as u64) / all).sqrt(),
        };
        // Those that hold all words were collected before.
        Self((0..words).map(level).collect())
    }

    fn offer(&self, row: u32, found: Slot) -> Offer {
        self.0.get(found.held as usize).map_or(Offer::NONE, |level| Offer {
            row,
            tier: level.tier,
            score: found.score * level.share,
        })
    }
}

/// Calls `found` with the products of a part that hold the word of a group and were not seen yet, some at a time, and with
/// what each holds of `rest`.
fn walk(
    open: &OpenGroups<'_>,
    part: u32,
    (group, rest): (usize, &[usize]),
    (seen, work): (&mut RowSet, &mut Work),
    mut found: impl FnMut(&[(u32, Slot)]),
) {
    let cursor = |group: &usize| open.lists(part as usize, *group)?.cursor();
    let Some(mut leading) = cursor(&group) else { return };
    let mut others: Vec<GroupCursor<'_>> = rest.iter().filter_map(cursor).collect();
    let mut some = Vec::with_capacity(SIFTED);
    let mut row = leading.row();
    while row != NO_ROW && work.step(1 + others.len()) {
        if !seen.has(row) {
            seen.insert(row);
            let mut slot = Slot {
                score: leading.score().score,
                held: 1,
            };
            for other in &mut others {
                if other.seek(row) == row {
                    slot.score += other.score().score;
                    slot.held += 1;
                }
            }
            some.push((row, slot));
            if some.len() == SIFTED {
                found(&some);
                some.clear();
            }
        }
        row = leading.advance();
    }
    found(&some);
    work.read += others.iter().chain([&leading]).map(GroupCursor::decoded).sum::<u64>();
}

/// Calls `found` with every product of a part that holds some of the words, some at a time: its score, and how many it holds.
/// Answers all of them where words were looked up.
fn sums(
    open: &OpenGroups<'_>,
    (part, rows): (u32, u32),
    divided: &Divided,
    work: &mut Work,
    mut found: impl FnMut(&[(u32, Slot)]),
) -> Vec<(u32, Slot)> {
    let mut all = Vec::new();
    if divided.looked_up.is_empty() {
        add_up(open, (part, rows), &divided.driving, work, found);
        return all;
    }
    add_up(open, (part, rows), &divided.driving, work, |some| {
        all.extend_from_slice(some);
    });
    look_up(open, part, &divided.looked_up, &mut all, work);
    found(&all);
    all
}

/// Adds up the words' scores in a part, product by product.
fn add_up(
    open: &OpenGroups<'_>,
    (part, rows): (u32, u32),
    groups: &[usize],
    work: &mut Work,
    mut found: impl FnMut(&[(u32, Slot)]),
) {
    let lists = groups.iter().filter_map(|group| open.lists(part as usize, *group));
    let mut words: Vec<Ways<'_>> = lists.map(|lists| lists.ways()).collect();
    let (mut sums, mut best) = (Window::new(), Window::new());
    let mut some = Vec::new();
    while let Some(next) = words.iter().map(Ways::row).min().filter(|next| *next < rows) {
        let end = sums.begin(next);
        for word in &mut words {
            work.read += word.each_until(end, &mut best, |row, held| sums.add(row, held.score)) as u64;
        }
        some.clear();
        sums.drain(|row, slot| some.push((row, slot)));
        found(&some);
    }
}

/// Looks the words up that are too common to be read, for the best products so far.
fn look_up(open: &OpenGroups<'_>, part: u32, groups: &[usize], all: &mut [(u32, Slot)], work: &mut Work) {
    let best = best(all, work.looked_up_max);
    for group in groups {
        let Some(mut cursor) = open.lists(part as usize, *group).and_then(|lists| lists.cursor()) else {
            continue;
        };
        for at in &best {
            let Some((row, slot)) = all.get_mut(*at) else { continue };
            if cursor.seek(*row) == *row {
                slot.held += 1;
                slot.score += cursor.score().score;
            }
        }
        work.read += cursor.decoded();
    }
}

/// The places of the products with the greatest scores, ascending; of those alike the first.
fn best(all: &[(u32, Slot)], count: usize) -> Vec<usize> {
    if count >= all.len() {
        return (0..all.len()).collect();
    }
    // Scores are not negative: they are in the order of their bits.
    let ranks = (0_u64..).zip(all);
    let mut ranks: Vec<u64> = ranks
        .map(|(at, (_, slot))| u64::from(!slot.score.to_bits()) << 32 | at)
        .collect();
    ranks.select_nth_unstable(count);
    let places = ranks.iter().take(count);
    let mut places: Vec<usize> = places.map(|rank| (rank & u64::from(u32::MAX)) as usize).collect();
    places.sort_unstable();
    places
}

/// The words that are read, rarest first, and those that are only looked up. A word that no product holds is neither.
struct Divided {
    driving: Vec<usize>,
    looked_up: Vec<usize>,
}

impl Divided {
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
            .map(|score| (9, Slot { score: *score, held: 1 }))
            .collect();
        assert_eq!(best(&all, 1), [2]);
        assert_eq!(best(&all, 3), [0, 2, 3]);
        assert_eq!(best(&all, 5), [0, 2, 3, 4, 5]);
        assert_eq!(best(&all, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(best(&all, 9), [0, 1, 2, 3, 4, 5]);
    }
}
