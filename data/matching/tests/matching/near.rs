//! Tests pairs of similar products, one rule at a time.

use data_matching::{Item, ItemVariant, Veto, judge};
use data_model::Gtin;

/// Builds a product of the maker Dhaga with one option and one variant for each value.
pub(crate) fn goods(title: &'static str, option: (&'static str, &[&'static str])) -> Item<'static> {
    let (name, values) = option;
    let variants = (1..).zip(values).map(|(id, value)| ItemVariant {
        id,
        options: vec![value],
        price_minor: 199_900,
        ..ItemVariant::default()
    });
    Item {
        brand: "Dhaga",
        vendor: Some("Dhaga"),
        title,
        attributes: vec![(name, values.to_vec())],
        currency: "INR",
        variants: variants.collect(),
        ..Item::default()
    }
}

fn titled(title: &'static str) -> Item<'static> {
    goods(title, ("Title", &["Default Title"]))
}

fn are_same(one: &Item<'_>, other: &Item<'_>) -> bool {
    let (there, back) = (judge(one, other, None), judge(other, one, None));
    assert_eq!(there.is_ok(), back.is_ok(), "{} | {}", one.title, other.title);
    there.is_ok()
}

fn assert_other(pairs: &[(&'static str, &'static str)]) {
    for (one, other) in pairs {
        assert!(!are_same(&titled(one), &titled(other)), "{one} | {other}");
    }
}

fn assert_same(pairs: &[(&'static str, &'static str)]) {
    for (one, other) in pairs {
        let judged = judge(&titled(one), &titled(other), None);
        assert!(judged.is_ok(), "{one} | {other}: {judged:?}");
    }
}

#[test]
fn a_number_is_not_excused_by_a_size() {
    let sizes = ("Size", ["6", "7", "8", "9"].as_slice());
    let (one, other) = (
        goods("Dhaga Runner 7 Shoes", sizes),
        goods("Dhaga Runner 8 Shoes", sizes),
    );
    assert_eq!(judge(&one, &other, None), Err(Veto::Words));
    let with_sku = |mut item: Item<'static>| {
        item.variants
            .iter_mut()
            .for_each(|variant| variant.sku = Some("DHG-RUN-01"));
        item
    };
    // The titles still differ when the stock keeping units are equal.
    assert_eq!(judge(&with_sku(one), &with_sku(other), None), Err(Veto::Words));
    let same = judge(
        &goods("Dhaga Runner 7 Shoes", ("Size", &["8", "7"])),
        &goods("Runner 7 Shoes", ("Size", &["6", "7", "8"])),
        None,
    );
    assert_eq!(same.unwrap().variants, Some((1, 3)));
}

#[test]
fn of_two_values_of_one_option_none_is_both() {
    let colours = ("Color", ["Red", "Blue"].as_slice());
    assert!(!are_same(
        &goods("Red Cotton Kurta", colours),
        &goods("Blue Cotton Kurta", colours)
    ));
    let pair = judge(
        &goods("Cotton Kurta", colours),
        &goods("Blue Cotton Kurta", ("Size", &["M", "L"])),
        None,
    );
    assert!(pair.is_ok(), "{pair:?}");
    // A title with two colours does not turn the variant in one colour into the variant in the other.
    let same = judge(
        &goods("Black White Sneakers", ("Color", &["Black", "White"])),
        &goods("Black White Sneakers", ("Color", &["White", "Black"])),
        None,
    );
    assert_eq!(same.unwrap().variants, Some((1, 2)));
}

#[test]
fn plus_is_another_product_however_it_is_written() {
    assert_other(&[
        ("Nova T20 Earbuds", "Nova T20 Plus Earbuds"),
        ("Nova T20 Earbuds", "Nova T20+ Earbuds"),
        ("Plus Size Cotton Kurta", "Cotton Kurta"),
        ("Sunscreen Gel SPF 50 PA+++", "Sunscreen Gel SPF 50 PA++++"),
    ]);
    assert_same(&[
        ("Nova T20 Plus Earbuds", "Nova T20+ Earbuds"),
        ("Shampoo + Conditioner Duo", "Shampoo & Conditioner Duo"),
        ("Vitamin C+E Face Serum", "Vitamin C + E Face Serum"),
    ]);
}

#[test]
fn words_of_versions_have_no_excuse() {
    for version in [
        "Pro",
        "Max",
        "Mini",
        "Lite",
        "Ultra",
        "Air",
        "Neo",
        "SE",
        "Gen 2",
        "2.0",
        "II",
        "Refill",
        "Tester",
        "Sample",
        "Combo",
        "Pack",
        "Kit",
        "Travel",
        "Kids",
        "Original",
        "Premium",
        "Decaf",
        "Sugar Free",
        "5G",
        "128 GB",
        "Pouch 500 ml",
        "US",
    ] {
        let titled = |title: String| Item {
            title: title.leak(),
            ..titled("")
        };
        let (plain, other) = (
            titled("Nova Orbit Ring".to_owned()),
            titled(format!("Nova Orbit Ring {version}")),
        );
        assert!(!are_same(&plain, &other), "{version}");
        assert!(are_same(&other, &other.clone()), "{version}");
    }
}

#[test]
fn short_words_are_compared_as_they_are_written() {
    assert_other(&[
        ("Court II Sneakers", "Court III Sneakers"),
        ("Power AA Battery Cells", "Power AAA Battery Cells"),
        ("Cotton Polo Shirt XL", "Cotton Polo Shirt XXL"),
        ("Lace Bra 34 D", "Lace Bra 34 DD"),
        ("USB-C to USB-C Cable", "USB-C to USB-A Cable"),
        ("USB-C to USB-C Cable", "USB-C to USB Cable"),
        ("Studio On-Ear Headphones", "Studio In-Ear Headphones"),
        ("Studio On Ear Headphones", "Studio In Ear Headphones"),
        ("Nova N20 Earbuds", "Nova 20 Earbuds Case"),
        ("Robot X2 Arm T3", "Robot X3 Arm T2"),
        ("Brush 12 Angle 4", "Brush 4 Angle 12"),
        ("Omega 3 6 Oil", "Omega 36 Oil"),
        ("Dome Tent 2 Person", "Dome Tent 2 Person 2.0"),
        ("Studio HDMI to VGA Adapter", "Studio VGA to HDMI Adapter"),
        ("Watch 1.43 inch Round", "Watch 1.45 inch Round"),
    ]);
    let sizes = judge(
        &goods("Cotton Polo Shirt", ("Size", &["XXL", "XL"])),
        &goods("Cotton Polo Shirt", ("Size", &["XL", "XXL"])),
        None,
    );
    assert_eq!(sizes.unwrap().variants, Some((1, 2)));
}

#[test]
fn amounts_are_one_in_all_units() {
    assert_same(&[
        ("Oriel Phone 128 GB Black", "Oriel Phone Black 128GB"),
        ("Mustard Oil 1 L", "Mustard Oil 1000 ml"),
        ("Foldable Hair Dryer 1.2 kW", "Foldable Hair Dryer 1200W"),
        ("Energy Bar 40 g x 6", "Energy Bar 6 x 40 g"),
        ("Energy Bar 40 g x 6", "Energy Bar 40 g (Pack of 6)"),
    ]);
    assert_other(&[
        ("Oriel Phone 128 GB Black", "Oriel Phone Black 256GB"),
        ("Oriel Phone Black", "Oriel Phone Black 5G"),
        ("Energy Bar 40 g", "Energy Bar 40 g x 6"),
        ("Mug Set of 2", "Mug Set of 2 (Pack of 3)"),
    ]);
    let storage = |value| goods("Oriel Phone Black", ("Storage", value));
    assert!(!are_same(&storage(&["128 GB"]), &storage(&["256 GB"])));
    assert!(are_same(&storage(&["128 GB", "64 GB"]), &storage(&["128GB"])));
    let packs = |value| goods("Merino Wool Socks", ("Quantity", value));
    assert!(!are_same(&packs(&["Pack of 1"]), &packs(&["Pack of 3"])));
    let same = judge(&packs(&["Pack of 1", "Pack of 3"]), &packs(&["Pack of 3"]), None);
    assert_eq!(same.unwrap().variants, Some((2, 1)));
}

#[test]
fn a_colour_counts_as_a_whole() {
    let jacket = |colour| goods("Denim Jacket", ("Color", colour));
    assert!(!are_same(&jacket(&["Light Blue"]), &jacket(&["Dark Blue"])));
    assert!(are_same(
        &jacket(&["Light Blue"]),
        &jacket(&["Light Blue", "Dark Blue"])
    ));
    let bracelet = goods("Evil Eye Bracelet", ("Color", &["Rose Gold"]));
    assert!(!are_same(&bracelet, &titled("Gold Evil Eye Bracelet")));
    assert!(are_same(&bracelet, &titled("Rose Gold Evil Eye Bracelet")));
}

#[test]
fn a_type_of_many_goods_excuses_little() {
    let of = |title, kind| Item {
        product_type: Some(kind),
        ..titled(title)
    };
    let shampoo = "Shampoo & Conditioner";
    assert!(!are_same(
        &of("Argan Repair Shampoo 300 ml", shampoo),
        &of("Argan Repair Conditioner 300 ml", shampoo)
    ));
    assert!(!are_same(
        &of("Cotton Print Kurta", "Kurta Set"),
        &of("Cotton Print Kurta Set", "Kurta Set")
    ));
    assert!(!are_same(
        &of("Cotton Polo", "Men's T-Shirts"),
        &of("Cotton Polo", "Women's T-Shirts")
    ));
    assert!(are_same(
        &of("Micellar Water 400 ml", "Cleanser"),
        &titled("Micellar Water Cleanser 400 ml")
    ));
}

#[test]
fn a_word_of_a_makers_name_is_no_name_by_itself() {
    let by = |vendor, title| Item {
        brand: vendor,
        vendor: Some(vendor),
        ..titled(title)
    };
    assert!(!are_same(
        &by("Chikoo Kids", "Velcro Sandals Navy"),
        &by("Chikoo Kids", "Kids Velcro Sandals Navy")
    ));
    assert!(are_same(
        &by("Chikoo Kids", "Velcro Sandals Navy"),
        &by("Chikoo Kids", "Chikoo Kids Velcro Sandals Navy")
    ));
    assert!(!are_same(
        &by("Women", "Cotton Kurta Teal"),
        &Item {
            brand: "Rangoli",
            ..by("Women", "Cotton Kurta Teal")
        }
    ));
}

#[test]
fn what_goods_are_packed_in_is_no_other_product_but_may_be_one() {
    assert_same(&[
        ("Gir Cow Ghee 500 ml", "Gir Cow Ghee Glass Jar 500 ml"),
        ("Jaggery Powder 500 g", "Jaggery Powder Pouch 500 g"),
    ]);
    assert_other(&[
        ("Neem Handwash 500 ml", "Neem Handwash Pouch 500 ml"),
        ("Travel Sipper Jug 500 ml", "Travel Sipper Glass Jug 500 ml"),
        ("Gir Cow Ghee Jar 500 ml", "Gir Cow Ghee Tin 500 ml"),
    ]);
}

#[test]
fn variants_with_other_barcodes_are_not_the_same() {
    let with = |barcodes: [&str; 2]| {
        let mut item = goods("Runner Mesh Shoes", ("Size", &["7", "8"]));
        for (variant, barcode) in item.variants.iter_mut().zip(barcodes) {
            variant.barcode = Gtin::read(barcode);
        }
        item
    };
    let (one, other) = (
        with(["4006381333931", "8901030865275"]),
        with(["036000291452", "5901234123457"]),
    );
    assert_eq!(judge(&one, &other, None), Err(Veto::Barcode));
}

fn priced(title: &'static str, price_minor: i64) -> Item<'static> {
    let mut item = titled(title);
    item.variants
        .iter_mut()
        .for_each(|variant| variant.price_minor = price_minor);
    item
}

#[test]
fn an_amount_that_one_alone_says_needs_a_price_that_agrees() {
    let cream = "Peptide Night Cream";
    let (one, other) = (priced(cream, 99_900), priced("Peptide Night Cream 50 g", 104_900));
    assert!(are_same(&one, &other));
    for price in [84_900, 119_900, 0] {
        assert!(!are_same(&one, &priced("Peptide Night Cream 50 g", price)), "{price}");
    }
    let abroad = Item {
        currency: "USD",
        ..other.clone()
    };
    assert!(!are_same(&one, &abroad));
    // Two equal titles with enough words need no price.
    assert!(are_same(&priced(cream, 0), &priced(cream, 0)));
    assert!(!are_same(&priced("Night Cream", 0), &priced("Night Cream", 0)));
    assert!(!are_same(&priced(cream, 99_900), &priced(cream, 219_900)));
    // Different powers, and grams against millilitres, are different products even at one price.
    assert_other(&[
        ("Studio Desk Lamp White", "Studio Desk Lamp White 10W"),
        ("Studio Monitor Black", "Studio Monitor Black 75Hz"),
        ("Gir Cow Ghee 500 ml", "Gir Cow Ghee 500 g"),
    ]);
}

#[test]
fn a_first_word_of_a_title_names_a_maker_where_more_is_said() {
    let of = |brand, title| Item {
        brand,
        vendor: Some(brand),
        ..titled(title)
    };
    assert!(!are_same(
        &of("Pure", "Honey 500 g"),
        &of("Forest Stall", "Pure Honey 500 g")
    ));
    assert!(are_same(
        &of("Verra", "Snail Repair Essence 100 ml"),
        &of("Glowmart", "Verra Snail Repair Essence 100 ml")
    ));
}

#[test]
fn a_stock_keeping_unit_of_a_style_is_no_colour() {
    let of = |title| {
        let mut item = titled(title);
        item.variants
            .iter_mut()
            .for_each(|variant| variant.sku = Some("DHG-LS-01"));
        item
    };
    let white = of("Full Sleeve Linen Shirt White");
    assert!(!are_same(&white, &of("Full Sleeve Linen Shirt Blue")));
    assert!(!are_same(&white, &of("Full Sleeve Linen Shirt White Set")));
    assert!(are_same(&white, &of("Full Sleeve Linen Shirt White Summer Edit")));
}

#[test]
fn a_barcode_that_was_copied_with_a_listing_says_nothing() {
    let of = |title| {
        let mut item = titled(title);
        item.variants
            .iter_mut()
            .for_each(|variant| variant.barcode = Gtin::read("4006381333931"));
        item
    };
    assert!(!are_same(&of("Nova T20 Earbuds"), &of("Nova T25 Earbuds")));
    assert!(!are_same(&of("Men's Linen Shirt"), &of("Women's Linen Shirt")));
    assert!(are_same(&of("Nova T20 Earbuds"), &of("Nova Wireless Earbuds")));
}

#[test]
fn a_letter_of_a_model_is_no_size() {
    let sizes = ("Size", ["S", "M", "L"].as_slice());
    assert!(!are_same(
        &goods("Kutch Sling 6S Camera Bag", sizes),
        &goods("Kutch Sling 6 Camera Bag", sizes)
    ));
    assert!(are_same(
        &goods("Kutch Sling 6S Camera Bag", sizes),
        &goods("Kutch Sling 6 S Camera Bag", sizes)
    ));
}

#[test]
fn what_goods_are_for_may_be_what_they_are() {
    assert_other(&[
        ("Rice Water Serum", "Rice Water Serum for Hair"),
        ("Studio Fast Charger", "Studio Fast Charger for MacBook"),
        ("Barrier Repair Lotion", "Barrier Repair Lotion for Oily Skin"),
    ]);
    assert_same(&[("Barrier Repair Lotion", "Barrier Repair Lotion for All Skin Types")]);
}

#[test]
fn sizes_and_styles_of_which_none_is_offered_by_both_are_other_goods() {
    let board = |sizes| goods("Bamboo Chopping Board", ("Size", sizes));
    assert!(!are_same(&board(&["Large"]), &board(&["Small"])));
    assert!(are_same(&board(&["Large"]), &board(&["L", "Small"])));
    assert!(are_same(&board(&["Large"]), &titled("Bamboo Chopping Board")));
    let fan = |sweeps| goods("White Ceiling Fan", ("Sweep", sweeps));
    assert!(!are_same(&fan(&["1200 mm"]), &fan(&["1400 mm"])));
    assert!(are_same(&fan(&["1200 mm"]), &fan(&["120 cm", "140 cm"])));
    let jeans = |fits| goods("Washed Blue Jeans", ("Fit", fits));
    assert!(!are_same(&jeans(&["Slim"]), &jeans(&["Relaxed"])));
    let frock = |ages| goods("Cotton Print Frock", ("Size", ages));
    assert!(!are_same(&frock(&["2-3 Years"]), &frock(&["5-6 Years"])));
}

#[test]
fn goods_of_one_name_are_other_goods_where_their_types_say_so() {
    let of = |title, kind| Item {
        product_type: Some(kind),
        ..titled(title)
    };
    assert!(!are_same(&of("Velvet Rose", "Lipstick"), &of("Velvet Rose", "Candles")));
    assert!(are_same(
        &of("Velvet Rose", "Lipstick"),
        &of("Velvet Rose", "Lipsticks")
    ));
    assert!(are_same(
        &of("Velvet Rose Lipstick", "Lipstick"),
        &of("Velvet Rose Lipstick", "Cosmetics")
    ));
}
