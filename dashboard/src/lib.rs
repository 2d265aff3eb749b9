//! A place to sign in.
