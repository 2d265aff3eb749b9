//! Replays the price inputs that fuzzing found.

#[path = "../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/checks/json.rs"]
mod json;
#[path = "../../src/rules/js/wire.rs"]
mod wire;

#[test]
fn prices_that_a_strict_reader_accepts_are_read_as_they_are() {
    corpus::replay("prices", |bytes| {
        json::check(bytes);
        json::agrees::<wire::Product>(bytes);
    });
}
