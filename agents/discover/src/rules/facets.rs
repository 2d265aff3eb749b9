use data_understanding::intent::{shades, size_values};

use crate::intent::Constraints;

/// Maximum number of facet values that the catalogue accepts.
const VALUES_MAX: usize = 50;

/// Returns facet filters for the wanted colour and size in the words of most stores. Products of other stores may match
/// in other words.
pub(crate) fn of(wanted: &Constraints) -> Vec<(String, Vec<String>)> {
    let colours = wanted.colours.iter().flat_map(|colour| shades(colour));
    let colours: Vec<String> = colours.take(VALUES_MAX).map(str::to_owned).collect();
    let sizes = wanted.sizes.iter().flat_map(|size| size_values(size));
    let sizes: Vec<String> = sizes.take(VALUES_MAX).collect();
    let clauses = [("color", colours), ("size", sizes)];
    clauses
        .into_iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|(name, values)| (name.to_owned(), values))
        .collect()
}
