use std::sync::Arc;

use api::{Asker, CallOperation, OperationAnswer, Problem};
use async_trait::async_trait;
use data_model::ErrorCode;
use serde_json::{Map, Value};

use super::app;
use super::book::{Book, BookError, Tool};
use super::toolset::{Resource, ToolOutcome, Toolset};
use super::view::View;

const INSTRUCTIONS: &str = "One market of many brand stores. Find products with search_products, look at one with \
    get_product, and ask get_price for what it costs now before you tell a person a price: stored prices may be old. Money \
    is whole minor units with an ISO 4217 code (39900 with INR is 399.00 rupees). A tool that fails says why in `code`; \
    wait as many seconds as `retry_after_s` says before you try again.";

/// The terms on which a market offers its tools.
#[derive(Debug, Clone)]
pub struct MarketOffer {
    /// True where tools of carts are offered.
    pub with_carts: bool,
    /// Most bytes of an answer's document; longer lists are cut.
    pub answer_bytes_max: usize,
    /// The address under which people reach the products' pages.
    pub public_url: String,
}

/// The market's own tools: each calls the operation of REST that has the same purpose.
#[derive(Debug)]
pub struct MarketTools {
    book: Book,
    names: Vec<&'static str>,
    operations: Arc<dyn CallOperation>,
    offer: MarketOffer,
    resources: [Resource; 1],
}

impl MarketTools {
    /// The tools over the operations that `document` describes.
    ///
    /// # Errors
    /// When an operation that a tool calls is not described.
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
        // Counts of facets name what shops wrote too.
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
