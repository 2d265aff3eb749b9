//! End-to-end tests of the programs together, in `tests/`. This file has no code.
