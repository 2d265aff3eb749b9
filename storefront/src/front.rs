use async_recursion::async_recursion as boxed;

use crate::call::Call;
use crate::error::StoreError;
use crate::page::{Accept, FetchOutcome};
use crate::store::Store;

impl Store {
    /// Fetches the store's front page, `/`.
    #[boxed]
    pub async fn front_page(&self, if_none_match: Option<&str>) -> Result<FetchOutcome, StoreError> {
        let mut url = self.base_url.clone();
        let root = format!("{}/", url.path().trim_end_matches('/'));
        url.set_path(&root);
        self.fetch(Call {
            if_none_match,
            ..Call::get(url, Accept::Html)
        })
        .await
    }
}
