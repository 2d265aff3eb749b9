use std::cmp::Ordering;

use crate::release::{Part, RowAddress};

/// Product with the dot product of its vector and the query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Near {
    pub(super) product: i32,
    pub(super) at: RowAddress,
}

/// Nearest products so far. The list has more than the wanted products and is trimmed occasionally, so that one
/// comparison rejects most products. Ids are read only to break ties.
pub(super) struct Nearest<'a> {
    parts: &'a [Part],
    wanted: usize,
    held: Vec<Near>,
    /// Lower bound: rows with a smaller dot product cannot be among the wanted.
    least: i32,
}

const SLACK: usize = 256;

impl<'a> Nearest<'a> {
    pub(super) fn new(parts: &'a [Part], wanted: usize) -> Self {
        Self {
            parts,
            wanted,
            held: Vec::with_capacity(wanted + SLACK),
            least: i32::MIN,
        }
    }

    pub(super) const fn least(&self) -> i32 {
        self.least
    }

    pub(super) fn push(&mut self, near: Near) {
        self.held.push(near);
        if self.held.len() >= self.wanted + SLACK {
            self.thin_out();
        }
    }

    fn thin_out(&mut self) {
        let parts = self.parts;
        if let Some(last) = self.wanted.checked_sub(1).filter(|last| *last < self.held.len()) {
            let (_, worst, _) = self
                .held
                .select_nth_unstable_by(last, |one, other| order(parts, one, other));
            self.least = worst.product;
        }
        self.held.truncate(self.wanted);
    }

    pub(super) fn into_sorted(mut self) -> Vec<Near> {
        let parts = self.parts;
        if self.held.len() > self.wanted {
            self.thin_out();
        }
        self.held.sort_unstable_by(|one, other| order(parts, one, other));
        self.held
    }
}

/// Orders nearest first, and ties by the smaller id.
fn order(parts: &[Part], one: &Near, other: &Near) -> Ordering {
    let id = |near: &Near| {
        let part = parts.get(near.at.part as usize);
        part.map(|part| part.cards().id(near.at.row))
    };
    other.product.cmp(&one.product).then_with(|| id(one).cmp(&id(other)))
}
