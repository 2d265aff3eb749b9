#![no_main]

#[path = "../checks/json.rs"]
mod json;
#[path = "../checks/policies.rs"]
mod policies;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    json::check(bytes);
    policies::check(bytes);
});
