//! Tests with stores that have known rules of eight kinds. The inferred delivery is compared with the truth for every
//! pincode.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on says so at once"
)]

use std::collections::BTreeMap;

use data_model::{
    Confidence, DeliveryProbe, DeliveryRate, DeliverySample, DeliveryZone, KnownDelivery, Pincode, Timestamp, VariantId,
};
use data_pincodes::directory;
use emulator::{ZoneKind, ZoneRules};
use pipeline_delivery::{Cart, CartVariant, Carts, PROBES_MAX, infer, next_questions};
use proptest::prelude::*;

/// The shop has light and heavy, cheap and expensive goods.
fn carts() -> Carts {
    carts_at(39_900, &[])
}

/// Returns the carts of the same shop after these answers, with another price for its cheapest product.
fn carts_at(price_minor: i64, earlier: &[DeliveryProbe]) -> Carts {
    let variants = [
        (1, price_minor, 200),
        (2, 79_900, 250),
        (3, 119_900, 300),
        (4, 64_900, 3_000),
        (5, 249_900, 900),
    ];
    let variants = variants.map(|(id, price_minor, grams)| CartVariant {
        id: VariantId(id),
        price_minor,
        grams: Some(grams),
    });
    Carts::of("INR".parse().unwrap(), &variants, earlier).unwrap()
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap()
}

fn answered(rules: ZoneRules, pincode: Pincode, cart: &Cart) -> Vec<DeliveryRate> {
    let quotes = rules.quotes(pincode.number(), unsigned(cart.goods_minor), unsigned(cart.grams));
    let rate = |quote: emulator::ZoneQuote| DeliveryRate {
        name: quote.title.to_owned(),
        amount_minor: quote.amount_minor.cast_signed(),
        min_order_minor: None,
        max_order_minor: None,
        days_min: Some(quote.days_min),
        days_max: Some(quote.days_max),
    };
    quotes.into_iter().map(rate).collect()
}

/// Asks until the plan has no more questions, a limited number per day.
fn probe(rules: ZoneRules, carts: &Carts, a_day: usize) -> Vec<DeliveryProbe> {
    probe_on(rules, carts, a_day, Vec::new())
}

fn probe_on(rules: ZoneRules, carts: &Carts, a_day: usize, mut probes: Vec<DeliveryProbe>) -> Vec<DeliveryProbe> {
    for day in 0..1_000 {
        let questions = next_questions(directory(), carts, &probes);
        if questions.is_empty() {
            return probes;
        }
        for question in questions.into_iter().take(a_day) {
            probes.push(DeliveryProbe {
                pincode: question.pincode,
                variant: question.cart.variant,
                quantity: question.cart.quantity,
                goods_minor: question.cart.goods_minor,
                grams: Some(question.cart.grams),
                currency: carts.currency,
                options: answered(rules, question.pincode, &question.cart),
                asked_at: Timestamp::from_micros(day),
            });
        }
    }
    panic!("the plan never ends");
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    exact: usize,
    unknown: usize,
    wrong: usize,
    wrong_high: usize,
    high: usize,
    priced: usize,
}

struct PincodeAnswer<'a> {
    serviceable: Option<bool>,
    days: Option<(Option<u16>, Option<u16>)>,
    rates: &'a [DeliveryRate],
    confidence: Option<Confidence>,
}

fn said<'a>(
    samples: &BTreeMap<Pincode, &'a DeliverySample>,
    areas: &BTreeMap<&str, &'a DeliveryZone>,
    named: &BTreeMap<&str, &'a DeliveryZone>,
    pincode: Pincode,
    area: &str,
) -> PincodeAnswer<'a> {
    if let Some(sample) = samples.get(&pincode) {
        let zone = sample.zone.as_deref().and_then(|zone| named.get(zone));
        return PincodeAnswer {
            serviceable: sample.serviceable,
            days: sample.days_max.map(|_| (sample.days_min, sample.days_max)),
            rates: zone.map_or(&[], |zone| &zone.rates),
            confidence: Some(Confidence::High),
        };
    }
    let zone = areas.get(area);
    PincodeAnswer {
        serviceable: zone.and_then(|zone| zone.serviceable),
        days: zone.and_then(|zone| zone.days_max.map(|_| (zone.days_min, zone.days_max))),
        rates: zone.map_or(&[], |zone| &zone.rates),
        confidence: zone.map(|zone| zone.confidence),
    }
}

/// Light carts of various values that shoppers may have, and heavy carts.
const ORDERS: [(i64, i64); 9] = [
    (39_900, 200),
    (49_900, 300),
    (79_900, 250),
    (99_800, 450),
    (99_900, 400),
    (149_900, 450),
    (249_900, 900),
    (64_900, 3_000),
    (129_800, 6_000),
];

fn tally(rules: ZoneRules, known: &KnownDelivery) -> Tally {
    let samples = known.samples.iter().map(|sample| (sample.pincode, sample)).collect();
    let of_zone = |zone| move |area: &'_ String| -> (String, &DeliveryZone) { (area.clone(), zone) };
    let owned: Vec<(String, &DeliveryZone)> = known
        .zones
        .iter()
        .flat_map(|zone| zone.areas.iter().map(of_zone(zone)))
        .collect();
    let areas = owned.iter().map(|(area, zone)| (area.as_str(), *zone)).collect();
    let named = known.zones.iter().map(|zone| (zone.zone.as_str(), zone)).collect();
    let mut tally = Tally::default();
    for (pincode, area) in directory().pincodes() {
        let said = said(&samples, &areas, &named, pincode, &directory().get(area).unwrap().name);
        let served = rules.delivers(pincode.number());
        let mut wrong = said.serviceable.is_some_and(|said| said != served);
        let mut priced = false;
        for (goods_minor, grams) in ORDERS {
            let quotes = rules.quotes(pincode.number(), unsigned(goods_minor), unsigned(grams));
            let truth = quotes.first();
            let days = truth.map(|quote| (Some(quote.days_min), Some(quote.days_max)));
            wrong |= said.days.is_some() && said.days != days;
            let fits = |rate: &&DeliveryRate| {
                rate.min_order_minor.is_none_or(|least| least <= goods_minor)
                    && rate.max_order_minor.is_none_or(|most| goods_minor <= most)
            };
            if let Some(rate) = said.rates.iter().find(fits) {
                priced = true;
                wrong |= truth.is_none_or(|quote| quote.amount_minor.cast_signed() != rate.amount_minor);
            }
        }
        let is_told = said.days.is_some() || said.serviceable == Some(false);
        let high = said.confidence == Some(Confidence::High);
        tally.wrong += usize::from(wrong);
        tally.wrong_high += usize::from(wrong && high);
        tally.exact += usize::from(is_told && !wrong);
        tally.unknown += usize::from(!is_told && !wrong);
        tally.high += usize::from(high);
        tally.priced += usize::from(priced);
    }
    tally
}

#[test]
fn eight_kinds_of_rules_are_told_beside_the_truth() {
    let carts = carts();
    let all = directory().len();
    println!("kind seed probes exact% unknown% wrong% wrong-high high% priced%");
    for kind in ZoneKind::ALL {
        for seed in 1..=4 {
            let rules = ZoneRules { kind, seed };
            let probes = probe(rules, &carts, 40);
            let told = tally(rules, &infer(directory(), &carts, &probes));
            let share = |count: usize| (count * 10_000 / all) as f64 / 100.0;
            println!(
                "{kind:?} {seed} {} {} {} {} {} {} {}",
                probes.len(),
                share(told.exact),
                share(told.unknown),
                share(told.wrong),
                told.wrong_high,
                share(told.high),
                share(told.priced),
            );
            assert!(probes.len() < 150, "{kind:?}: {} probes", probes.len());
            assert_eq!(told.wrong_high, 0, "{kind:?} {seed}: wrong with high confidence");
            assert_eq!(told.exact + told.unknown + told.wrong, all);
            let (exact_min, wrong_max) = match kind {
                ZoneKind::Hidden => (0.0, 0.0),
                // Rules by district are not inferred for districts that were not queried.
                ZoneKind::ExcludedDistricts => (25.0, 2.5),
                _ => (99.0, 0.0),
            };
            assert!(share(told.exact) >= exact_min, "{kind:?} {seed}: {told:?}");
            assert!(share(told.wrong) <= wrong_max, "{kind:?} {seed}: {told:?}");
        }
    }
}

#[test]
fn a_store_that_quotes_nothing_is_left_alone_and_nothing_is_said_of_it() {
    let hidden = ZoneRules {
        kind: ZoneKind::Hidden,
        seed: 1,
    };
    let probes = probe(hidden, &carts(), 5);
    assert!(probes.len() <= 16, "{}", probes.len());
    let known = infer(directory(), &carts(), &probes);
    assert_eq!((known.samples.len(), known.zones.len()), (0, 0));
}

#[test]
fn a_pincode_for_which_a_rate_was_quoted_is_served_and_one_that_was_refused_is_not() {
    for kind in ZoneKind::ALL {
        let rules = ZoneRules { kind, seed: 2 };
        let known = infer(directory(), &carts(), &probe(rules, &carts(), 150));
        for sample in &known.samples {
            let served = rules.delivers(sample.pincode.number());
            assert_eq!(sample.serviceable, Some(served), "{kind:?} {}", sample.pincode);
        }
        assert!(known.zones.iter().all(|zone| zone.serviceable.is_some()), "{kind:?}");
        assert_eq!(known.zones.is_empty(), kind == ZoneKind::Hidden, "{kind:?}");
    }
}

#[test]
fn another_price_of_what_is_asked_with_asks_little_anew() {
    for kind in ZoneKind::ALL.into_iter().filter(|kind| *kind != ZoneKind::Hidden) {
        let rules = ZoneRules { kind, seed: 3 };
        let before = probe(rules, &carts(), 40);
        let known = infer(directory(), &carts(), &before);
        let dearer = carts_at(44_900, &before);
        let after = probe_on(rules, &dearer, 40, before.clone());
        assert!(
            after.len() - before.len() <= 12,
            "{kind:?}: {} asked anew",
            after.len() - before.len()
        );
        let told = tally(rules, &infer(directory(), &dearer, &after));
        let expected = tally(rules, &known);
        assert_eq!((told.wrong_high, told.wrong), (0, expected.wrong), "{kind:?}");
        assert!(told.exact >= expected.exact, "{kind:?}: {told:?}, before {expected:?}");
    }
}

#[test]
fn a_price_beyond_a_threshold_is_asked_for_everywhere_anew() {
    let rules = ZoneRules {
        kind: ZoneKind::ByValue,
        seed: 1,
    };
    let currency = "INR".parse().unwrap();
    let only = |price_minor| {
        [CartVariant {
            id: VariantId(1),
            price_minor,
            grams: Some(200),
        }]
    };
    let cheap = Carts::of(currency, &only(29_900), &[]).unwrap();
    let before = probe(rules, &cheap, 40);
    let dear = Carts::of(currency, &only(99_900), &before).unwrap();
    let after = probe_on(rules, &dear, 40, before.clone());
    // The earlier answers do not apply and do not count, so that the number of questions is the same as without them.
    assert!(after.len() - before.len() > 80, "{}", after.len() - before.len());
    assert_eq!(tally(rules, &infer(directory(), &dear, &after)).wrong, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nothing_is_wrong_with_high_confidence_however_much_is_asked_a_day(
        kind in 0_usize..8, seed in 0_u64..1_000_000, a_day in 1_usize..60,
    ) {
        let rules = ZoneRules { kind: ZoneKind::ALL[kind], seed };
        let probes = probe(rules, &carts(), a_day);
        prop_assert!(probes.len() < 150 && probes.len() <= PROBES_MAX);
        let known = infer(directory(), &carts(), &probes);
        prop_assert_eq!(tally(rules, &known).wrong_high, 0);
        let at_once = infer(directory(), &carts(), &probe(rules, &carts(), 1_000));
        let bare = |known: &KnownDelivery| known.zones.iter().map(|zone| (zone.zone.clone(), zone.areas.clone(), zone.rates.clone())).collect::<Vec<_>>();
        prop_assert_eq!(bare(&known), bare(&at_once));
    }

    #[test]
    fn nothing_is_wrong_with_high_confidence_whatever_prices_become(
        kind in 0_usize..8, seed in 0_u64..1_000_000, asked in 1_usize..140, prices in prop::collection::vec(10_000_i64..200_000, 1..4),
    ) {
        let rules = ZoneRules { kind: ZoneKind::ALL[kind], seed };
        let mut probes = probe(rules, &carts(), 40);
        probes.truncate(asked);
        let mut last = carts();
        for price in prices {
            last = carts_at(price, &probes);
            probes = probe_on(rules, &last, 17, probes);
        }
        prop_assert_eq!(tally(rules, &infer(directory(), &last, &probes)).wrong_high, 0);
    }
}
