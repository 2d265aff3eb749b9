#![no_main]

#[path = "../checks/json.rs"]
mod json;
#[path = "../checks/prices.rs"]
mod prices;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    json::check(bytes);
    json::agrees::<prices::Answer>(bytes);
});
