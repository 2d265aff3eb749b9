use super::dice::Dice;
use super::moment::{EPOCH_ZERO_S, push_moment};
use super::sketch::Sketch;

/// Ratings of a product, as its page shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ratings {
    /// Mean rating in hundredths of a star.
    pub(crate) mean_hundredths: u64,
    pub(crate) count: u64,
    pub(crate) latest: Vec<Review>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Review {
    pub(crate) stars: u64,
    pub(crate) author: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) date: String,
}

const AUTHORS: &[&str] = &[
    "Priya S.",
    "Rahul",
    "Ananya Iyer",
    "Kavya R",
    "Mohammed A.",
    "Sneha",
    "Arjun Mehta",
    "Fatima",
    "J. D'Souza",
    "Lakshmi N.",
    "Harpreet",
    "Emma W.",
    "Tomás",
    "Yuki",
    "Ritu & Aman",
    "Deepak K.",
    "Zoë",
    "anonymous",
];
const GOOD: &[(&str, &str)] = &[
    (
        "Lovely",
        "Exactly as in the pictures, and the quality is better than I expected at this price.",
    ),
    (
        "Worth every rupee",
        "Second time I am buying this. Packing was neat and it came in three days.",
    ),
    (
        "Great gift",
        "Bought it for my mother & she loves it. Will order again!",
    ),
    ("", "Superb finish, fast delivery."),
    ("Five stars", "My whole family uses it now. बहुत अच्छा!"),
];
const FAIR: &[(&str, &str)] = &[
    ("Good but…", "Nice product, delivery took more than a week though."),
    (
        "Okay",
        "Decent for the price. Colour is a little darker than on the site.",
    ),
];
const POOR: &[(&str, &str)] = &[
    ("Disappointed", "Arrived damaged; support replaced it after two mails."),
    (
        "Not for me",
        "Smaller than <expected>. Check the measurements before you buy.",
    ),
];

/// Generates the product's ratings. Returns `None` if the store has no review app or the product has no reviews.
pub(crate) fn draw(sketch: &Sketch<'_>) -> Option<Ratings> {
    let mut dice = sketch.dice(0x5245);
    if !sketch.persona.reviewed || dice.chance(350) {
        return None;
    }
    let count = if dice.chance(100) {
        dice.between(200, 4000)
    } else {
        dice.between(1, 60)
    };
    let latest = (0..count.min(dice.between(1, 5)))
        .map(|nth| review(&mut dice, nth))
        .collect::<Vec<_>>();
    let mean_hundredths = match latest.as_slice() {
        [only] if count == 1 => only.stars * 100,
        _ => dice.between(340, 495),
    };
    Some(Ratings {
        mean_hundredths,
        count,
        latest,
    })
}

fn review(dice: &mut Dice, nth: u64) -> Review {
    let (stars, texts) = match dice.below(10) {
        0 => (dice.between(1, 2), POOR),
        1 | 2 => (3, FAIR),
        3 => (4, FAIR),
        4 | 5 => (4, GOOD),
        _ => (5, GOOD),
    };
    let (title, text) = dice.pick(texts);
    let mut date = Vec::new();
    push_moment(&mut date, EPOCH_ZERO_S - (nth * 20 + dice.between(1, 19)) * 86_400, "");
    date.truncate(10);
    let date = String::from_utf8(date).unwrap_or_default();
    Review {
        stars,
        author: dice.pick(AUTHORS),
        title,
        text,
        date,
    }
}
