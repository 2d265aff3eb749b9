//! Packs a table of pincodes: `cargo run -p data-pincodes --example pack -- pincodes.csv data/reference/pincodes.bin`.
#![expect(clippy::print_stderr, reason = "a maker that is run by hand says what it did")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut paths = std::env::args().skip(1);
    let (Some(from), Some(to)) = (paths.next(), paths.next()) else {
        return Err("usage: pack FROM.csv TO.bin".into());
    };
    let packed = data_pincodes::pack(&std::fs::read_to_string(&from)?)?;
    std::fs::write(&to, &packed)?;
    eprintln!("{to}: {} bytes", packed.len());
    Ok(())
}
