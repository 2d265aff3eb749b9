//! Whole runs, from stores that are values to a lake, through the public door.

mod collapse;
mod emulated;
mod interrupted;
mod ratings;
mod recorded;
mod refresh;
mod support;
