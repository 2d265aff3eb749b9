//! Who asks, and how much of it.
