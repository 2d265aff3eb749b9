//! End-to-end tests of the programs together; see `tests/`. It has no code of its own.
