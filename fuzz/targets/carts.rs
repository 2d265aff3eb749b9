#![no_main]

#[path = "../checks/json.rs"]
mod json;
#[path = "../checks/carts.rs"]
mod carts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    json::check(bytes);
    json::agrees::<carts::Answer>(bytes);
});
