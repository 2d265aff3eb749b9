//! Settings of an operator. Sources are the defaults here, then a TOML file, then `HAAT_…` environment variables, then
//! flags. All settings are read once at the start, and no other code reads the environment.

mod filter;
mod layers;
mod sections;

pub(crate) use layers::{HIDDEN, Layer, Layers, RETENTION_HOURS_MAX, cors_origins};
pub(crate) use sections::{Config, EmbedderChoice, LiveGateway, LogFormat, WayChoice};
