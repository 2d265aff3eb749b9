//! One operation a file: typed request in, typed answer out, no HTTP.

pub(crate) mod prices;
