//! The settings of an operator: defaults here, then a TOML file, then `HAAT_…` in the environment, then flags.
//! They are read once, at the start; nothing else looks at the environment.

mod filter;
mod layers;
mod sections;

pub(crate) use layers::{HIDDEN, Layer, Layers, RETENTION_HOURS_MAX, cors_origins};
pub(crate) use sections::{Config, EmbedderChoice, LiveGateway, LogFormat, WayChoice};
