use super::*;

/// Bounds of the price, in whole units.
fn bounds(text: &str) -> [Option<u64>; 2] {
    let parts = read(text, &NoBrands).parts.into_iter();
    let mut prices = parts.filter_map(|part| match part.meaning {
        Meaning::Price(price) => Some([price.min, price.max].map(|end| end.map(|thousandths| thousandths / 1_000))),
        _ => None,
    });
    prices.next().unwrap_or_default()
}

#[test]
fn what_one_can_spend_is_the_most_and_may_be_spelled_out() {
    for (text, expected) in [
        ("headphones but i can't spend more than eighty", [None, Some(80)]),
        (
            "i do not want to spend more than forty five on a sweatshirt",
            [None, Some(45)],
        ),
        ("tv that does not cost more than five hundred euros", [None, Some(500)]),
        ("earbuds between forty and eighty", [Some(40), Some(80)]),
        ("mug under twenty", [None, Some(20)]),
        ("chair 2000 se zyada nahi", [None, Some(2_000)]),
        ("zyada se zyada 500 ka mug", [None, Some(500)]),
        ("kam se kam 500 ka tv", [Some(500), None]),
        ("topi das saath", [None, None]),
    ] {
        assert_eq!(bounds(text), expected, "{text}");
    }
}

#[test]
fn for_whom_a_thing_is_is_told_where_it_is_for_somebody() {
    for (text, expected) in [
        ("gift for my dad who loves coffee", Some("men")),
        ("sneakers for her", Some("women")),
        ("face mask for a 5 year old", Some("kids")),
        ("shoes for women", Some("women")),
        ("shoes not for women", None),
        ("shoes women", None),
        ("leather wallet", None),
    ] {
        let audience = read(text, &NoBrands).audience.map(Audience::as_str);
        assert_eq!(audience, expected, "{text}");
    }
}

#[test]
fn what_a_product_does_not_do_is_no_refusal() {
    for (text, left, is_refused) in [
        ("a bottle that will not leak", "a bottle that will leak", false),
        ("pan that does not stick", "pan that does stick", false),
        ("pan that does not contain nickel", "pan that", true),
        ("bottle not leather", "bottle", true),
        ("sleeping bag to minus 5", "sleeping bag to minus 5", false),
        ("sleeping bag to minus five", "sleeping bag to minus five", false),
    ] {
        let understood = read(text, &NoBrands);
        let refuses = |part: &Part| {
            matches!(
                part.meaning,
                Meaning::Excluded(_) | Meaning::ExcludedBrand(_) | Meaning::Lacking(_)
            )
        };
        assert_eq!(understood.parts.iter().any(refuses), is_refused, "{text}");
        assert_eq!(understood.text, left, "{text}");
    }
}
