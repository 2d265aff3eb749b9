//! Sign-in at a provider that others wrote, in Chromium.
