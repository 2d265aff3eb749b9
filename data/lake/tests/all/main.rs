//! Tests of the lake's public API. All tests are in one program, because each test program links all dependencies of
//! the lake.

mod bookkeeping;
mod catalogue;
mod conflict;
mod entries;
mod faults;
mod flips;
mod live;
mod live_files;
mod lost;
mod measure;
mod merges;
mod newest;
mod observed;
mod pages;
mod paused;
mod products_seen;
mod reference;
mod repair;
mod restore;
mod s3;
mod searches;
mod shipping;
mod staged;
mod support;
mod widgets;
mod zones;
