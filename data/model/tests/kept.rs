//! Replays inputs that fuzzing saved against the parsers of store responses.

#[path = "../../../fuzz/checks/carts.rs"]
mod carts;
#[path = "../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../fuzz/checks/json.rs"]
mod json;

#[test]
fn nothing_that_is_kept_is_lost_for_the_sake_of_a_character_and_json_is_read_as_it_is() {
    for target in ["carts", "pages", "policies", "prices", "reviews"] {
        corpus::replay(target, json::check);
    }
}

#[test]
fn carts_that_a_strict_reader_accepts_are_read_as_they_are() {
    corpus::replay("carts", |bytes| {
        json::agrees::<carts::Answer>(bytes);
    });
}
