use super::Persona;

/// Makers whose products a store resells.
#[derive(Debug, Default)]
pub(crate) struct ResoldGoods {
    makers: Vec<Maker>,
}

/// Store whose products another store resells.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) persona: Persona,
    /// Number of products that the maker lists.
    pub(crate) size: u64,
}

/// One in this many products of a reselling store is its own.
const OWN_ONE_IN: u64 = 4;

impl ResoldGoods {
    pub(crate) fn of(makers: Vec<Maker>) -> Self {
        Self { makers }
    }

    /// Returns the maker of the product in a slot and the product's slot at the maker, or `None` for the store's own
    /// product. No maker's product is in two slots.
    pub(crate) fn source(&self, slot: u64) -> Option<(&Persona, u64)> {
        if slot.is_multiple_of(OWN_ONE_IN) {
            return None;
        }
        let nth = slot - slot / OWN_ONE_IN - 1;
        let count = self.makers.len() as u64;
        let maker = self.makers.get(usize::try_from(nth.checked_rem(count)?).ok()?)?;
        let theirs = nth / count;
        (theirs < maker.size).then_some((&maker.persona, theirs))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_product_of_a_maker_is_in_two_slots() {
        let mut taken = HashSet::new();
        let maker = |index, size| Maker {
            persona: Persona::draw(1, index, &mut taken.clone()),
            size,
        };
        let resold = ResoldGoods::of(vec![maker(0, 30), maker(1, 5), maker(2, 90)]);
        let sources = (0..200).filter_map(|slot| resold.source(slot));
        assert!(
            sources
                .map(|(maker, slot)| (maker.index, slot))
                .all(|source| taken.insert(format!("{source:?}")))
        );
        assert_eq!(taken.len(), 30 + 5 + 50);
        assert!(ResoldGoods::default().source(1).is_none());
    }
}
