//! A query of one word: whatever has it is found, and what matters is to pass quickly by what is not among the best.

use data_index::terms::{Block, BlockRows};

use super::Work;
use super::lists::{GroupLists, PlainWord};
use super::sieve::SIFTED;
use super::strict::{Met, Taking};
use super::top::TopHits;
use super::window::Window;

/// Collects the products of a part that have the only word.
pub(super) fn collect(
    group: &GroupLists<'_>,
    taking: &mut Taking<'_>,
    (top, work, met): (&mut TopHits<'_>, &mut Work, &mut Met<'_>),
) {
    match group.plain() {
        Some(word) => in_blocks(word, taking, (top, work, met)),
        None => in_any_way(group, taking, (top, work, met)),
    }
}

/// One list: blocks of it that hold nothing better than what was found are left out.
fn in_blocks(
    word: PlainWord<'_>,
    taking: &mut Taking<'_>,
    (top, work, met): (&mut TopHits<'_>, &mut Work, &mut Met<'_>),
) {
    let mut room: BlockRows = Block::ROOM;
    let mut some = Vec::with_capacity(SIFTED);
    for block in word.blocks() {
        if taking.is_beaten(word.bound(&block), top) {
            continue;
        }
        if !work.step(block.len()) {
            return;
        }
        work.read += block.len() as u64;
        some.clear();
        some.extend(word.scores(block.read(&mut room)));
        met.meet(&some);
        taking.take(&some, top);
    }
}

/// Several lists, or words that stand beside each other: a product has the word as it has it best.
fn in_any_way(
    group: &GroupLists<'_>,
    taking: &mut Taking<'_>,
    (top, work, met): (&mut TopHits<'_>, &mut Work, &mut Met<'_>),
) {
    let (mut ways, mut best) = (group.ways(), Window::new());
    let mut some = Vec::new();
    while ways.row() < taking.rows() {
        let end = best.begin(ways.row());
        some.clear();
        let read = ways.each_until(end, &mut best, |row, found| some.push((row, found)));
        work.read += read as u64;
        met.meet(&some);
        taking.take(&some, top);
        if !work.step(read) {
            return;
        }
    }
}
