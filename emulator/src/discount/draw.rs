//! Generator of a store's discounts from its seed, with codes like those of real brands.

use chrono::{DateTime, Utc};

use super::{CombinesWith, DiscountPlacement, DiscountRule, DiscountValue};
use crate::catalogue::Catalogue;
use crate::generated::Persona;
use crate::generated::dice::Dice;
use crate::money::exponent;

/// Codes that welcome new buyers.
const GREETINGS: &[(&str, &[u32])] = &[
    ("WELCOME", &[5, 10, 15, 20]),
    ("FIRST", &[5, 10, 15]),
    ("HELLO", &[5, 10]),
    ("NEW", &[10, 15]),
    ("FIRSTORDER", &[10]),
    ("HI", &[5, 10]),
];

/// Prefixes of codes with a minimum cart value.
const SAVINGS: &[&str] = &["SAVE", "EXTRA", "GET", "MORE", "SHOP"];

/// Codes of festivals, past and future.
const FEASTS: &[&str] = &[
    "DIWALI", "HOLI", "SUMMER", "MONSOON", "NEWYEAR", "BFCM", "RAKHI", "EOSS",
];

/// Names of influencers, used as codes.
const VOICES: &[&str] = &["PRIYA", "ARJUN", "MEERA", "KABIR", "TARA", "ZARA", "DEV"];

const EVERYTHING: CombinesWith = CombinesWith {
    order: true,
    product: true,
    shipping: true,
};

const DELIVERY_ONLY: CombinesWith = CombinesWith {
    order: false,
    product: false,
    shipping: true,
};

pub(super) fn draw(catalogue: &Catalogue) -> Vec<DiscountRule> {
    let persona = catalogue.persona();
    let mut dice = Dice::of(&[persona.seed, 0x4449_5343, u64::from(persona.index)]);
    let mut rules = vec![greeting(&mut dice)];
    rules.push(of_the_brand(persona, &mut dice));
    if dice.chance(650) {
        rules.push(saving(persona, &mut dice));
    }
    if dice.chance(550) {
        rules.push(flat(persona, &mut dice));
    }
    if dice.chance(500) {
        rules.push(free_delivery(persona, &mut dice));
    }
    if dice.chance(450) {
        rules.extend(of_products(catalogue, &mut dice));
    }
    rules.extend(feasts(&mut dice));
    if dice.chance(400) {
        rules.push(of_a_voice(&mut dice));
    }
    if dice.chance(300) {
        let vip = DiscountRule::code("VIP20", DiscountValue::Percentage { percent: 20 });
        rules.push(DiscountRule {
            customers_only: true,
            ..vip
        });
    }
    if dice.chance(250) {
        rules.push(by_itself(persona, &mut dice));
    }
    let mut seen = std::collections::HashSet::new();
    rules.retain(|rule| seen.insert(super::folded(rule.name())));
    rules
}

/// Converts an amount in rupees to a round amount in the store's currency, in minor units.
fn amount_minor(persona: &Persona, rupees: u64) -> u64 {
    if persona.coin.code == "INR" {
        return rupees * 100;
    }
    let unit = 10_u64.pow(exponent(persona.coin.code));
    persona.coin.price_minor(rupees).div_ceil(unit).max(1) * unit
}

fn told(dice: &mut Dice, announced: u64, written: u64) -> DiscountPlacement {
    match dice.below(1000) {
        roll if roll < announced => DiscountPlacement::Announcement,
        roll if roll < announced + written => DiscountPlacement::Policy,
        _ => DiscountPlacement::Nowhere,
    }
}

fn greeting(dice: &mut Dice) -> DiscountRule {
    let (word, shares) = dice.pick(GREETINGS);
    let percent = dice.pick(shares);
    DiscountRule {
        combines_with: if dice.chance(400) {
            DELIVERY_ONLY
        } else {
            CombinesWith::default()
        },
        told: told(dice, 600, 100),
        ..DiscountRule::code(format!("{word}{percent}"), DiscountValue::Percentage { percent })
    }
}

/// Generates a code that starts with the brand's name: `WILLOW10`, `TEAMWILLOW15`.
fn of_the_brand(persona: &Persona, dice: &mut Dice) -> DiscountRule {
    let letters = |word: &str| -> String {
        let kept = word.chars().filter(char::is_ascii_alphanumeric);
        kept.map(|letter| letter.to_ascii_uppercase()).collect()
    };
    let mut words = persona.name.split_whitespace().map(letters);
    let word = words.find(|word| word.len() >= 2).unwrap_or_else(|| "SHOP".to_owned());
    let percent = dice.pick(&[5, 10, 12, 15, 20]);
    let code = match dice.below(5) {
        0 => format!("TEAM{word}{percent}"),
        1 => format!("{word}{percent}OFF"),
        2 => format!("{word}LOVE{percent}"),
        _ => format!("{word}{percent}"),
    };
    DiscountRule {
        told: told(dice, 200, 200),
        ..DiscountRule::code(code, DiscountValue::Percentage { percent })
    }
}

fn saving(persona: &Persona, dice: &mut Dice) -> DiscountRule {
    let percent = dice.pick(&[10, 15, 20, 25]);
    let least = dice.pick(&[999, 1499, 1999, 2999]);
    DiscountRule {
        minimum_subtotal_minor: Some(amount_minor(persona, least)),
        told: told(dice, 300, 200),
        ..DiscountRule::code(
            format!("{}{percent}", dice.pick(SAVINGS)),
            DiscountValue::Percentage { percent },
        )
    }
}

fn flat(persona: &Persona, dice: &mut Dice) -> DiscountRule {
    let rupees = dice.pick(&[50, 100, 150, 200, 500]);
    let amount = amount_minor(persona, rupees);
    let units = amount / 10_u64.pow(exponent(persona.coin.code));
    let least = dice.chance(600).then(|| amount.saturating_mul(dice.between(4, 8)));
    DiscountRule {
        minimum_subtotal_minor: least,
        combines_with: if dice.chance(300) { EVERYTHING } else { DELIVERY_ONLY },
        told: told(dice, 200, 150),
        ..DiscountRule::code(
            format!("{}{units}", dice.pick(&["FLAT", "OFF", "TAKE"])),
            DiscountValue::Amount {
                amount_minor: amount,
                each_item: false,
            },
        )
    }
}

fn free_delivery(persona: &Persona, dice: &mut Dice) -> DiscountRule {
    let least = dice
        .chance(400)
        .then(|| amount_minor(persona, dice.pick(&[299, 499, 999])));
    DiscountRule {
        minimum_subtotal_minor: least,
        combines_with: EVERYTHING,
        // This code is in no policy, because a policy with it would suggest that delivery is free for everyone.
        told: told(dice, 400, 0),
        ..DiscountRule::code(
            dice.pick(&["FREESHIP", "FREESHIPPING", "SHIPFREE"]),
            DiscountValue::Shipping,
        )
    }
}

/// Generates a code for some of the store's products, or none if the store has no products.
fn of_products(catalogue: &Catalogue, dice: &mut Dice) -> Option<DiscountRule> {
    let places = catalogue.places(0);
    let listed = (0..places.len().min(120)).filter_map(|nth| places.get(nth));
    let ids = listed.filter_map(|place| catalogue.product_id(place, 0));
    let products: Vec<u64> = ids.filter(|_| dice.chance(300)).collect();
    let percent = dice.pick(&[10, 20, 30]);
    let takes = if dice.chance(700) {
        DiscountValue::Percentage { percent }
    } else {
        let each = amount_minor(catalogue.persona(), dice.pick(&[25, 50, 75]));
        DiscountValue::Amount {
            amount_minor: each,
            each_item: true,
        }
    };
    (!products.is_empty()).then(|| DiscountRule {
        products,
        combines_with: EVERYTHING,
        told: told(dice, 100, 200),
        ..DiscountRule::code(format!("{}{percent}", dice.pick(&["PICK", "EDIT", "STAR"])), takes)
    })
}

/// Generates codes for past festivals and one for a future festival.
fn feasts(dice: &mut Dice) -> Vec<DiscountRule> {
    let moment = |text: &str| text.parse::<DateTime<Utc>>().ok();
    let mut rules = Vec::new();
    for _ in 0..dice.between(1, 3) {
        let percent = dice.pick(&[15, 20, 25, 30]);
        rules.push(DiscountRule {
            ends_at: moment("2026-03-01T18:30:00Z"),
            ..DiscountRule::code(
                format!("{}{percent}", dice.pick(FEASTS)),
                DiscountValue::Percentage { percent },
            )
        });
    }
    if dice.chance(300) {
        rules.push(DiscountRule {
            starts_at: moment("2096-01-01T00:00:00Z"),
            ..DiscountRule::code("CENTURY40", DiscountValue::Percentage { percent: 40 })
        });
    }
    rules
}

/// Generates an influencer's code, which may be used up.
fn of_a_voice(dice: &mut Dice) -> DiscountRule {
    let percent = dice.pick(&[10, 15]);
    let limit = dice.pick(&[50, 100, 500]);
    let used = if dice.chance(500) { limit } else { dice.below(limit) };
    DiscountRule {
        usage_limit: Some(limit),
        used,
        ..DiscountRule::code(
            format!("{}{percent}", dice.pick(VOICES)),
            DiscountValue::Percentage { percent },
        )
    }
}

fn by_itself(persona: &Persona, dice: &mut Dice) -> DiscountRule {
    let percent = dice.pick(&[5, 10]);
    let least = amount_minor(persona, dice.pick(&[2499, 4999]));
    DiscountRule {
        minimum_subtotal_minor: Some(least),
        combines_with: EVERYTHING,
        ..DiscountRule::automatic(
            format!("{percent}% off large orders"),
            DiscountValue::Percentage { percent },
        )
    }
}
