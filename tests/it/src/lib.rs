//! End-to-end tests of the programs together; see `tests/`. This file has no code.
