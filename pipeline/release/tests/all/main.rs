//! Releases of a lake: what reaches them, what they cost, and what a damaged lake leaves of them.

mod bookkeeping;
mod damage;
mod matches;
mod observed;
mod year;
