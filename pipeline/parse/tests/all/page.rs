//! Parses malformed pages of the kinds that stores actually send.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use std::borrow::Cow;

use pipeline_parse::{BadRecord, ParseError, RawProduct, parse_products_page, record_excerpts};

fn page(records: &str) -> String {
    format!(r#"{{"products":[{records}]}}"#)
}

/// Returns `times` copies of the item, separated as in a list.
fn many(item: &str, times: usize) -> String {
    vec![item; times].join(",")
}

fn one(record: &str) -> Result<RawProduct<'static>, BadRecord> {
    let page = page(record);
    let page: &'static str = Box::leak(page.into_boxed_str());
    let mut records = parse_products_page(page.as_bytes()).unwrap().records;
    assert_eq!(records.len(), 1);
    records.remove(0)
}

fn reason(record: &str) -> String {
    one(record).unwrap_err().reason
}

fn price(stated: &str) -> Option<String> {
    let record = format!(r#"{{"id":1,"variants":[{{"id":2,"price":{stated}}}]}}"#);
    one(&record).unwrap().variants[0].price.as_deref().map(str::to_owned)
}

#[test]
fn a_price_keeps_every_digit_it_was_stated_with() {
    assert_eq!(price(r#""499.00""#).as_deref(), Some("499.00"));
    assert_eq!(price("499").as_deref(), Some("499"));
    assert_eq!(price("499.10").as_deref(), Some("499.10"));
    assert_eq!(
        price("0.1000000000000000055511151231257827").as_deref(),
        Some("0.1000000000000000055511151231257827")
    );
    assert_eq!(price("9007199254740993.01").as_deref(), Some("9007199254740993.01"));
    assert_eq!(
        price("99999999999999999999999").as_deref(),
        Some("99999999999999999999999")
    );
    assert_eq!(price("1e400").as_deref(), Some("1e400"));
    assert_eq!(price("-1").as_deref(), Some("-1"));
    assert_eq!(price("null"), None);
}

#[test]
fn a_variants_barcode_is_the_first_that_is_filled_in_of_the_one_and_of_the_list() {
    for (stated, expected) in [
        (r#""barcode":"8901","barcodes":["8902"]"#, Some("8901")),
        (r#""barcodes":["8902","8903"],"barcode":null"#, Some("8902")),
        (r#""barcode":"","barcodes":[null," ",{"value":1},8903]"#, Some("8903")),
        (r#""barcode":" ","barcodes":[]"#, None),
        (r#""barcodes":"8904""#, None),
    ] {
        let record = format!(r#"{{"id":1,"variants":[{{"id":2,"price":"1",{stated}}}]}}"#);
        assert_eq!(
            one(&record).unwrap().variants[0].barcode.as_deref(),
            expected,
            "{stated}"
        );
    }
}

#[test]
fn a_variant_that_cannot_be_read_costs_itself_and_is_told() {
    let bad = |variant: &str| {
        let record = format!(r#"{{"id":1,"variants":[{{"id":2,"price":"1.00"}},{variant},{{"id":4}}]}}"#);
        let product = one(&record).unwrap();
        let ids: Vec<_> = product.variants.iter().map(|variant| variant.id).collect();
        assert_eq!((ids, product.variants_stated), (vec![2, 4], 3));
        let [bad] = &product.bad_variants[..] else {
            panic!("{product:?}")
        };
        assert_eq!(bad.position, 2);
        (bad.id, bad.reason.clone())
    };
    assert_eq!(
        bad(r#"{"id":3,"price":{"amount":"1"}}"#),
        (Some(3), "price: expected text, found object".into())
    );
    assert_eq!(bad("null"), (None, "expected object, found null".into()));
    assert_eq!(bad(r#"{"price":"1"}"#), (None, "id: missing".into()));
    assert_eq!(bad(r#"{"id":3,"sku":x"y"}"#).0, Some(3));
    let many = one(&format!(r#"{{"id":1,"variants":[{}{{"id":2}}]}}"#, "5,".repeat(2000))).unwrap();
    assert_eq!(
        (many.variants.len(), many.variants_stated, many.bad_variants.len()),
        (1, 2001, 8),
        "a hostile list is told by its first few"
    );
}

#[test]
fn what_a_variant_can_do_without_costs_itself_alone() {
    let variant = |member: &str| {
        let record = format!(r#"{{"id":1,"variants":[{{"id":2,"price":"1.00",{member}}}]}}"#);
        one(&record).unwrap().variants.remove(0)
    };
    for (stated, read) in [
        ("true", Some(true)),
        ("1", Some(true)),
        (r#""true""#, Some(true)),
        (r#""1""#, Some(true)),
        ("0", Some(false)),
        (r#""false""#, Some(false)),
        ("null", None),
        (r#""yes""#, None),
        ("{}", None),
        ("2", None),
    ] {
        assert_eq!(variant(&format!(r#""available":{stated}"#)).available, read, "{stated}");
    }
    for odd in ["false", "{}", "[]"] {
        assert_eq!(variant(&format!(r#""compare_at_price":{odd}"#)).compare_at_price, None);
        assert_eq!(variant(&format!(r#""option1":{odd}"#)).options, [None, None, None]);
    }
    let product = one(r#"{"id":1,"title":501,"handle":7}"#).unwrap();
    assert_eq!(
        (product.title.as_deref(), product.handle.as_deref()),
        (Some("501"), Some("7"))
    );
}

#[test]
fn a_wrong_type_where_a_product_needs_one_costs_its_record_and_says_what_and_where() {
    assert_eq!(
        reason(r#"{"id":1,"variants":{}}"#),
        "variants: expected list, found object"
    );
    assert_eq!(reason(r#"{"id":1,"title":[]}"#), "title: expected text, found list");
    assert_eq!(reason(r#"{"title":"x"}"#), "id: missing");
    assert_eq!(reason(r#"{"id":-5}"#), r#"id: no id: "-5""#);
    assert_eq!(reason(r#"{"id":"gid"}"#), r#"id: no id: "gid""#);
    assert!(one(r#"{"id":9223372036854775807,"title":"A","variants":[{"id":2}]}"#).is_ok());
    assert_eq!(
        reason(r#"{"id":9223372036854775808}"#),
        r#"id: no id: "9223372036854775808""#
    );
    assert_eq!(reason("17"), "expected object, found number");
}

#[test]
fn a_wrong_type_of_what_a_product_can_do_without_costs_itself_alone() {
    let odd = one(
        r#"{"id":1,"title":"Tea","handle":[],"body_html":5,"vendor":{"a":"}"},"product_type":5,"created_at":7,
            "published_at":false,"updated_at":["x"],"tags":["a",{"a":1},null,7],
            "options":[{"name":"Size","position":[],"values":["S",[],"M"]}],
            "images":[{"src":"/a.jpg","width":"wide","alt":5,"variant_ids":[1,"x",{},2]},5,[["x"]],{"src":{}},"/b.jpg"],
            "variants":[{"id":2,"price":"1.00","title":[],"sku":{},"grams":"x","position":{},"featured_image":5}]}"#,
    )
    .unwrap();
    let mut expected = RawProduct {
        id: 1,
        title: Some("Tea".into()),
        ..RawProduct::default()
    };
    expected.tags = vec!["a".into(), "7".into()];
    expected.options = odd.options.clone();
    expected.images = odd.images.clone();
    (expected.variants, expected.variants_stated) = (odd.variants.clone(), 1);
    assert_eq!(odd, expected);
    assert_eq!(
        (odd.options[0].name.as_deref(), &odd.options[0].values[..]),
        (Some("Size"), &["S".into(), "M".into()][..])
    );
    let images: Vec<_> = odd.images.iter().map(|image| image.src.as_deref()).collect();
    assert_eq!(images, [Some("/a.jpg"), Some("/b.jpg")]);
    assert_eq!(
        (odd.images[0].width, &odd.images[0].variant_ids[..]),
        (None, &[1, 2][..])
    );
    assert_eq!(odd.variants[0].price.as_deref(), Some("1.00"));
    for whole in [
        r#""tags":{}"#,
        r#""images":{}"#,
        r#""options":5"#,
        r#""options":["Size",5]"#,
    ] {
        let product = one(&format!(r#"{{"id":1,{whole}}}"#)).unwrap();
        assert!(product.tags.is_empty() && product.images.is_empty() && product.options.is_empty());
    }
    // Invalid JSON makes the record bad, and a missing value does not.
    assert_eq!(
        reason(r#"{"id":1,"vendor":x"y","title":"z"}"#),
        "invalid JSON: unterminated object"
    );
}

#[test]
fn a_bad_record_is_known_by_its_id_or_else_its_place_and_kept_as_answered() {
    let body = page(r#"{"id":1}, {"id":2,"title":[]}, {"id":[],"title":"y"}"#);
    let bad: Vec<_> = parse_products_page(body.as_bytes())
        .unwrap()
        .records
        .into_iter()
        .filter_map(Result::err)
        .collect();
    assert_eq!(
        bad.iter().map(BadRecord::subject).collect::<Vec<_>>(),
        ["2", "product 3"]
    );
    assert_eq!(bad[1].excerpt, r#"{"id":[],"title":"y"}"#);
    let long = format!(r#"{{"id":[],"title":"{}"}}"#, "é".repeat(5000));
    assert!((4000..=4096).contains(&one(&long).unwrap_err().excerpt.len()));
    assert_eq!(record_excerpts(&body, &[1, 9, 0]), [r#"{"id":1}"#, "", ""]);
}

#[test]
fn what_stores_and_their_dumps_vary_is_accepted() {
    let product = one(
        r#"{"id":"42","title":null,"tags":"b, a ,,c","vendor":null,"images":null,"unknown":[[{"deep":[1e999]}]],
            "options":["Size",{"name":"Colour","values":["Red",7,null]}],
            "variants":[{"id":"43","sku":7,"option1":null,"option2":12.50,"price":"1","compare_at_price":"","grams":"250.0",
                         "available":null,"featured_image":null,"position":-1}]}"#,
    )
    .unwrap();
    assert_eq!(product.id, 42);
    assert_eq!(product.tags, ["b", "a", "c"]);
    assert_eq!(product.options[0].name.as_deref(), Some("Size"));
    assert_eq!(product.options[1].values, ["Red", "7"]);
    let variant = &product.variants[0];
    assert_eq!(
        (variant.id, variant.sku.as_deref(), variant.grams),
        (43, Some("7"), Some(250))
    );
    assert_eq!(variant.options, [None, Some(Cow::Borrowed("12.50")), None]);
    assert_eq!(
        (variant.compare_at_price.as_deref(), variant.available, variant.position),
        (Some(""), None, None)
    );
}

#[test]
fn the_last_of_two_equal_names_counts_for_both_readers() {
    assert_eq!(
        one(r#"{"id":1,"title":"a","id":2,"title":"b"}"#)
            .unwrap()
            .title
            .as_deref(),
        Some("b")
    );
    let tolerant = one(r#"{"id":1,"title":"a","id":"2","title":"b"}"#).unwrap();
    assert_eq!((tolerant.id, tolerant.title.as_deref()), (2, Some("b")));
}

#[test]
fn one_product_and_bare_lists_are_pages_too() {
    let count = |body: &str| parse_products_page(body.as_bytes()).map(|page| page.records.len());
    assert_eq!(
        count(r#"{"product":{"id":1,"tags":"a, b","image":{},"variants":[{"id":2,"price":"1.00"}]}}"#),
        Ok(1)
    );
    assert_eq!(count(r#"[{"id":1},{"id":2},]"#), Ok(2));
    // A bare list that is empty or contains other values does not mark the end of the catalogue.
    for other in [
        "[]",
        " [ ]\n",
        "[[]]",
        "[5]",
        r#"[{"id":1},5]"#,
        r#"["a"]"#,
        &"[".repeat(90_000),
    ] {
        assert!(
            matches!(count(other), Err(ParseError::NoProducts { .. })),
            "{other:.20}"
        );
    }
    assert!(matches!(count("["), Err(ParseError::Truncated { .. })));
    assert!(matches!(count(r#"[{"id":1},"#), Err(ParseError::Truncated { .. })));
    assert_eq!(count(r#"{"products":[]}"#), Ok(0));
    assert_eq!(count("\u{feff} {\"products\":[{\"id\":1}]}\r\n\n"), Ok(1));
    assert_eq!(count(r#"{"next":null,"products":[{"id":1}],"more":[[]]}"#), Ok(1));
}

#[test]
fn other_answers_are_told_apart() {
    let error = |body: &str| parse_products_page(body.as_bytes()).unwrap_err();
    assert_eq!(error(" \n"), ParseError::Empty);
    assert!(matches!(error("<!DOCTYPE html><html>"), ParseError::NotJson { .. }));
    assert!(matches!(
        error("Page * Limit exceeds the 25000 limit."),
        ParseError::NotJson { .. }
    ));
    assert!(matches!(
        error(r#"{"errors":"Not Found"}"#),
        ParseError::NoProducts { .. }
    ));
    assert!(matches!(error(r#"{"products":null}"#), ParseError::NoProducts { .. }));
    assert!(matches!(
        error(r#"{"products":[{"id":1}]} extra"#),
        ParseError::Malformed { offset: 24, .. }
    ));
    assert!(matches!(
        error(r#"{"products":[{"id":1} {"id":2}]}"#),
        ParseError::Malformed { .. }
    ));
    let whole = page(r#"{"id":1,"title":"a\"b","variants":[{"id":2,"price":"1.00"}]}"#);
    for end in 1..whole.len() {
        let error = parse_products_page(&whole.as_bytes()[..end]).unwrap_err();
        assert!(matches!(error, ParseError::Truncated { .. }), "{end}: {error}");
    }
}

#[test]
fn broken_characters_are_replaced_and_broken_json_costs_its_record() {
    let title = |record: &[u8]| {
        let body = [br#"{"products":[{"id":1},"#, record, br#"]}"#].concat();
        let page = parse_products_page(&body).unwrap();
        assert!(page.records[0].is_ok());
        page.records[1]
            .as_ref()
            .map(|product| product.title.as_deref().unwrap().to_owned())
            .map_err(|bad| bad.reason.clone())
    };
    assert_eq!(
        title(br#"{"id":2,"title":"half \ud83d pair"}"#).as_deref(),
        Ok("half \u{fffd} pair")
    );
    assert_eq!(title(b"{\"id\":2,\"title\":\"caf\xe9\"}").as_deref(), Ok("caf\u{fffd}"));
    assert_eq!(
        title(br#"{"id":2,"title":"\ude00 \ud83d\ud83d\ude00"}"#).as_deref(),
        Ok("\u{fffd} \u{fffd}\u{1f600}")
    );
    assert_eq!(title(b"{\"id\":2,\"title\":\"a\0b\nc\"}").as_deref(), Ok("a\0b\nc"));
    assert_eq!(
        title(br#"{"id":2,"title":"nul \u0000 kept"}"#).as_deref(),
        Ok("nul \u{0} kept")
    );
    assert_eq!(
        title(br#"{"id":2,"title":NaN}"#).unwrap_err(),
        "title: expected text, found invalid JSON"
    );
    assert_eq!(
        title(br#"{"id":2,"title":"\x"}"#).unwrap_err(),
        "title: invalid JSON: unknown escape sequence"
    );
    assert_eq!(
        title(br#"{"id":2 "title":"x"}"#).unwrap_err(),
        "invalid JSON: unterminated object"
    );
}

#[test]
fn a_page_in_another_alphabet_is_none() {
    let page_of = |title: &[u8], count: usize| {
        let record = [br#"{"id":1,"title":""#, title, br#""}"#].concat();
        [&br#"{"products":["#[..], &vec![record; count].join(&b","[..]), b"]}"].concat()
    };
    let read = |body: &[u8]| parse_products_page(body).map(|page| page.records.len());
    assert_eq!(read(&page_of(b"caf\xe9", 32)), Ok(32), "a few are replaced");
    assert!(matches!(
        read(&page_of(b"caf\xe9", 200)),
        Err(ParseError::NotUtf8 { .. })
    ));
    let long = [&b"x".repeat(4000)[..], b"\xe9"].concat();
    assert_eq!(
        read(&page_of(&long, 200)),
        Ok(200),
        "texts cut in the middle of a character"
    );
}

#[test]
fn depth_never_grows_the_stack() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let (depth, leaf) = (200_000, if open == "[" { "" } else { "1" });
        let deep = format!("{}{leaf}{}", open.repeat(depth), close.repeat(depth));
        let unknown = format!(r#"{{"id":1,"x":{deep}}}"#);
        assert_eq!(one(&unknown).map(|product| product.id), Ok(1));
        for known in ["variants", "images", "tags", "title", "options"] {
            // A deep list as `variants` only gives unreadable variants, so that the record is accepted.
            let needed = known == "title" || (known == "variants" && open != "[");
            let read = one(&format!(r#"{{"id":1,"{known}":{deep}}}"#));
            assert_eq!(read.is_err(), needed, "{known}");
        }
        for body in [
            deep.clone(),
            format!(r#"{{"x":{deep},"products":[{{"id":1}}]}}"#),
            open.repeat(depth),
        ] {
            drop(parse_products_page(body.as_bytes()));
        }
    }
}

#[test]
fn lists_are_cut_at_their_bounds_and_pages_refused_beyond_theirs() {
    let many = |record: &str, count: usize| vec![record; count].join(",");
    let product = one(&format!(
        r#"{{"id":1,"variants":[{}],"tags":[{}]}}"#,
        many(r#"{"id":2}"#, 3000),
        many("\"a\"", 3000)
    ))
    .unwrap();
    assert_eq!(
        (product.variants.len(), product.variants_stated, product.tags.len()),
        (2048, 3000, 500)
    );
    let product = one(&format!(r#"{{"id":"1","variants":[{}]}}"#, many(r#"{"id":2}"#, 3000))).unwrap();
    assert_eq!((product.variants.len(), product.variants_stated), (2048, 3000));
    for record in [r#"{"id":1}"#, "1"] {
        let error = parse_products_page(page(&many(record, 25_001)).as_bytes()).unwrap_err();
        assert!(matches!(error, ParseError::TooLarge { what: "records", .. }), "{error}");
    }
    let braces = format!(r#"{{"id":1,"variants":[{}]}}"#, many("{}", 600_000));
    assert!(matches!(
        parse_products_page(page(&braces).as_bytes()),
        Err(ParseError::TooLarge { .. })
    ));
    let huge = one(&format!(r#"{{"id":1,"title":"{}"}}"#, "x".repeat(50 << 20))).unwrap();
    assert_eq!(huge.title.unwrap().len(), 50 << 20);
}

#[test]
fn a_record_whose_lists_take_too_much_memory_is_refused_and_its_neighbours_are_read() {
    let images = many(
        &format!(r#"{{"src":"/a.jpg","variant_ids":[{}]}}"#, many("1", 2048)),
        200,
    );
    for list in ["images", "options"] {
        let lists = match list {
            "images" => images.clone(),
            _ => format!(r#"{{"name":"Size","values":[{}]}},{images}"#, many(r#""""#, 2048)),
        };
        let heavy = format!(r#"{{"id":2,"title":"Heavy","images":[{lists}],"variants":[{{"id":5,"price":"1.00"}}]}}"#);
        let body = page(&format!(
            r#"{{"id":1,"title":"Tea"}},{heavy},{{"id":3,"title":"Mate"}}"#
        ));
        let records = parse_products_page(body.as_bytes()).unwrap().records;
        let ids: Vec<_> = records
            .iter()
            .map(|record| record.as_ref().map(|product| product.id))
            .collect();
        assert_eq!((&ids[0], &ids[2]), (&Ok(1), &Ok(3)));
        let bad = records[1].as_ref().unwrap_err();
        assert_eq!(bad.id, Some(2));
        assert!(bad.reason.contains("bytes of memory"), "{}", bad.reason);
    }
}

#[test]
fn as_many_variants_as_the_platform_allows_are_no_heavy_record() {
    let ids: Vec<String> = (1..=2048).map(|id| format!("4{id:013}")).collect();
    let variants: Vec<String> = ids
        .iter()
        .map(|id| {
            format!(
                r#"{{"id":{id},"title":"A / B / C","option1":"A","option2":"B","option3":"C","sku":"S-{id}","price":"1.00",
                   "featured_image":{{"src":"/{id}.jpg","variant_ids":[{id}]}}}}"#
            )
        })
        .collect();
    let options = many(&format!(r#"{{"name":"Size","values":[{}]}}"#, many(r#""A""#, 2048)), 3);
    let images = many(
        &format!(r#"{{"src":"/a.jpg","variant_ids":[{}]}}"#, ids[..8].join(",")),
        250,
    );
    let record = format!(
        r#"{{"id":1,"title":"Tea","tags":[{}],"options":[{options}],"images":[{images}],"variants":[{}]}}"#,
        many(r#""tag""#, 250),
        variants.join(",")
    );
    let product = one(&record).unwrap();
    assert_eq!(
        (product.variants.len(), product.images.len(), product.options.len()),
        (2048, 250, 3)
    );
    assert!(product.variants.iter().all(|variant| variant.featured_image.is_some()));
}
