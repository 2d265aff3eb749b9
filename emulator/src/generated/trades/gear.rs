use super::{Kind, Scheme, Trade, kind};
use crate::picture::Shape;

const ELECTRIC: &[&str] = &[
    "Bluetooth 5.3 with low-latency mode",
    "Battery: up to 40 hours; USB-C fast charge",
    "IPX5 splash resistant",
    "In the box: device, USB-C cable, user guide",
    "Warranty: 1 year, carry-in",
];
const POWER: &[&str] = &[
    "Input: 100–240 V, 50/60 Hz",
    "BIS certified; over-current & thermal protection",
    "Cable length 1.5 m",
    "Warranty: 1 year",
];
const GYM: &[&str] = &[
    "Built for home & commercial use",
    "Knurled grip that does not slip when wet",
    "Wipe clean after use",
    "Warranty: 6 months",
];
const POWDER: &[&str] = &[
    "24 g protein & 5.5 g BCAA per scoop",
    "Lab tested; report by QR code on the pack",
    "Mix one scoop in 200 ml of cold water",
    "Not for medicinal use",
];

pub(super) const ELECTRONICS: Trade = Trade {
    endings: &["Audio", "Electronics", "Tech", "Gadgets", "Devices", "Sound", "Power"],
    coloured: false,
    kinds: &ELECTRONICS_KINDS,
};
const ELECTRONICS_KINDS: [Kind; 8] = [
    kind(
        "Headphones",
        "Headphones",
        (1499, 19999),
        Scheme::Colour,
        Shape::Headphones,
        &["Wireless Noise-Cancelling", "Over-Ear", "Studio"],
        ELECTRIC,
    ),
    kind(
        "Earbuds",
        "True Wireless Earbuds",
        (999, 7999),
        Scheme::Colour,
        Shape::Earbuds,
        &["ANC", "Gaming", "Open-Ear"],
        ELECTRIC,
    ),
    kind(
        "Bluetooth Speaker",
        "Speakers",
        (999, 9999),
        Scheme::Colour,
        Shape::Speaker,
        &["Portable", "Party", "Waterproof"],
        ELECTRIC,
    ),
    kind(
        "Smart Watch",
        "Smart Watches",
        (1499, 14999),
        Scheme::Colour,
        Shape::Watch,
        &["AMOLED", "GPS", "Calling"],
        ELECTRIC,
    ),
    kind(
        "Power Bank",
        "Power Banks",
        (799, 3499),
        Scheme::Colour,
        Shape::Charger,
        &["10,000 mAh", "20,000 mAh", "MagSafe"],
        POWER,
    ),
    kind(
        "GaN Charger",
        "Chargers",
        (699, 3999),
        Scheme::Single,
        Shape::Charger,
        &["65 W", "100 W", "Three-Port"],
        POWER,
    ),
    kind(
        "Phone Case",
        "Phone Cases",
        (299, 1499),
        Scheme::Colour,
        Shape::Phone,
        &["Shockproof", "Clear", "Leather"],
        POWER,
    ),
    kind(
        "Mechanical Keyboard",
        "Keyboards",
        (1999, 9999),
        Scheme::Colour,
        Shape::Keyboard,
        &["75%", "Hot-Swap", "Low-Profile"],
        POWER,
    ),
];

pub(super) const FITNESS: Trade = Trade {
    endings: &[
        "Fitness",
        "Athletics",
        "Strength",
        "Yoga",
        "Nutrition",
        "Sports",
        "Wellness",
    ],
    coloured: false,
    kinds: &FITNESS_KINDS,
};
const FITNESS_KINDS: [Kind; 6] = [
    kind(
        "Yoga Mat",
        "Yoga Mats",
        (699, 3999),
        Scheme::Colour,
        Shape::Mat,
        &["Cork", "6 mm TPE", "Natural Rubber"],
        GYM,
    ),
    kind(
        "Dumbbell",
        "Dumbbells",
        (399, 4999),
        Scheme::Load,
        Shape::Dumbbell,
        &["Hex Rubber", "Vinyl", "Adjustable"],
        GYM,
    ),
    kind(
        "Resistance Bands",
        "Exercise Bands",
        (299, 1499),
        Scheme::Pack,
        Shape::Belt,
        &["Loop", "Fabric", "Latex"],
        GYM,
    ),
    kind(
        "Whey Protein",
        "Protein Supplements",
        (1299, 6999),
        Scheme::Weight,
        Shape::Tin,
        &["Isolate", "Belgian Chocolate", "Unflavoured"],
        POWDER,
    ),
    kind(
        "Leggings",
        "Activewear",
        (799, 3499),
        Scheme::SizeColour,
        Shape::Trousers,
        &["High-Waist", "Seamless", "Pocket"],
        GYM,
    ),
    kind(
        "Shaker Bottle",
        "Shakers",
        (249, 899),
        Scheme::Colour,
        Shape::Bottle,
        &["Leak-Proof", "Steel", "700 ml"],
        GYM,
    ),
];
