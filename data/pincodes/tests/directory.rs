//! Checks that the directory of pincodes agrees with its source, and is small and fast.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so at once")]

use data_model::Pincode;
use data_pincodes::{Directory, PackError, PlaceKind, directory, pack, province_named};
use proptest::prelude::*;

static SHIPPED: &[u8] = include_bytes!("../../reference/pincodes.bin");

fn name_of(pincode: &str) -> Option<&'static str> {
    let area = directory().area(pincode.parse().unwrap())?;
    Some(&directory().get(area).unwrap().name)
}

#[test]
fn a_state_has_its_code_however_it_is_written() {
    for area in directory().areas() {
        let named = area.state.as_deref().and_then(province_named);
        assert_eq!(named, area.province_code(), "{}", area.name);
    }
    for (text, code) in [
        ("KA", Some("KA")),
        ("karnataka", Some("KA")),
        (" Tamil  Nadu ", Some("TN")),
        ("Jammu & Kashmir", Some("JK")),
        ("Dadra & Nagar Haveli and Daman & Diu", Some("DN")),
        ("Orissa", Some("OR")),
        ("New Delhi", Some("DL")),
        ("UT", Some("UK")),
        ("Texas", None),
        ("", None),
    ] {
        assert_eq!(province_named(text), code, "{text}");
    }
}

#[test]
fn every_pincode_has_its_area() {
    assert_eq!((directory().len(), directory().is_empty()), (19_586, false));
    for (pincode, name) in [
        ("110001", Some("DELHI/NEW DELHI/metro")),
        ("560001", Some("KARNATAKA/BENGALURU URBAN/metro")),
        ("400001", Some("MAHARASHTRA/MUMBAI/metro")),
        ("302001", Some("RAJASTHAN/JAIPUR/capital")),
        ("744101", Some("ANDAMAN AND NICOBAR ISLANDS/SOUTH ANDAMANS/island")),
        ("175101", Some("HIMACHAL PRADESH/KULLU/hill")),
        ("792103", Some("ARUNACHAL PRADESH/NAMSAI/remote")),
        // These pincodes were entered with districts of other states, although the post offices are near those of the
        // neighbouring pincodes.
        ("334002", Some("RAJASTHAN/NA/rest")),
        ("384316", Some("GUJARAT/NA/rest")),
        ("504346", Some("TELANGANA/NA/rest")),
        ("612906", Some("TAMIL NADU/NA/rest")),
        ("799001", Some("TRIPURA/NA/remote")),
        // The coordinates of this pincode and of the army's post offices are unknown.
        ("791701", Some("NA/NA/rest")),
        ("900056", Some("NA/NA/rest")),
        ("900099", Some("NA/NA/rest")),
        // These entries are correct, although no neighbouring pincode is in the same state.
        ("673310", Some("PUDUCHERRY/MAHE/rest")),
        ("814131", Some("BIHAR/BANKA/rest")),
        ("999999", None),
        ("100000", None),
    ] {
        assert_eq!(name_of(pincode), name, "{pincode}");
    }
    let directory = directory();
    for (pincode, area) in directory.pincodes() {
        assert_eq!(directory.area(pincode), Some(area));
        assert_eq!(directory.named(&directory.get(area).unwrap().name), Some(area));
    }
    for kind in PlaceKind::ALL {
        assert!(directory.areas().iter().any(|area| area.kind == kind), "{kind}");
    }
}

#[test]
fn what_ships_is_small_and_is_what_the_source_says() {
    assert!(SHIPPED.len() < 300_000, "{}", SHIPPED.len());
    // The source is not part of the project. If it is available, the packed file is checked against it.
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/pincodes.csv");
    if let Ok(csv) = std::fs::read_to_string(source) {
        assert!(pack(&csv).unwrap() == SHIPPED, "run the example `pack`");
    }
}

#[test]
fn tables_that_cannot_be_understood_are_refused() {
    let head = "pincode,district,state\n";
    for (lines, error) in [
        ("", PackError::Header),
        ("pincode,state\n110001,DELHI\n", PackError::Header),
        ("pincode,district,state\n11001,X,DELHI\n", PackError::Line { line: 2 }),
        ("pincode,district,state\n110001,X\n", PackError::Line { line: 2 }),
        (
            "pincode,district,state\n110001,X,\"DELHI\"\n",
            PackError::Line { line: 2 },
        ),
        (
            "pincode,district,state\n110001,X,DELHI\n110001,Y,DELHI\n",
            PackError::Twice { pincode: 110_001 },
        ),
    ] {
        assert_eq!(pack(lines), Err(error), "{lines}");
    }
    let unknown = Directory::read(&pack(&format!("{head}500123,NA,NA\n")).unwrap()).unwrap();
    let area = unknown.area("500123".parse().unwrap()).unwrap();
    assert_eq!(unknown.get(area).unwrap().state, None);
}

proptest! {
    #[test]
    fn any_number_is_looked_up_as_a_plain_search_would(number in 100_000_u32..1_000_000) {
        let directory = directory();
        let pincode: Pincode = number.to_string().parse().unwrap();
        let found = directory.pincodes().find(|(one, _)| *one == pincode).map(|(_, area)| area);
        prop_assert_eq!(directory.area(pincode), found);
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_and_never_a_crash(at in 0_usize..SHIPPED.len(), to in 0_u8..=255, cut in 0_usize..SHIPPED.len()) {
        let mut bytes = SHIPPED.to_vec();
        bytes[at] = to;
        if let Some(directory) = Directory::read(&bytes) {
            let _ = directory.area("560001".parse().unwrap());
        }
        prop_assert!(Directory::read(&bytes[..cut]).is_none());
    }
}
