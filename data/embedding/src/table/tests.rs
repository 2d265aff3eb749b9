use super::*;

const WORDS: &str = "red\nshoe\n##s\nblue";

/// In the table, `red` points east, `shoe` north, `##s` nowhere and `blue` west.
fn bytes() -> Vec<u8> {
    let mut bytes = b"HAATEMB1".to_vec();
    bytes.extend(4_u32.to_le_bytes());
    bytes.extend(2_u32.to_le_bytes());
    for scale in [0.5_f32, 0.25, 1.0, 0.5] {
        bytes.extend(scale.to_le_bytes());
    }
    for component in [100_i8, 0, 0, 100, 0, 0, -100, 0] {
        bytes.extend(component.to_le_bytes());
    }
    bytes
}

fn table() -> StaticTable {
    StaticTable::new(bytes().leak(), WORDS).unwrap()
}

fn query(text: &str) -> Option<Vec<i8>> {
    let vector = table().embed_query(text).unwrap();
    vector.map(|vector| vector.components().to_vec())
}

#[test]
fn a_query_is_the_direction_of_its_pieces() {
    assert_eq!(query("red"), Some(vec![127, 0]));
    assert_eq!(query("Red red RED"), Some(vec![127, 0]));
    // `shoes` is half as long as `red`, so that the sum points more to the east.
    assert_eq!(query("red shoes"), Some(vec![114, 57]));
    assert_eq!(query("red blue"), None);
    assert_eq!(query("unknown"), None);
    assert_eq!(query("!!"), None);
    assert_eq!(
        query("shoe ".repeat(64).as_str()),
        query(&format!("{} red", "shoe ".repeat(64)))
    );
}

#[test]
fn a_document_is_the_weighed_sum_of_its_segments_directions() {
    let document = DocumentText {
        title: "shoes shoes shoes".into(),
        category: "red".into(),
        ..DocumentText::default()
    };
    let vectors = table().embed_documents(&[document, DocumentText::default()]).unwrap();
    let expected = Vector::new(&[Segment::CATEGORY.weight, Segment::TITLE.weight]);
    assert_eq!(vectors, [expected, None]);
}

#[test]
fn a_damaged_table_is_refused() {
    let whole = bytes();
    for cut in [0, 7, 8, 12, 16, 31, whole.len() - 1] {
        assert!(StaticTable::new(whole[..cut].to_vec().leak(), WORDS).is_err(), "{cut}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(StaticTable::new(longer.leak(), WORDS).is_err());
    assert!(StaticTable::new(whole.clone().leak(), "red\nshoe").is_err());
    let mut nan = whole;
    nan[16..20].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(StaticTable::new(nan.leak(), WORDS).is_err());
}

#[test]
fn another_table_has_another_id() {
    let mut other = bytes();
    *other.last_mut().unwrap() = 1;
    let other = StaticTable::new(other.leak(), WORDS).unwrap();
    assert_ne!(other.id(), table().id());
    assert_eq!(table().id(), table().id());
    assert!(table().id().as_str().starts_with("static-2-"));
}

#[test]
fn the_shipped_table_knows_that_shoes_are_nearer_to_boots_than_to_coffee() {
    let shipped = shipped().unwrap();
    let vector = |text: &str| shipped.embed_query(text).unwrap().unwrap();
    let (shoes, boots, coffee) = (vector("running shoes"), vector("trail boots"), vector("coffee beans"));
    assert!(shoes.cosine(&boots) > shoes.cosine(&coffee) + 0.1);
    assert_eq!(shipped.dimensions(), shoes.dimensions());
}
