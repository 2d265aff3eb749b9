use std::sync::Arc;

use api::{Asker, CallOperation, OperationAnswer, Problem};
use async_trait::async_trait;
use data_model::ErrorCode;
use serde_json::{Map, Value};

use super::app;
use super::book::{Book, BookError, Tool};
use super::toolset::{Resource, ToolOutcome, Toolset};
use super::view::View;

const INSTRUCTIONS: &str = "A market of many brands' stores. Find products with search_products and read one with \
    get_product. Call get_price before you tell a person a price, because stored prices may be old. Money is in whole \
    minor units with an ISO 4217 code: 39900 with INR is 399.00 rupees. A tool that fails states the reason in \
    `code`. Wait `retry_after_s` seconds before you try again.";

/// Options for the tools that a market offers.
#[derive(Debug, Clone)]
pub struct MarketOffer {
    /// `true` to offer cart tools.
    pub with_carts: bool,
    /// Maximum size of a response document, in bytes. Longer lists are truncated.
    pub answer_bytes_max: usize,
    /// Base URL of the product pages for people.
    pub public_url: String,
}

/// The market's own tools. Each calls the REST operation with the same purpose.
#[derive(Debug)]
pub struct MarketTools {
    book: Book,
    names: Vec<&'static str>,
    operations: Arc<dyn CallOperation>,
    offer: MarketOffer,
    resources: [Resource; 1],
}

impl MarketTools {
    /// Creates the tools for the operations that `document` describes.
    ///
    /// # Errors
    /// A tool calls an operation that is not described.
    pub fn of(operations: Arc<dyn CallOperation>, document: &Value, offer: MarketOffer) -> Result<Self, BookError> {
        let book = Book::of(document, offer.with_carts)?;
        Ok(Self {
            names: book.names().collect(),
            resources: [app::resource(offer.with_carts)],
            book,
            operations,
            offer,
        })
    }
}

impl MarketTools {
    async fn answered(
        &self,
        tool: &Tool,
        mut arguments: Map<String, Value>,
        asker: Asker,
    ) -> Result<OperationAnswer, Problem> {
        if let Some(connector) = tool.connector {
            let call = tool.call(connector.arguments(arguments)?, asker)?;
            return Ok(connector.answer(self.operations.call(call).await, &self.offer.public_url));
        }
        let view = View::take(&mut arguments)?;
        tool.refuse_unknown_fields(&view.fields)?;
        let call = tool.call(arguments, asker)?;
        Ok(view.shown(self.operations.call(call).await, self.offer.answer_bytes_max))
    }
}

#[async_trait]
impl Toolset for MarketTools {
    fn list(&self) -> &str {
        self.book.listed()
    }

    fn names(&self) -> &[&'static str] {
        &self.names
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn instructions(&self) -> &str {
        INSTRUCTIONS
    }

    fn untrusted(&self) -> &'static [&'static str] {
        // Facet counts also contain names that shops wrote.
        &[
            "/structuredContent/data",
            "/structuredContent/provenance",
            "/structuredContent/results",
            "/structuredContent/title",
            "/structuredContent/text",
            "/content/0",
        ]
    }

    async fn call(&self, name: &'static str, arguments: Map<String, Value>, asker: Asker) -> ToolOutcome {
        let Some(tool) = self.book.find(name) else {
            return self.refused(Problem::new(ErrorCode::Internal), &asker);
        };
        match self.answered(tool, arguments, asker.clone()).await {
            Ok(answer) => ToolOutcome::Answer(answer),
            Err(problem) => self.refused(problem, &asker),
        }
    }

    fn refused(&self, problem: Problem, asker: &Asker) -> ToolOutcome {
        ToolOutcome::Answer(OperationAnswer::problem(problem, asker))
    }
}
