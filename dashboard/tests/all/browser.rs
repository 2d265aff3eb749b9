//! The page in Chromium.
