use super::{Kind, Scheme, Trade, kind};
use crate::picture::Shape;

const PET_FOOD: &[&str] = &[
    "Real chicken is the first ingredient",
    "No corn, soy or artificial colours",
    "Feed 2–3% of body weight a day",
    "Vet approved",
];
const PET_GEAR: &[&str] = &[
    "Soft, chew-resistant & washable",
    "Measure your pet before ordering",
    "Metal hardware",
    "Made in India",
];
const KID: &[&str] = &[
    "Made of natural neem wood or GOTS organic cotton",
    "Non-toxic, water-based colours",
    "Tested to EN 71 & BIS toy standards",
    "Recommended under adult supervision",
];
const GOLD: &[&str] = &[
    "18k gold plated on brass, or 925 sterling silver",
    "Anti-tarnish coat, nickel free",
    "Keep away from water & perfume",
    "Comes in a gift box with a care card",
    "6-month plating warranty",
];
const PAPER: &[&str] = &[
    "100 gsm acid-free paper, no bleed-through",
    "160 pages, lies flat when open",
    "Made from upcycled cotton rag",
    "Ships in a kraft sleeve",
];

pub(super) const PETS: Trade = Trade {
    endings: &["Pets", "Paws", "Pet Co.", "Tails", "Kennel", "Whiskers"],
    coloured: false,
    kinds: &PETS_KINDS,
};
const PETS_KINDS: [Kind; 6] = [
    kind(
        "Dry Dog Food",
        "Dog Food",
        (499, 3999),
        Scheme::Weight,
        Shape::Pouch,
        &["Chicken & Rice", "Grain-Free", "Puppy", "Lamb"],
        PET_FOOD,
    ),
    kind(
        "Wet Cat Food",
        "Cat Food",
        (99, 1499),
        Scheme::Pack,
        Shape::Tin,
        &["Tuna in Gravy", "Kitten", "Ocean Fish"],
        PET_FOOD,
    ),
    kind(
        "Dog Collar",
        "Collars & Leashes",
        (299, 1299),
        Scheme::Size,
        Shape::Collar,
        &["Padded", "Braided", "Reflective"],
        PET_GEAR,
    ),
    kind(
        "Dog Treats",
        "Dog Treats",
        (149, 699),
        Scheme::Weight,
        Shape::Bone,
        &["Yak Milk", "Chicken Jerky", "Dental"],
        PET_FOOD,
    ),
    kind(
        "Pet Bed",
        "Pet Beds",
        (999, 4999),
        Scheme::Size,
        Shape::Cushion,
        &["Orthopaedic", "Donut", "Cooling"],
        PET_GEAR,
    ),
    kind(
        "Feeding Bowl",
        "Pet Bowls",
        (249, 1299),
        Scheme::Colour,
        Shape::Bowl,
        &["Steel", "Slow-Feed", "Ceramic"],
        PET_GEAR,
    ),
];

pub(super) const KIDS: Trade = Trade {
    endings: &["Kids", "Baby", "Toys", "Littles", "Playhouse", "Mini", "Juniors"],
    coloured: true,
    kinds: &KIDS_KINDS,
};
const KIDS_KINDS: [Kind; 6] = [
    kind(
        "Stacking Blocks",
        "Building Blocks",
        (399, 1999),
        Scheme::Single,
        Shape::Blocks,
        &["Wooden", "Rainbow", "Magnetic"],
        KID,
    ),
    kind(
        "Soft Toy",
        "Soft Toys",
        (299, 1999),
        Scheme::Colour,
        Shape::Bear,
        &["Crochet", "Plush", "Knitted"],
        KID,
    ),
    kind(
        "Romper",
        "Baby Clothing",
        (499, 1999),
        Scheme::Age,
        Shape::Romper,
        &["Organic Cotton", "Muslin", "Ribbed"],
        KID,
    ),
    kind(
        "Frock",
        "Girls Dresses",
        (599, 2499),
        Scheme::Age,
        Shape::Dress,
        &["Smocked", "Cotton", "Party"],
        KID,
    ),
    kind(
        "Puzzle",
        "Puzzles",
        (249, 1299),
        Scheme::Single,
        Shape::Blocks,
        &["India Map", "Alphabet", "Animal"],
        KID,
    ),
    kind(
        "Swaddle",
        "Swaddles",
        (399, 1499),
        Scheme::Pack,
        Shape::Towel,
        &["Muslin", "Bamboo", "Printed"],
        KID,
    ),
];

pub(super) const JEWELLERY: Trade = Trade {
    endings: &[
        "Jewels",
        "Jewellery",
        "Silver",
        "Gold",
        "Adornments",
        "Ornaments",
        "Gems",
    ],
    coloured: false,
    kinds: &JEWELLERY_KINDS,
};
const JEWELLERY_KINDS: [Kind; 6] = [
    kind(
        "Necklace",
        "Necklaces",
        (499, 9999),
        Scheme::Metal,
        Shape::Necklace,
        &["Layered", "Temple", "Kundan", "Pearl Drop"],
        GOLD,
    ),
    kind(
        "Jhumkas",
        "Earrings",
        (299, 4999),
        Scheme::Metal,
        Shape::Earrings,
        &["Oxidised", "Meenakari", "Filigree"],
        GOLD,
    ),
    kind(
        "Ring",
        "Rings",
        (399, 14999),
        Scheme::Ring,
        Shape::Ring,
        &["Solitaire", "Stackable", "Signet", "Emerald-Cut"],
        GOLD,
    ),
    kind(
        "Bangles",
        "Bangles",
        (399, 6999),
        Scheme::Metal,
        Shape::Ring,
        &["Lac", "Hammered", "Antique"],
        GOLD,
    ),
    kind(
        "Anklet",
        "Anklets",
        (299, 2499),
        Scheme::Single,
        Shape::Necklace,
        &["Ghungroo", "Beaded", "Silver"],
        GOLD,
    ),
    kind(
        "Mangalsutra",
        "Mangalsutras",
        (999, 19999),
        Scheme::Metal,
        Shape::Necklace,
        &["Modern", "Dainty", "Diamond-Cut"],
        GOLD,
    ),
];

pub(super) const STATIONERY: Trade = Trade {
    endings: &["Paper", "Stationery", "Press", "Notebooks", "Ink", "Writing Co."],
    coloured: true,
    kinds: &STATIONERY_KINDS,
};
const STATIONERY_KINDS: [Kind; 5] = [
    kind(
        "Notebook",
        "Notebooks",
        (149, 899),
        Scheme::Ruling,
        Shape::Notebook,
        &["Hardbound", "A5", "Handmade Paper", "Pocket"],
        PAPER,
    ),
    kind(
        "Fountain Pen",
        "Pens",
        (499, 8999),
        Scheme::Colour,
        Shape::Pen,
        &["Brass", "Ebonite", "Demonstrator"],
        PAPER,
    ),
    kind(
        "Planner",
        "Planners",
        (399, 1499),
        Scheme::Single,
        Shape::Notebook,
        &["Undated", "2027 Daily", "Weekly"],
        PAPER,
    ),
    kind(
        "Greeting Cards",
        "Greeting Cards",
        (99, 599),
        Scheme::Pack,
        Shape::Card,
        &["Letterpress", "Diwali", "Seed-Paper"],
        PAPER,
    ),
    kind(
        "Washi Tape",
        "Craft Supplies",
        (99, 499),
        Scheme::Pack,
        Shape::Ring,
        &["Floral", "Foil", "Gond-Art"],
        PAPER,
    ),
];
