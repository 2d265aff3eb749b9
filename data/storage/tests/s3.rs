//! An S3-compatible store keeps the same promises as every other.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on says so at once"
)]

#[path = "support/moto.rs"]
mod moto;

use data_storage::{conformance, publish_race};

#[tokio::test(flavor = "multi_thread")]
async fn an_s3_store_conforms() {
    let Some(moto) = moto::Moto::start() else { return };
    conformance(moto.storage()).await.unwrap();
    publish_race(&moto.storage().child("races"), 8, 200).await.unwrap();
}
