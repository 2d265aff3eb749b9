//! Checks that neighbouring claims are read independently, and that text about other topics gives no facts.
#![expect(clippy::unwrap_used, reason = "tests")]

use data_model::{ShippingFact, ShippingFactKind, UnknownReason};
use pipeline_policies::read;
use proptest::prelude::*;

const CLAIMS: [&str; 20] = [
    "Free shipping above ₹999",
    "Free delivery on orders over Rs. 999",
    "COD available",
    "Cash on delivery is available on orders up to ₹5000",
    "Delivery in 3-5 days",
    "Orders are delivered within 7 working days",
    "Dispatched in 1-2 days",
    "We ship all orders within 24 hours",
    "A COD fee of ₹49 is charged",
    "Shipping charges of ₹50 apply on orders below ₹999",
    "We dispatch Monday to Saturday",
    "Free shipping on orders of ₹999 or more",
    "COD at ₹50 extra",
    "We accept cash on delivery",
    "Get your order in 4-6 days",
    "Ships in 24-48 hours",
    "Flat ₹49 shipping",
    "Enjoy free delivery on prepaid orders",
    "Order before 2 PM for same-day dispatch",
    "No delivery charges above ₹499",
];
const FOREIGN: [[&str; 5]; 3] = [
    [
        "Versandkostenfrei ab 50 €",
        "Lieferung in 2-3 Werktagen",
        "Nachnahme möglich",
        "Wir versenden innerhalb von 24 Stunden",
        "Nachnahmegebühr: 5 €",
    ],
    [
        "Livraison offerte dès 60 €",
        "Livraison en 2 à 4 jours ouvrés",
        "Paiement à la livraison possible",
        "Expédition sous 24h",
        "Les commandes sont préparées du lundi au vendredi",
    ],
    [
        "Envío gratis a partir de 50 €",
        "Entrega en 2-3 días laborables",
        "Aceptamos contra reembolso",
        "Preparamos los pedidos en 24 horas",
        "Los pedidos se envían de lunes a viernes",
    ],
];
/// Separators of claims in banners, lists and sentences.
const JOINTS: [&str; 16] = [
    " · ", " & ", " | ", " ★ ", ", ", " – ", " / ", " and ", " • ", " + ", "; ", ". ", " ✓ ", " || ", ", and ", "\n",
];
/// Topics other than shipping that a banner names.
const NAMES: [&str; 14] = [
    "Easy returns",
    "7-day exchange",
    "10% off",
    "24x7 support",
    "Secure payments",
    "Made in India",
    "100% authentic",
    "Free gift wrap",
    "Easy 15-day returns",
    "1 year warranty",
    "Handmade with love",
    "Trusted by 10,000 customers",
    "No-questions-asked returns",
    "Loved by thousands",
];
const OTHERS: [&str; 14] = [
    "Returns are accepted within 7 days.",
    "Refunds are credited in 5-7 working days.",
    "Exchange requests take 3-5 days and cost ₹100.",
    "Get 10% off on orders above ₹1999.",
    "Free gift on orders above ₹1500.",
    "Gift cards are sent by email within 24 hours.",
    "Our support team replies within 24 hours.",
    "Gift wrapping costs ₹50 per order.",
    "All products carry a warranty of 180 days.",
    "Free returns on all orders above ₹500.",
    "Easy 15-day returns.",
    "Call us from Monday to Friday, 10 am to 6 pm.",
    "Damaged goods are replaced within 10 days.",
    "Use code FIRST20 for ₹200 off above ₹800.",
];
/// Claims that are limited in time.
const ENDING: [&str; 12] = [
    "Free shipping till 31st December",
    "Free shipping above ₹499 until Sunday",
    "Free delivery on all orders, valid till 15 August",
    "No delivery charges this weekend only",
    "Today only: free shipping on everything",
    "Free shipping from 1st to 10th November",
    "Flat ₹20 shipping till 31/12/2027",
    "Free shipping above ₹300 for a limited time",
    "COD fee of ₹10 only until 5 May",
    "Limited period offer: free shipping above ₹199",
    "Kostenloser Versand bis 31. Dezember",
    "Livraison offerte jusqu'au 24 décembre",
];

fn said(text: &str) -> Vec<ShippingFact> {
    let currency = if text.contains('€') || FOREIGN.as_flattened().iter().any(|claim| text.contains(claim)) {
        "EUR"
    } else {
        "INR"
    };
    let mut facts = read(text, currency.parse().unwrap()).facts;
    facts.iter_mut().for_each(|fact| fact.sentence.clear());
    facts
}

fn union(texts: &[&str]) -> Vec<ShippingFact> {
    let mut all: Vec<ShippingFact> = Vec::new();
    for fact in texts.iter().flat_map(|text| said(text)) {
        if !all.contains(&fact) {
            all.push(fact);
        }
    }
    all
}

fn is_same(one: &[ShippingFact], other: &[ShippingFact]) -> bool {
    one.len() == other.len() && one.iter().all(|fact| other.contains(fact))
}

fn assert_join(claims: &[&str]) {
    let kinds = |text: &str| said(text).iter().map(|fact| fact.kind).collect::<Vec<_>>();
    for one in claims {
        assert!(!said(one).is_empty(), "{one}");
        for other in claims {
            // One of two claims of one kind may limit or contradict the other.
            if kinds(one).iter().any(|kind| kinds(other).contains(kind)) {
                continue;
            }
            for joint in JOINTS {
                let text = format!("{one}{joint}{other}");
                let (told, wanted) = (said(&text), union(&[one, other]));
                assert!(is_same(&told, &wanted), "{text}\ntold {told:#?}\nwanted {wanted:#?}");
            }
        }
    }
}

#[test]
fn claims_joined_by_any_separator_say_what_each_says() {
    assert_join(&CLAIMS);
}

#[test]
fn claims_of_other_languages_joined_by_any_separator_say_what_each_says() {
    for claims in &FOREIGN {
        assert_join(claims);
    }
}

#[test]
fn other_matters_that_a_banner_names_change_nothing() {
    for claim in CLAIMS {
        for name in NAMES {
            for joint in JOINTS {
                let before = format!("{name}{joint}{claim}");
                for text in [format!("{claim}{joint}{name}"), before] {
                    // A separate line, or text before a dash, may be a heading of the text after it.
                    if text.starts_with(name) && (joint == "\n" || joint == " – ") {
                        continue;
                    }
                    assert!(is_same(&said(&text), &said(claim)), "{text}\ntold {:#?}", said(&text));
                }
            }
        }
    }
}

#[test]
fn other_matters_change_nothing() {
    for claim in CLAIMS {
        for other in OTHERS {
            for text in [
                format!("{other} {claim}."),
                format!("{claim}. {other}"),
                format!("{claim} | {other}"),
            ] {
                assert!(is_same(&said(&text), &said(claim)), "{text}\ntold {:#?}", said(&text));
            }
        }
    }
}

#[test]
fn what_a_code_gives_is_no_standing_fact() {
    let is_free = |fact: &ShippingFact| fact.kind == ShippingFactKind::FreeShipping;
    for joint in [" – ", " - ", ": ", " — "] {
        for offer in [
            "free delivery on orders above Rs. 499",
            "free shipping above ₹999",
            "Free shipping",
        ] {
            for code in ["SHIPFREE", "FREESHIPPING", "FREEDELIVERY", "SHIP499", "DIWALI2026"] {
                let text = format!("{code}{joint}{offer}");
                assert_eq!(said(&text), [], "{text}");
            }
            // Uppercase names of places, notices or services are not discount codes.
            for label in ["INDIA", "NOTE", "DOMESTIC", "STANDARD"] {
                let text = format!("{label}{joint}{offer}.");
                assert!(said(&text).iter().any(is_free), "{text}");
            }
        }
    }
}

#[test]
fn what_ends_in_time_is_no_standing_fact() {
    for text in ENDING {
        for currency in ["INR", "EUR"] {
            let facts = read(text, currency.parse().unwrap()).facts;
            assert!(facts.is_empty(), "{text} {facts:#?}");
        }
        let beside = format!("{text}. Delivery in 3-5 days.");
        assert!(is_same(&said(&beside), &said("Delivery in 3-5 days.")), "{beside}");
    }
}

#[test]
fn what_contradicts_itself_is_told_as_a_contradiction() {
    for (one, other, kind) in [
        (
            "Free shipping above ₹499",
            "Free shipping above ₹999",
            ShippingFactKind::FreeShipping,
        ),
        (
            "COD is available on all orders",
            "We do not offer COD",
            ShippingFactKind::Cod,
        ),
        (
            "Delivery takes 3-5 days",
            "Orders are delivered in 8-10 days",
            ShippingFactKind::Delivery,
        ),
        (
            "Orders are dispatched in 1-2 days",
            "We dispatch within 7 days",
            ShippingFactKind::Dispatch,
        ),
        (
            "A COD fee of ₹49 is charged",
            "COD orders cost ₹60 extra",
            ShippingFactKind::CodFee,
        ),
        (
            "Shipping costs ₹50",
            "We charge ₹80 for shipping",
            ShippingFactKind::Fee,
        ),
    ] {
        for joint in [". ", " | ", "\n", "; "] {
            for (one, other) in [(one, other), (other, one)] {
                let text = format!("{one}{joint}{other}");
                let reading = read(&text, "INR".parse().unwrap());
                assert!(
                    reading.facts.iter().all(|fact| fact.kind != kind),
                    "{text} {reading:#?}"
                );
                let told = reading.unknown.iter().find(|unknown| unknown.kind == kind);
                assert_eq!(
                    told.map(|told| told.reason),
                    Some(UnknownReason::Contradiction),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn brackets_that_are_filled_are_no_template() {
    for text in [
        "Delivery in 3-5 days [Note: remote areas may take longer]",
        "Delivery in 3-5 days, support is there 24 x 7",
        "Delivery in 3-5 days with our partners (e.g. Delhivery)",
    ] {
        assert!(
            is_same(&said(text), &said("Delivery in 3-5 days")),
            "{text} {:#?}",
            said(text)
        );
    }
    for text in [
        "Delivery in [X] days",
        "Delivery in [number] days",
        "Delivery in [ ] days",
        "Delivery in XX days",
    ] {
        assert!(said(text).is_empty(), "{text}");
    }
}

proptest! {
    #[test]
    fn claims_in_any_order_and_joined_by_anything_say_what_each_says(
        order in Just([0, 2, 4, 6, 10]).prop_shuffle(),
        joints in proptest::array::uniform4(proptest::sample::select(&JOINTS[..])),
        count in 2_usize..=5,
    ) {
        let claims: Vec<&str> = order.iter().take(count).map(|at| CLAIMS[*at]).collect();
        let mut text = claims[0].to_owned();
        for (claim, joint) in claims[1..].iter().zip(joints) {
            text = format!("{text}{joint}{claim}");
        }
        let (told, wanted) = (said(&text), union(&claims));
        prop_assert!(is_same(&told, &wanted), "{text}\ntold {told:#?}\nwanted {wanted:#?}");
    }
}

#[test]
fn a_dispatch_that_is_mentioned_without_its_time_is_told_apart_from_one_that_is_not_mentioned() {
    for (text, days, is_mentioned) in [
        ("Delivery takes 3-5 business days.", (Some(3), Some(5)), false),
        ("Orders are delivered within 5 working days.", (None, Some(5)), false),
        ("Your order arrives in 3 to 5 days.", (Some(3), Some(5)), false),
        ("Delivery within 48 hours.", (None, Some(2)), false),
        ("Delivery takes 2-4 weeks.", (Some(14), Some(28)), false),
        ("Die Lieferzeit beträgt 3-5 Werktage.", (Some(3), Some(5)), false),
        ("Livraison sous 3 à 5 jours ouvrés.", (Some(3), Some(5)), false),
        ("La entrega tarda de 3 a 5 días laborables.", (Some(3), Some(5)), false),
        (
            "Delivery takes 3-5 business days after dispatch.",
            (Some(3), Some(5)),
            true,
        ),
        (
            "Once shipped, orders are delivered in 3-5 days.",
            (Some(3), Some(5)),
            true,
        ),
        (
            "Orders are dispatched promptly. Delivery takes 3-5 days.",
            (Some(3), Some(5)),
            true,
        ),
    ] {
        let reading = read(text, "EUR".parse().unwrap());
        let delivery = reading
            .facts
            .iter()
            .find(|fact| fact.kind == ShippingFactKind::Delivery);
        let told = delivery.map(|fact| (fact.days_min, fact.days_max));
        assert_eq!(told, Some(days), "{text}");
        let dispatch = reading
            .unknown
            .iter()
            .find(|term| term.kind == ShippingFactKind::Dispatch);
        let dispatch = dispatch.unwrap();
        assert_eq!(dispatch.reason, UnknownReason::NotStated, "{text}");
        assert_eq!(dispatch.sentence.is_some(), is_mentioned, "{text}");
    }
}
