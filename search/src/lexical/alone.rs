//! Queries of one word. Every product with the word is a hit, so that the search must quickly skip hits that are not
//! among the best.

use data_index::terms::{Block, BlockRows};

use super::candidate_buffer::SIFTED;
use super::collector::Collector;
use super::cursor::RowScore;
use super::lists::{GroupLists, PlainWord};
use super::part_collector::{MatchCount, PartCollector};
use super::window::Window;

/// Collects the products of a part with the only word.
pub(super) fn collect(
    group: &GroupLists<'_>,
    part_collector: &mut PartCollector<'_>,
    met: &mut MatchCount<'_>,
    collector: &mut Collector<'_, '_>,
) {
    match group.plain() {
        Some(word) => in_blocks(word, part_collector, met, collector),
        None => in_any_way(group, part_collector, met, collector),
    }
}

/// Collects from one posting list, without blocks that have nothing better than the hits so far.
fn in_blocks(
    word: PlainWord<'_>,
    part_collector: &mut PartCollector<'_>,
    met: &mut MatchCount<'_>,
    collector: &mut Collector<'_, '_>,
) {
    let mut room: BlockRows = Block::ROOM;
    let mut some = Vec::with_capacity(SIFTED);
    for block in word.blocks() {
        if part_collector.is_beaten(word.bound(&block), &collector.top) {
            continue;
        }
        if !collector.work.step(block.len()) {
            return;
        }
        collector.work.read += block.len() as u64;
        some.clear();
        some.extend(word.scores(block.read(&mut room)));
        met.meet(&some);
        part_collector.take(&some, &mut collector.top);
    }
}

/// Collects from several posting lists, or for words that must be adjacent. The best variant of a product counts.
fn in_any_way(
    group: &GroupLists<'_>,
    part_collector: &mut PartCollector<'_>,
    met: &mut MatchCount<'_>,
    collector: &mut Collector<'_, '_>,
) {
    let (mut variants, mut best) = (group.variants(), Window::new());
    let mut some = Vec::new();
    while variants.row() < part_collector.rows() {
        let end = best.begin(variants.row());
        some.clear();
        let read = variants.each_until(end, &mut best, |row, found| some.push(RowScore { row, found }));
        collector.work.read += read as u64;
        met.meet(&some);
        part_collector.take(&some, &mut collector.top);
        if !collector.work.step(read) {
            return;
        }
    }
}
