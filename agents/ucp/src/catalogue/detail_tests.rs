use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::catalogue::filter::PriceFilter;
use crate::wire;

/// Returns a product whose variants have these colours and sizes. The last element is `true` if the variant can be
/// bought.
fn made(variants: &[(&str, &str, bool)]) -> Product {
    let variant = |(nth, (color, size, _)): (usize, &(&str, &str, bool))| {
        json!({ "id": (nth + 1).to_string(), "sku": null, "title": format!("{color} / {size}"),
            "options": { "Color": color, "Size": size }, "image": null })
    };
    let offer = |(nth, (_, _, available)): (usize, &(&str, &str, bool))| {
        json!({ "variant_id": (nth + 1).to_string(), "amount_minor": 49_900 + i64::try_from(nth).unwrap(),
            "compare_at_minor": null, "currency": "INR", "available": available })
    };
    let detail = json!({
        "id": "0190b6a2", "product_uid": "sha:00", "title": "Kurta", "brand": "Asha", "brand_slug": "asha", "currency": "INR",
        "rating": 4.5, "rating_count": 2, "media": [],
        "variants": variants.iter().enumerate().map(variant).collect::<Vec<_>>(),
        "offers": variants.iter().enumerate().map(offer).collect::<Vec<_>>(),
        "attributes": { "description": "Cotton.", "tags": [], "category": null, "url": "https://asha.example/products/kurta",
            "options": { "Color": ["Blue", "Red"], "Size": ["S", "M"] } },
    });
    let detail: wire::Detail = serde_json::from_value(detail).unwrap();
    product(&detail, &PriceFilter::default()).unwrap()
}

fn selected(pairs: &[(&str, &str)]) -> Vec<SelectedOption> {
    let one = |(name, label): &(&str, &str)| SelectedOption {
        name: (*name).to_owned(),
        label: (*label).to_owned(),
    };
    pairs.iter().map(one).collect()
}

#[test]
fn options_are_dropped_from_the_end_of_what_is_preferred_until_some_variant_has_the_rest() {
    let product = made(&[("Blue", "S", true), ("Red", "M", true)]);
    let asked = || selected(&[("Color", "Blue"), ("Size", "M")]);
    let prefer = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let left = |names: &[&str]| effective(&product.variants, asked(), &prefer(names));
    assert_eq!(left(&["Color", "Size"]), selected(&[("Color", "Blue")]));
    assert_eq!(left(&["Size", "Color"]), selected(&[("Size", "M")]));
    assert_eq!(left(&[]), selected(&[("Color", "Blue")]));
    assert_eq!(left(&["Size"]), selected(&[("Size", "M")]));
    let whole = selected(&[("Color", "Red"), ("Size", "M")]);
    assert_eq!(effective(&product.variants, whole.clone(), &[]), whole);
}

#[test]
fn each_value_says_whether_it_is_there_beside_the_rest_of_the_selection() {
    let mut product = made(&[("Blue", "S", true), ("Blue", "M", false), ("Red", "S", true)]);
    let variants = product.variants.clone();
    signal(
        &mut product.options,
        &variants,
        &selected(&[("Color", "Blue"), ("Size", "S")]),
    );
    let told = serde_json::to_value(&product.options).unwrap();
    assert_eq!(
        told,
        json!([
            { "name": "Color", "values": [
                { "label": "Blue", "available": true, "exists": true },
                { "label": "Red", "available": true, "exists": true },
            ] },
            { "name": "Size", "values": [
                { "label": "S", "available": true, "exists": true },
                { "label": "M", "available": false, "exists": true },
            ] },
        ])
    );
    signal(
        &mut product.options,
        &variants,
        &selected(&[("Color", "Red"), ("Size", "S")]),
    );
    assert_eq!(
        (
            product.options[1].values[1].exists,
            product.options[1].values[1].available
        ),
        (Some(false), Some(false))
    );
}

proptest! {
    #[test]
    fn what_is_left_of_a_selection_fits_some_variant_and_is_part_of_what_was_asked(
        there in proptest::collection::vec((0_usize..2, 0_usize..2), 1..5),
        asked in proptest::collection::vec((0_usize..2, 0_usize..3), 0..2),
    ) {
        let (colors, sizes) = (["Blue", "Red"], ["S", "M", "L"]);
        let variants: Vec<_> = there.iter().map(|(color, size)| (colors[*color], sizes[*size], true)).collect();
        let product = made(&variants);
        let pairs: Vec<_> = asked.iter().enumerate()
            .map(|(nth, (color, size))| if nth == 0 { ("Color", colors[*color]) } else { ("Size", sizes[*size]) })
            .collect();
        let asked = selected(&pairs);
        let left = effective(&product.variants, asked.clone(), &[]);
        prop_assert!(product.variants.iter().any(|one| one.has(&left)));
        prop_assert!(left.iter().all(|one| asked.contains(one)));
    }
}
