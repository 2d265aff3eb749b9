use super::*;
use proptest::prelude::*;

/// The expected values are the results of pydantic 2.14 for the same texts.
#[test]
fn integers_are_read_as_pydantic_reads_them() {
    for (text, value) in [
        (" 5 ", 5),
        ("+5", 5),
        ("-5", -5),
        ("5.0", 5),
        ("5.00", 5),
        ("05", 5),
        ("1_000", 1000),
        ("\u{a0}5", 5),
        ("00_1", 1),
        ("1_0.0", 10),
        ("-0", 0),
        ("0_1", 1),
        ("1\n", 1),
        ("99999999999999999999", i64::MAX),
        ("-99999999999999999999", -i64::MAX),
    ] {
        assert_eq!(parse_integer(text), Ok(value), "{text:?}");
    }
    for text in [
        "5.", "1__0", "_1", "1_", "1e3", "", "٣", "+ 5", "--5", "+-5", "5.0.0", ".0", "-.0", "\0", "5.5", "-",
    ] {
        assert_eq!(parse_integer(text), Err(Rule::IntParsing), "{text:?}");
    }
    assert_eq!(parse_integer(&"1".repeat(4301)), Err(Rule::IntParsingSize));
}

#[test]
fn booleans_are_read_as_pydantic_reads_them() {
    for text in ["true", "TRUE", "1", "yes", "on", "t", "Y"] {
        assert_eq!(parse_boolean(text), Ok(true), "{text:?}");
    }
    for text in ["false", "0", "No", "off", "f", "n"] {
        assert_eq!(parse_boolean(text), Ok(false), "{text:?}");
    }
    for text in ["", " true", "2", "wahr"] {
        assert_eq!(parse_boolean(text), Err(Rule::BoolParsing), "{text:?}");
    }
}

fn kinds(query: &str, read: impl FnOnce(&mut QueryReader<'_>)) -> Vec<&'static str> {
    let mut reader = QueryReader::new(Some(query));
    read(&mut reader);
    reader.violations.iter().map(Violation::kind).collect()
}

#[test]
fn the_last_of_several_counts_and_escapes_are_undone() {
    let mut reader = QueryReader::new(Some("q=a&q=cold+br%65w&&x&l%69mit=3&p=100%&e="));
    assert_eq!(reader.optional("q").text(20).as_deref(), Some("cold brew"));
    assert_eq!(reader.optional("limit").integer(1..=40), Some(3));
    assert_eq!(reader.optional("x").text(20), None, "nothing is given");
    assert_eq!(reader.required("e").text(20).as_deref(), Some(""));
    assert_eq!(reader.optional("p").text(20).as_deref(), Some("100%"));
    assert_eq!(reader.optional("absent").text(20), None);
    assert!(reader.finish(PathParameters::none(), ()).is_ok());
}

#[test]
fn every_fault_is_collected() {
    let found = kinds(
        "limit=41&in_stock=maybe&sort=up&q=%FF&price_min=x&facets=ab&ids=1",
        |reader| {
            reader.optional("q").text(512);
            reader.optional("price_min").integer(i64::MIN..=i64::MAX);
            reader.optional("in_stock").boolean();
            reader.optional("sort").choice(&["relevance"], |name| name);
            reader.optional("limit").integer(1..=40);
            assert!(!reader.refused("facets"));
            reader.optional("facets").text(1);
            assert!(reader.refused("facets"));
            reader.required("product").parsed(product_ident);
            reader.optional("ids").idents(20);
        },
    );
    assert_eq!(
        found,
        [
            "string_unicode",
            "int_parsing",
            "bool_parsing",
            "enum",
            "less_than_equal",
            "string_too_long",
            "missing",
            "list_type"
        ]
    );
}

#[test]
fn a_wrong_identifier_is_told_by_the_form_it_is_nearest_to() {
    assert!(product_ident("sha:0123456789abcdef0123456789abcdef01234567").is_ok());
    assert!(matches!(product_ident("sha:12"), Err(Rule::StringPatternMismatch(_))));
    assert_eq!(
        product_ident("zz"),
        Err(Rule::UuidParsing(
            "invalid character: found `z` at 0 (or a product_uid, `sha:` and 40 hex digits)".into()
        ))
    );
    assert!(matches!(
        product_ident("3f2504e04f8951d39a0c0305e82c3301"),
        Err(Rule::UuidParsing(_))
    ));
}

proptest! {
    #[test]
    fn no_query_makes_the_reader_panic(query in ".{0,200}", name in prop::sample::select(vec!["q", "limit", ""])) {
        let mut reader = QueryReader::new(Some(&query));
        reader.optional(name).text(10);
        reader.optional(name).integer(0..=9);
        reader.required(name).boolean();
    }

    #[test]
    fn every_integer_reads_back(value in (i64::MIN + 1)..i64::MAX) {
        prop_assert_eq!(parse_integer(&value.to_string()), Ok(value));
    }
}

#[test]
fn what_is_given_several_times_is_read_in_order_and_its_faults_are_placed() {
    let read = |query: &'static str| {
        let mut reader = QueryReader::new(Some(query));
        let values = reader.each(&["a", "b"], 3, |name, field| Some(format!("{name}{}", field.text(3)?)));
        reader.finish(PathParameters::none(), values)
    };
    assert_eq!(read("b=1&x=0&a=2&%62=3%20").unwrap(), ["b1", "a2", "b3 "]);
    assert_eq!(read("").unwrap(), [""; 0]);
    let faults = |query: &'static str| {
        kinds(query, |reader| {
            reader.each(&["a", "b"], 3, |_, field| field.text(3));
            assert!(reader.refused("a") != reader.refused("b"));
        })
    };
    assert_eq!(faults("b=2&a=1&a=long+one"), ["string_too_long"]);
    assert_eq!(faults("a=1&b=2&a=3&b=4"), ["too_long"]);
}
