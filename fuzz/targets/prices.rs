#![no_main]

#[path = "../checks/json.rs"]
mod json;
#[path = "../../live-gateway/src/rules/js/wire.rs"]
mod wire;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    json::check(bytes);
    json::agrees::<wire::Product>(bytes);
});
