use proptest::prelude::*;

use super::*;

fn read(label: &str) -> String {
    said(label, SizeSystem::Number)
}

fn said(label: &str, says: SizeSystem) -> String {
    Size::read(label, says).map_or_else(|| "-".to_owned(), |size| size.to_string())
}

#[test]
fn letters_are_read_in_every_spelling() {
    let spelled = [
        ("xxs", &["XXS", "2xs", "xx-small", "Extra Extra Small", "2X Small"][..]),
        ("xs", &["XS", "x-small", "X Small", "XSmall", "Extra Small"]),
        ("s", &["S", "Small", "sm", "Size: S", "S size", "klein", "छोटा"]),
        ("m", &["M", " Medium ", "MED", "Size M", "मध्यम"]),
        ("l", &["L", "Large", "LG", "grande", "Größe L"]),
        ("xl", &["XL", "1XL", "X-Large", "Extra Large", "extra-large", "xlarge"]),
        (
            "xxl",
            &["XXL", "2XL", "XX-Large", "2X-Large", "double xl", "Extra Extra Large"],
        ),
        ("3xl", &["XXXL", "3xl", "triple XL", "3X Large"]),
        ("10xl", &["10XL"]),
        ("3xs", &["XXXS", "3XS"]),
    ];
    for (size, labels) in spelled {
        for label in labels {
            assert_eq!(read(label), size, "{label}");
        }
    }
}

#[test]
fn numbers_belong_to_the_system_that_the_label_or_the_option_names() {
    let read_as = [
        ("UK 8", "uk-8"),
        ("uk-8.5", "uk-8.5"),
        ("8 UK", "uk-8"),
        ("8½ uk", "uk-8.5"),
        ("8 (UK)", "uk-8"),
        ("UK 8 / EU 42", "uk-8"),
        ("EUR 42", "eu-42"),
        ("US9", "us-9"),
        ("IND 7", "in-7"),
        ("IN-7", "in-7"),
        ("38", "38"),
        ("08", "8"),
        ("38.0", "38"),
        ("M (38)", "m"),
        ("38 / M", "m"),
        ("M - 38", "m"),
        ("Waist 32", "waist-32"),
        ("W32", "waist-32"),
        ("32W x 34L", "waist-32"),
        ("W32/L34", "waist-32"),
        ("34B", "34b"),
        ("34 dd", "34dd"),
        ("2-3Y", "2-3y"),
        ("2 - 3 Years", "2-3y"),
        ("12-24 months", "1-2y"),
        ("6-12M", "6-12m"),
        ("6m-1y", "6-12m"),
        ("4 yrs", "4y"),
        ("18 months", "18mo"),
        ("24 months", "2y"),
        ("Free Size", "one-size"),
        ("OS", "one-size"),
        ("One Size Fits All", "one-size"),
    ];
    for (label, size) in read_as {
        assert_eq!(read(label), size, "{label}");
    }
    assert_eq!(said("8", SizeSystem::Uk), "uk-8");
    assert_eq!(said("M", SizeSystem::Uk), "m");
    assert_eq!(said("EU 42", SizeSystem::Uk), "eu-42");
    assert_eq!(said("32", SizeSystem::Waist), "waist-32");
    assert_eq!(said("32\"", SizeSystem::Waist), "waist-32");
    assert_eq!(said("32 inches", SizeSystem::Waist), "waist-32");
}

#[test]
fn what_would_be_a_guess_is_no_size() {
    let unknown = [
        "",
        " ",
        "-",
        "S/M",
        "M-L",
        "28-30",
        "100 ml",
        "12\"",
        "32 inches",
        "3m",
        "500g",
        "30g",
        "King",
        "Red",
        "A4",
        "7 in",
        "US 9 Men",
        "regular",
        "custom",
        "xl+",
        "size",
        "0.25",
        "999",
        "m m",
        "W12",
        "34z",
        "27b",
        "xxx",
        "18x24",
    ];
    for label in unknown {
        assert_eq!(read(label), "-", "{label:?}");
    }
    assert_eq!(read(&"x".repeat(1_000)), "-");
}

#[test]
fn smaller_sizes_come_first() {
    let sorted = [
        &["XXS", "XS", "S", "M", "L", "XL", "XXL", "3XL", "10XL"][..],
        &["UK 3", "UK 3.5", "UK 10"],
        &["32D", "34A", "34B", "34DD", "36A"],
        &["0-3 m", "3-6 m", "1-2 y", "2-3y"],
    ];
    for labels in sorted {
        let ordinals: Vec<f64> = labels
            .iter()
            .map(|label| Size::read(label, SizeSystem::Number).unwrap().ordinal())
            .collect();
        assert!(
            ordinals.windows(2).all(|pair| pair[0] < pair[1]),
            "{labels:?} {ordinals:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_label_is_read_without_a_panic(label in ".{0,80}", pieces in "[ 0-9xslmwukeyo½\"()/.,-]{0,20}") {
        for system in SizeSystem::ALL {
            let _ = Size::read(&label, system);
            let _ = Size::read(&pieces, system);
        }
    }

    #[test]
    fn the_one_spelling_reads_as_itself(label in "[ 0-9xslmwukey½\"()/.,-]{1,12}") {
        for system in [SizeSystem::Number, SizeSystem::Uk, SizeSystem::Waist] {
            if let Some(size) = Size::read(&label, system) {
                let text = size.to_string();
                prop_assert_eq!(text.parse::<Size>(), Ok(size), "{} of {}", text, label);
                prop_assert_eq!(Size::read(&text, system), Some(size));
                prop_assert!(size.ordinal().is_finite());
            }
        }
    }

    #[test]
    fn case_and_white_space_change_nothing(label in "(XX?S|S|M|L|X{1,3}L|[2-9]XL|UK [1-9]|[1-9][0-9]|W3[0-9]|3[2468][A-D])") {
        let plain = Size::read(&label, SizeSystem::Number);
        prop_assert!(plain.is_some(), "{}", label);
        prop_assert_eq!(Size::read(&format!("  {} ", label.to_lowercase()), SizeSystem::Number), plain);
        prop_assert_eq!(Size::read(&format!("Size: {label}"), SizeSystem::Number), plain);
    }
}
