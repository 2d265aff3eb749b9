use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::Work;

/// Number of values that one leaf of the tree covers.
const BLOCK: usize = 16;
/// Marks a single value in the field for a node's number. Nodes are numbered from 1.
const VALUE: u32 = 0;

/// Builds a tree to find the minimum of a range of values. The root is node 1, and node `n` has the children `2n` and
/// `2n + 1`. The second half of the nodes are leaves. The value of a node is the minimum of the values below it.
pub(super) fn tree_of(values: &[u32]) -> Vec<u32> {
    let leaves = values.len().div_ceil(BLOCK).next_power_of_two();
    let mut tree = vec![u32::MAX; 2 * leaves];
    for (block, leaf) in values.chunks(BLOCK).zip(tree.iter_mut().skip(leaves)) {
        *leaf = block.iter().copied().min().unwrap_or(u32::MAX);
    }
    for node in (1..leaves).rev() {
        tree[node] = tree[2 * node].min(tree[2 * node + 1]);
    }
    tree
}

/// Iterator over the distinct values of some ranges, in ascending order. Each value takes some tens of steps,
/// regardless of the lengths of the ranges.
#[derive(Debug)]
pub(super) struct Ascending<'a> {
    values: &'a [u32],
    tree: &'a [u32],
    /// Entries to examine next: a value, or the minimum below a node with the node's number.
    heap: BinaryHeap<Reverse<(u32, u32)>>,
    last: Option<u32>,
}

impl<'a> Ascending<'a> {
    pub(super) fn new(values: &'a [u32], tree: &'a [u32]) -> Self {
        Self {
            values,
            tree,
            heap: BinaryHeap::new(),
            last: None,
        }
    }

    pub(super) fn add(&mut self, range: Range<usize>) {
        let range = range.start..range.end.min(self.values.len());
        let (first, end) = (range.start.div_ceil(BLOCK), range.end / BLOCK);
        if first >= end {
            self.add_values(range);
            return;
        }
        self.add_values(range.start..first * BLOCK);
        self.add_values(end * BLOCK..range.end);
        let leaves = self.leaves();
        let (mut left, mut right) = (leaves + first, leaves + end);
        while left < right {
            if left % 2 == 1 {
                self.add_node(left);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                self.add_node(right);
            }
            (left, right) = (left / 2, right / 2);
        }
    }

    fn leaves(&self) -> usize {
        self.tree.len() / 2
    }

    fn add_values(&mut self, range: Range<usize>) {
        let values = self.values.get(range).unwrap_or_default();
        self.heap.extend(values.iter().map(|value| Reverse((*value, VALUE))));
    }

    fn add_node(&mut self, node: usize) {
        if let (Some(least), Ok(node)) = (self.tree.get(node), u32::try_from(node)) {
            self.heap.push(Reverse((*least, node)));
        }
    }

    /// Returns `None` if there are no more values or no work is left.
    pub(super) fn next(&mut self, work: &mut Work) -> Option<u32> {
        while let Some(Reverse((value, node))) = self.heap.pop() {
            if !work.step() {
                return None;
            }
            let node = node as usize;
            if node == VALUE as usize {
                if self.last != Some(value) {
                    self.last = Some(value);
                    return Some(value);
                }
            } else if let Some(block) = node.checked_sub(self.leaves()) {
                let start = block.saturating_mul(BLOCK);
                self.add_values(start..start.saturating_add(BLOCK).min(self.values.len()));
            } else {
                self.add_node(2 * node);
                self.add_node(2 * node + 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_values_of_ranges_come_in_order_and_once(
            values in prop::collection::vec(0..500_u32, 0..300),
            ranges in prop::collection::vec((0..320_usize, 0..320_usize), 0..4),
        ) {
            let tree = tree_of(&values);
            let mut ascending = Ascending::new(&values, &tree);
            let mut expected: std::collections::BTreeSet<u32> = std::collections::BTreeSet::new();
            for (start, end) in ranges {
                let range = start.min(end)..start.max(end);
                expected.extend(values.iter().skip(range.start).take(range.len()));
                ascending.add(range);
            }
            let mut work = Work::of(100_000);
            let found: Vec<u32> = std::iter::from_fn(|| ascending.next(&mut work)).collect();
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_best_of_a_million_are_found_in_few_steps() {
        let values: Vec<u32> = (0..1_000_000)
            .map(|at: u32| at.wrapping_mul(2_654_435_761) % 1_000_003)
            .collect();
        let tree = tree_of(&values);
        let mut ascending = Ascending::new(&values, &tree);
        ascending.add(17..999_990);
        let mut work = Work::of(2_000);
        let found: Vec<u32> = std::iter::from_fn(|| ascending.next(&mut work)).take(20).collect();
        assert_eq!(found.len(), 20);
        assert!(work.left() > 1_000, "{}", work.left());
    }
}
