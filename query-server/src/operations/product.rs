use api::EntityTag;
use data_model::{Pincode, ProductIdent};

use super::{Answer, Conditional, DeliveryTo, IfNoneMatch, OperationError};
use crate::delivery::Destination;
use crate::render::json;
use crate::render::product::{self, Include, ProductParts};
use crate::schema::ProductAnswer;
use crate::server::QueryServer;

/// Request for one product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProductRequest {
    /// Requested product.
    pub product: ProductIdent,
    /// Parts of the product to include.
    pub include: Include,
    /// Delivery pincode; `None` omits delivery.
    pub pincode: Option<Pincode>,
}

impl QueryServer {
    /// Returns one product with the requested parts.
    ///
    /// # Errors
    /// `ProductNotFound`, `NotReady`.
    pub fn product(&self, request: &ProductRequest) -> Result<Answer, OperationError> {
        self.product_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    /// Applies `read` to one product and returns the result.
    ///
    /// # Errors
    /// As [`QueryServer::product`].
    pub fn product_with<T>(
        &self,
        request: &ProductRequest,
        read: impl FnOnce(&ProductAnswer<'_>) -> T,
    ) -> Result<T, OperationError> {
        let to = self.delivered_to(request);
        let discounts = self.0.discounts.load();
        self.at_once(|served| {
            let at = served.find(&request.product)?;
            let store = &served.release.brand_of(at).facts.brand.store;
            let parts = ProductParts {
                include: request.include,
                to: to.as_ref(),
                tests: discounts.of(store),
            };
            Ok(read(&product::answer(served, at, &parts)?))
        })
    }

    fn delivered_to(&self, request: &ProductRequest) -> Option<Destination> {
        let pincode = request.pincode?;
        self.destination(Some(DeliveryTo { pincode, by: None }))
    }

    pub(crate) fn product_unless(
        &self,
        request: &ProductRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let to = self.delivered_to(request);
        let discounts = self.0.discounts.load();
        self.at_once(|served| {
            let at = served.find(&request.product)?;
            let store = &served.release.brand_of(at).facts.brand.store;
            let tested = if request.include.discounts {
                discounts.stamp(store)
            } else {
                &[]
            };
            let day = to.as_ref().map(Destination::stamp);
            let tag = match &day {
                Some(day) => EntityTag::following(&[served.stamp(), b"product", tested, day], request),
                None => EntityTag::following(&[served.stamp(), b"product", tested], request),
            };
            let parts = ProductParts {
                include: request.include,
                to: to.as_ref(),
                tests: discounts.of(store),
            };
            Conditional::known(known, tag, || Ok(json(4096, &product::answer(served, at, &parts)?)))
        })
    }
}
