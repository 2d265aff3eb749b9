//! Tests releases of a lake: their content, their cost, and the effects of a damaged lake.

mod bookkeeping;
mod damage;
mod matches;
mod observed;
mod year;
