use std::path::Path;

use data_index::suggest::{Reading, Work};
use data_index::{Manifest, OpenError, Release, RowAddress};
use data_release::LocalRelease;
use proptest::prelude::*;

use crate::fixture::{build, catalogue, served};

fn built(dir: &Path) -> Manifest {
    build(None, &[catalogue(0, 1, 6), catalogue(1, 1, 7)], 100, dir)
}

fn opened(manifest: &Manifest, dir: &Path) -> Result<Release, OpenError> {
    LocalRelease::in_directory(manifest.clone(), dir).open()
}

#[test]
fn short_and_missing_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = built(dir.path());
    for file in &manifest.parts[0].files {
        let path = dir.path().join(file.sha256.to_string());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(
            matches!(opened(&manifest, dir.path()), Err(OpenError::SizeDiffers { .. })),
            "{}",
            file.name
        );
        std::fs::remove_file(&path).unwrap();
        assert!(
            matches!(opened(&manifest, dir.path()), Err(OpenError::Map { .. })),
            "{}",
            file.name
        );
        std::fs::write(&path, bytes).unwrap();
    }
    assert!(opened(&manifest, dir.path()).is_ok());
}

#[test]
fn manifests_that_contradict_themselves_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = built(dir.path());
    let spoilt = |spoil: fn(&mut Manifest)| {
        let mut manifest = manifest.clone();
        spoil(&mut manifest);
        opened(&manifest, dir.path()).map(|_| ()).unwrap_err()
    };
    assert!(matches!(
        spoilt(|manifest| manifest.schema_version += 1),
        OpenError::Layout { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.brands.reverse()),
        OpenError::Manifest { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.brands.clear()),
        OpenError::Manifest { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.parts[0].stores[1].first_row += 1),
        OpenError::Manifest { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.parts[0].stores[1].rows = u32::MAX),
        OpenError::Manifest { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.parts[0].live_rows -= 1),
        OpenError::Manifest { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.parts[0].currencies.clear()),
        OpenError::Columns { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.parts[0].files.clear()),
        OpenError::FileMissing { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.brands[0].product_count += 1),
        OpenError::Manifest { .. }
    ));
    assert!(matches!(
        spoilt(|manifest| manifest.parts.push(manifest.parts[0].clone())),
        OpenError::Manifest { .. }
    ));
    let twice = spoilt(|manifest| {
        manifest.parts[0].stores[0].store = manifest.parts[0].stores[1].store.clone();
        manifest.parts[0].stores[0].fingerprint = "other".into();
    });
    assert!(matches!(twice, OpenError::Manifest { .. }));
}

fn suggested(release: &Release) {
    let suggest = release.parts()[0].suggest();
    let mut work = Work::of(10_000);
    for text in ["", "p", "shirt"] {
        suggest.phrases(text, 9, |_| true, &mut work);
        let begun = suggest.words_beginning_with(text);
        let near = suggest.words_near("shirt", 2, Reading::Beginning, &mut work);
        let near: Vec<_> = near.into_iter().map(|near| near.texts).collect();
        for wanted in [Vec::new(), vec![vec![begun.clone()]], vec![vec![begun.clone()], near]] {
            for row in suggest.best_rows(&wanted, 9, |_| true, &mut work) {
                assert!(row < release.parts()[0].rows());
            }
        }
        let _ = suggest.word_text(begun.end);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damaged_columns_are_errors_or_readable_never_a_crash(file in 0..8_usize, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        let manifest = built(dir.path());
        let columns: Vec<_> = manifest.parts[0].files.iter().filter(|file| file.name.ends_with(".arrow") || file.name.ends_with(".bin")).collect();
        let path = dir.path().join(columns[file].sha256.to_string());
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(release) = opened(&manifest, dir.path()) {
            served(&release);
            suggested(&release);
            let vector = (0..13).find_map(|row| release.vector(RowAddress { part: 0, row }));
            if let Some(vector) = vector {
                prop_assert!(release.nearest(&vector, 5, None).len() <= 5);
            }
        }
    }
}
