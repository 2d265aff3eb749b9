use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use datafusion::catalog::MemorySchemaProvider;
use datafusion::common::TableReference;
use datafusion::prelude::{SessionConfig, SessionContext};
use deltalake::delta_datafusion::DeltaScanNext;

use crate::delta::{log_store, root_url};
use crate::{Lake, LakeError, LakeSnapshot, TableName};

impl Lake {
    /// Returns a query session in which all tables of the snapshot are registered by name, in the state of the
    /// snapshot.
    ///
    /// # Errors
    /// A table's log cannot be read, or the query engine rejects the table.
    #[boxed]
    pub async fn session(&self, snapshot: &LakeSnapshot) -> Result<SessionContext, LakeError> {
        let mut config = SessionConfig::new().with_information_schema(true);
        config.options_mut().execution.parquet.pushdown_filters = true;
        config.options_mut().execution.parquet.reorder_filters = true;
        let context = SessionContext::new_with_config(config);
        self.register(snapshot, &context, "public").await?;
        Ok(context)
    }

    /// Registers all tables of the snapshot in a schema of a session. Creates the schema if it does not exist.
    ///
    /// # Errors
    /// The errors of [`Lake::session`].
    #[boxed]
    pub async fn register(
        &self,
        snapshot: &LakeSnapshot,
        context: &SessionContext,
        schema: &str,
    ) -> Result<(), LakeError> {
        context.register_object_store(&root_url(), Arc::clone(self.inner.storage.store()));
        let name = context.copied_config().options().catalog.default_catalog.clone();
        if let Some(catalog) = context.catalog(&name)
            && catalog.schema(schema).is_none()
        {
            // The in-memory catalogue accepts any schema.
            let _ = catalog.register_schema(schema, Arc::new(MemorySchemaProvider::new()));
        }
        for table in TableName::ALL {
            let refused = |source| LakeError::Session {
                table: table.as_str(),
                source: Box::new(source),
            };
            let state = snapshot.table(table).await?.snapshot().clone();
            let provider = DeltaScanNext::builder()
                .with_log_store(log_store(&self.inner.storage, table))
                .with_eager_snapshot(state)
                .build()
                .await
                .map_err(refused)?;
            context
                .register_table(TableReference::partial(schema, table.as_str()), Arc::new(provider))
                .map_err(refused)?;
        }
        Ok(())
    }
}
