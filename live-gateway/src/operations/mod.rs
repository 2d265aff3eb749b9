//! Operations, one per file: typed request in, typed answer out, without HTTP.

pub(crate) mod prices;
