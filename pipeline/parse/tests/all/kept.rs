//! Parses store answers that fuzzing found and saved.

#[path = "../../../../fuzz/checks/corpus.rs"]
mod corpus;
#[path = "../../../../fuzz/checks/pages.rs"]
mod pages;

#[test]
fn each_page_of_a_catalogue_that_is_kept_is_read_in_bounds_and_as_it_is() {
    corpus::replay("pages", pages::check);
}
