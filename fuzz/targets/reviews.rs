#![no_main]

#[path = "../checks/json.rs"]
mod json;
#[path = "../checks/reviews.rs"]
mod reviews;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    json::check(bytes);
    reviews::check(bytes);
});
