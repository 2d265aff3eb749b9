//! Asks the brands' stores themselves.
