#![no_main]

#[path = "../checks/json.rs"]
mod json;
#[path = "../checks/pages.rs"]
mod pages;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    json::check(bytes);
    pages::check(bytes);
});
