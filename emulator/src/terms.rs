//! Delivery terms of stores that have no habits of their own: they follow from the seed.

use crate::generated::Persona;
use crate::generated::dice::Dice;

/// The delivery terms of a store, as its policy states them where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// From so many whole units of the currency on, delivery costs nothing.
    pub(crate) free_above: Option<u64>,
    /// In rupees.
    pub(crate) fee: u64,
    pub(crate) days: DeliveryDays,
}

/// Business days of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveryDays {
    pub(crate) fewest: u64,
    pub(crate) most: u64,
}

/// The terms that are drawn for a store, whatever its policy says of them.
pub(crate) struct DrawnTerms {
    pub(crate) free_above: u64,
    pub(crate) fee: u64,
    pub(crate) days: DeliveryDays,
}

/// Stores in a thousand that have no shipping policy.
pub(crate) const NO_SHIPPING_POLICY: u64 = 330;

/// The store's terms of delivery; those of a store that wrote no policy are only seen when something is bought.
pub(crate) fn shipping_terms(persona: &Persona) -> Terms {
    let mut dice = shipping_dice(persona);
    let is_written = !dice.chance(NO_SHIPPING_POLICY);
    let DrawnTerms { free_above, fee, days } = drawn_terms(&mut dice);
    Terms {
        free_above: (is_written || fee % 2 == 1).then_some(free_above),
        fee,
        days,
    }
}

pub(crate) fn shipping_dice(persona: &Persona) -> Dice {
    Dice::of(&[persona.seed, 0x504f_4c49, u64::from(persona.index)])
}

pub(crate) fn drawn_terms(dice: &mut Dice) -> DrawnTerms {
    DrawnTerms {
        free_above: [499, 599, 799, 999, 1499][dice.below(5) as usize],
        fee: [40, 49, 79, 99][dice.below(4) as usize],
        days: DeliveryDays {
            fewest: dice.between(2, 5),
            most: dice.between(6, 10),
        },
    }
}
