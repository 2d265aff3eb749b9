//! Delivery terms of stores without shipping habits, chosen by the store's seed.

use crate::generated::Persona;
use crate::generated::dice::Dice;

/// Delivery terms of a store, which its policy states if it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Order value from which delivery is free, in whole units of the currency.
    pub(crate) free_above: Option<u64>,
    /// Delivery fee in rupees.
    pub(crate) fee: u64,
    pub(crate) days: DeliveryDays,
}

/// Range of business days that a delivery takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DeliveryDays {
    pub(crate) fewest: u64,
    pub(crate) most: u64,
}

/// Terms that the seed gives a store, independent of its policy.
pub(crate) struct DrawnTerms {
    pub(crate) free_above: u64,
    pub(crate) fee: u64,
    pub(crate) days: DeliveryDays,
}

/// Number of stores in a thousand that have no shipping policy.
pub(crate) const NO_SHIPPING_POLICY: u64 = 330;

/// Returns the store's delivery terms. Without a written policy, only a purchase reveals them.
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
