//! Inputs that fuzzing found.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot go on says so at once, and names the input"
)]

use std::path::Path;

/// Checks each stored input of a target.
pub(crate) fn replay(target: &str, check: impl Fn(&[u8])) {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut folders = folders.map(|folder| folder.join("fuzz/corpus").join(target));
    let folder = folders.find(|folder| folder.is_dir()).unwrap();
    let mut count = 0;
    for kept in std::fs::read_dir(folder).unwrap() {
        let path = kept.unwrap().path();
        println!("{}", path.display());
        check(&std::fs::read(path).unwrap());
        count += 1;
    }
    assert!(count > 0, "{target}");
}
