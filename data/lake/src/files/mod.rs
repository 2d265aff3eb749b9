//! Data files: conversion between rows and Parquet, in partitions and in the order of their table.

mod batches;
mod buckets;
mod objects;
mod parquet;
mod split;

pub(crate) use batches::{Batches, batches, load, sort};
pub(crate) use buckets::{bucket, by_bucket};
pub(crate) use objects::{FileBytes, compute, read_file, write};
pub(crate) use parquet::{Encoded, Encoder, Scan, digest, encode};
pub(crate) use split::{split_by_bucket, split_by_text, with_partition};
