use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object(body: Value) -> JsonObject {
    match body {
        Value::Object(members) => JsonObject(members),
        other => panic!("{other} is no object"),
    }
}

fn faults(reader: MembersReader<'_>) -> Vec<(String, Value)> {
    let told = |violation: &Violation| {
        let told = serde_json::to_value(violation).unwrap();
        (violation.kind().to_owned(), told["loc"].clone())
    };
    reader.violations.iter().map(told).collect()
}

fn ident(last: usize) -> String {
    format!("sha:{last:040x}")
}

/// Parses the product ids in a body, or returns its faults.
fn idents(body: Value) -> Result<Vec<ProductIdent>, Vec<(String, Value)>> {
    let body = object(body);
    let mut reader = MembersReader::new(&body);
    let idents = reader.idents("idents", 20);
    let faults = faults(reader);
    if faults.is_empty() { Ok(idents) } else { Err(faults) }
}

#[test]
fn a_list_of_idents_is_read_in_order_and_may_be_empty() {
    let read = idents(json!({"idents": [ident(2), ident(1), ident(2)], "more": 1})).unwrap();
    let read: Vec<String> = read.iter().map(ToString::to_string).collect();
    assert_eq!(read, [ident(2), ident(1), ident(2)]);
    assert_eq!(idents(json!({"idents": []})), Ok(Vec::new()));
    let most: Vec<String> = (0..20).map(ident).collect();
    assert_eq!(idents(json!({ "idents": most })).unwrap().len(), 20);
}

#[test]
fn a_list_of_idents_tells_what_is_wrong_with_it_and_with_each_item() {
    let fault = |body| idents(body).unwrap_err();
    let one = |kind: &str, loc: Value| vec![(kind.to_owned(), loc)];
    assert_eq!(fault(json!({})), one("missing", json!(["body", "idents"])));
    assert_eq!(
        fault(json!({"idents": null})),
        one("list_type", json!(["body", "idents"]))
    );
    assert_eq!(
        fault(json!({"idents": ident(1)})),
        one("list_type", json!(["body", "idents"]))
    );
    let many: Vec<String> = (0..21).map(ident).collect();
    assert_eq!(
        fault(json!({ "idents": many })),
        one("too_long", json!(["body", "idents"]))
    );
    assert_eq!(
        fault(json!({"idents": [ident(1), 7, "sha:12", null, "zz"]})),
        [
            ("string_type".to_owned(), json!(["body", "idents", 1])),
            ("string_pattern_mismatch".to_owned(), json!(["body", "idents", 2])),
            ("string_type".to_owned(), json!(["body", "idents", 3])),
            ("uuid_parsing".to_owned(), json!(["body", "idents", 4])),
        ]
    );
}

#[derive(Debug, PartialEq)]
struct Line {
    product: ProductIdent,
    qty: i64,
    note: Option<String>,
}

fn line(item: Field<'_, '_>) -> Option<Line> {
    item.object(|members| {
        let product = members.required("product_id").parsed(product_ident);
        let qty = members.required("qty").integer(1..=99);
        let note = members.optional("note").text(5).map(std::borrow::Cow::into_owned);
        Some(Line {
            product: product?,
            qty: qty?,
            note,
        })
    })
    .flatten()
}

#[test]
fn members_of_items_and_of_objects_within_objects_are_read() {
    let body = object(json!({
        "items": [{"product_id": ident(1), "qty": "2"}, {"product_id": ident(2), "qty": 3.0, "note": null}],
        "address": {"zip": "560001", "gift": {"wrapped": "yes"}},
    }));
    let mut reader = MembersReader::new(&body);
    let lines = reader.required("items").list(5, line).unwrap();
    let wrapped = reader.required("address").object(|address| {
        assert_eq!(address.required("zip").text(6).as_deref(), Some("560001"));
        let gift = address
            .optional("gift")
            .object(|gift| gift.optional("wrapped").boolean());
        gift.flatten()
    });
    assert_eq!(wrapped.flatten(), Some(true));
    let ordered: Vec<_> = lines.iter().map(|line| (line.qty, line.note.as_deref())).collect();
    assert_eq!(ordered, [(2, None), (3, None)]);
    assert!(reader.finish(()).is_ok());
}

#[test]
fn every_fault_within_items_is_told_with_its_place() {
    let body = object(json!({
        "items": [
            {"product_id": ident(1), "qty": 0},
            {"qty": "two", "note": "too long"},
            "no object",
        ],
        "address": {"zip": 5, "gift": []},
        "api_token": {"a": 1},
    }));
    let mut reader = MembersReader::new(&body);
    assert_eq!(reader.required("items").list(5, line), None);
    let address = reader.required("address").object(|address| {
        address.required("zip").text(6);
        address.optional("gift").object(|_| ());
        assert!(address.refused("zip") && !address.refused("street"));
    });
    assert_eq!(address, None);
    reader.optional("api_token").text(9);
    assert!(reader.refused("items") && reader.refused("address") && !reader.refused("zip"));
    let problem = format!("{:?}", reader.violations);
    assert!(!problem.contains("\"a\""), "{problem}");
    assert_eq!(
        faults(reader),
        [
            ("greater_than_equal".to_owned(), json!(["body", "items", 0, "qty"])),
            ("missing".to_owned(), json!(["body", "items", 1, "product_id"])),
            ("int_parsing".to_owned(), json!(["body", "items", 1, "qty"])),
            ("string_too_long".to_owned(), json!(["body", "items", 1, "note"])),
            ("dict_type".to_owned(), json!(["body", "items", 2])),
            ("string_type".to_owned(), json!(["body", "address", "zip"])),
            ("dict_type".to_owned(), json!(["body", "address", "gift"])),
            ("string_type".to_owned(), json!(["body", "api_token"])),
        ]
    );
}

/// Returns a strategy for field values, each with its fault if it is invalid.
fn qty() -> impl Strategy<Value = (Option<Value>, Option<&'static str>)> {
    prop_oneof![
        (1_i64..=99).prop_map(|qty| (Some(json!(qty)), None)),
        (1_i64..=99).prop_map(|qty| (Some(json!(qty.to_string())), None)),
        Just((Some(json!(true)), Some("int_type"))),
        (100_i64..).prop_map(|qty| (Some(json!(qty)), Some("less_than_equal"))),
        (..1_i64).prop_map(|qty| (Some(json!(qty)), Some("greater_than_equal"))),
        Just((Some(json!(1.5)), Some("int_from_float"))),
        "[a-z]{0,5}".prop_map(|text| (Some(json!(text)), Some("int_parsing"))),
        prop_oneof![Just(json!(null)), Just(json!([1])), Just(json!({"a": 1}))]
            .prop_map(|value| (Some(value), Some("int_type"))),
        Just((None, Some("missing"))),
    ]
}

fn product() -> impl Strategy<Value = (Option<Value>, Option<&'static str>)> {
    prop_oneof![
        any::<usize>().prop_map(|last| (Some(json!(ident(last))), None)),
        "sha:[0-9a-f]{0,39}".prop_map(|text| (Some(json!(text)), Some("string_pattern_mismatch"))),
        "[g-r]{0,40}".prop_map(|text| (Some(json!(text)), Some("uuid_parsing"))),
        prop_oneof![Just(json!(null)), any::<i64>().prop_map(|number| json!(number))]
            .prop_map(|value| (Some(value), Some("string_type"))),
        Just((None, Some("missing"))),
    ]
}

proptest! {
    #[test]
    fn every_faulty_member_is_told_at_its_place_and_no_other(items in prop::collection::vec((product(), qty()), 0..12)) {
        let mut expected = Vec::new();
        let mut sent = Vec::new();
        for (at, (product, qty)) in items.into_iter().enumerate() {
            let mut members = Map::new();
            for (name, (value, fault)) in [("product_id", product), ("qty", qty)] {
                members.extend(value.map(|value| (name.to_owned(), value)));
                expected.extend(fault.map(|kind| (kind.to_owned(), json!(["body", "items", at, name]))));
            }
            sent.push(Value::Object(members));
        }
        let count = sent.len();
        let body = object(json!({ "items": sent }));
        let mut reader = MembersReader::new(&body);
        let lines = reader.required("items").list(12, line);
        prop_assert_eq!(lines.map(|lines| lines.len()), expected.is_empty().then_some(count));
        prop_assert_eq!(faults(reader), expected);
    }
}
