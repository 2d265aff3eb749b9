use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Record, RecordedStore};
use crate::EmulatorError;
use crate::generated::dice::fold_bytes;
use crate::generated::kebab;

/// Loads every store in a folder, in the order of the folder names.
pub(crate) fn load(folder: &Path) -> Result<Vec<RecordedStore>, EmulatorError> {
    let mut stores = Vec::new();
    let mut taken = HashSet::new();
    for store in entries(folder)?.into_iter().filter(|entry| entry.is_dir()) {
        let pages = pages(&store)?;
        if pages.is_empty() {
            continue;
        }
        let mut loaded = load_store(&store, &pages)?;
        let slug = loaded.slug.clone();
        for nth in 2_u32.. {
            if taken.insert(loaded.slug.clone()) {
                break;
            }
            loaded.slug = format!("{slug}-{nth}");
        }
        stores.push(loaded);
    }
    if stores.is_empty() {
        return Err(EmulatorError::NoStores {
            place: folder.display().to_string(),
        });
    }
    Ok(stores)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, EmulatorError> {
    let broken = |source| EmulatorError::Folder {
        folder: folder.to_owned(),
        source,
    };
    let mut paths = fs::read_dir(folder)
        .map_err(broken)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(broken)?;
    paths.sort();
    Ok(paths)
}

/// Returns the product pages in a store's folder in order: `products.json` is first, and `products-10.json` comes after
/// `products-9.json`.
fn pages(store: &Path) -> Result<Vec<PathBuf>, EmulatorError> {
    let mut pages: Vec<(u32, PathBuf)> = entries(store)?
        .into_iter()
        .filter_map(|path| Some((page_number(path.file_name()?.to_str()?)?, path)))
        .collect();
    pages.sort();
    Ok(pages.into_iter().map(|(_, path)| path).collect())
}

fn page_number(file_name: &str) -> Option<u32> {
    let middle = file_name.strip_prefix("products")?.strip_suffix(".json")?;
    let digits = middle.trim_start_matches(['-', '_', '.']);
    if digits.is_empty() {
        Some(1)
    } else {
        Some(digits.parse().unwrap_or(u32::MAX))
    }
}

#[derive(Deserialize)]
struct PageFile<'a> {
    #[serde(borrow)]
    products: Vec<&'a RawValue>,
}

/// Fields of a record that the emulator itself needs. Records with unusual other fields are served unchanged.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Marks {
    id: Value,
    handle: Value,
    product_type: Value,
}

fn load_store(folder: &Path, pages: &[PathBuf]) -> Result<RecordedStore, EmulatorError> {
    let folder_name = folder
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut records = Vec::new();
    for page in pages {
        load_page(page, &mut records)?;
    }
    let meta = load_meta(&folder.join("meta.json"))?.unwrap_or_default();
    let text = |key: &str| {
        meta.get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    };
    let slug = text("slug").map(|slug| kebab(&slug)).filter(|slug| !slug.is_empty());
    let slug = slug.unwrap_or_else(|| kebab(&folder_name));
    let slug = if slug.is_empty() {
        format!("store-{:x}", fold_bytes(folder_name.as_bytes()))
    } else {
        slug
    };
    Ok(RecordedStore {
        name: text("name")
            .or_else(|| text("brand"))
            .unwrap_or_else(|| title_case(&folder_name)),
        currency: text("currency"),
        myshopify_domain: text("myshopify_domain"),
        // Only the platform's own format of `meta.json` is served. The other format only describes the store.
        meta: meta.contains_key("myshopify_domain").then_some(meta),
        slug,
        records,
    })
}

fn read(file: &Path) -> Result<Vec<u8>, EmulatorError> {
    fs::read(file).map_err(|source| EmulatorError::File {
        file: file.to_owned(),
        source,
    })
}

fn load_page(page: &Path, records: &mut Vec<Record>) -> Result<(), EmulatorError> {
    let bytes: Arc<[u8]> = read(page)?.into();
    let malformed = |source| EmulatorError::Malformed {
        file: page.to_owned(),
        source,
    };
    let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let parsed: PageFile<'_> = serde_json::from_slice(body).map_err(malformed)?;
    for raw in parsed.products {
        let text = raw.get();
        // The raw value borrows from the file's bytes, so the difference of the two pointers is its offset in the file.
        let start = (text.as_ptr() as usize).wrapping_sub(bytes.as_ptr() as usize);
        let marks: Marks = serde_json::from_str(text).unwrap_or_default();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        records.push(Record {
            file: Arc::clone(&bytes),
            range: start..start + text.len(),
            id: marks.id.as_u64(),
            handle: word(&marks.handle),
            product_type: word(&marks.product_type),
            fingerprint: fold_bytes(text.as_bytes()),
        });
    }
    Ok(())
}

fn load_meta(file: &Path) -> Result<Option<Map<String, Value>>, EmulatorError> {
    if !file.is_file() {
        return Ok(None);
    }
    let bytes = read(file)?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|source| EmulatorError::Malformed {
            file: file.to_owned(),
            source,
        })
}

/// Converts a folder name such as `blue-tokai` to `Blue Tokai`.
fn title_case(folder_name: &str) -> String {
    let words = folder_name.split(['-', '_', ' ']).filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let mut chars = word.chars();
        chars
            .next()
            .map(|first| first.to_uppercase().chain(chars).collect::<String>())
            .unwrap_or_default()
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_ordered_by_number() {
        let numbers = [
            "products.json",
            "products-2.json",
            "products-10.json",
            "products_3.json",
        ]
        .map(page_number);
        assert_eq!(numbers, [Some(1), Some(2), Some(10), Some(3)]);
        assert_eq!(page_number("product.json"), None);
        assert_eq!(page_number("stores.json"), None);
    }

    #[test]
    fn folder_names_become_store_names() {
        assert_eq!(title_case("blue-tokai"), "Blue Tokai");
    }
}
