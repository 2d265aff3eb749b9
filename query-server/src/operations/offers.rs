use api::EntityTag;
use data_model::{Pincode, ProductIdent};

use super::{Answer, Conditional, DeliveryTo, IfNoneMatch, Limit, OperationError};
use crate::delivery::Destination;
use crate::render::{json, offers};
use crate::server::QueryServer;

/// Request for the offers of all brands for one product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OffersRequest {
    /// Product of one of the brands.
    pub product: ProductIdent,
    /// Maximum number of offers.
    pub limit: Limit<20, 100>,
    /// Delivery pincode; `None` omits delivery.
    pub pincode: Option<Pincode>,
}

impl OffersRequest {
    /// Requests the default number of offers.
    #[must_use]
    pub fn of(product: ProductIdent) -> Self {
        Self {
            product,
            limit: Limit::default(),
            pincode: None,
        }
    }
}

impl QueryServer {
    /// Returns the offers of all brands for one product, including its own. Offers in stock come first, then offers in
    /// the product's own currency, and within a currency the lowest price.
    ///
    /// # Errors
    /// `ProductNotFound`, `NotReady`.
    pub fn offers(&self, request: &OffersRequest) -> Result<Answer, OperationError> {
        self.offers_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    pub(crate) fn offers_unless(
        &self,
        request: &OffersRequest,
        known: IfNoneMatch<'_>,
    ) -> Result<Conditional, OperationError> {
        let to = request.pincode.map(|pincode| DeliveryTo { pincode, by: None });
        let to = self.destination(to);
        self.at_once(|served| {
            let at = served.find(&request.product)?;
            let day = to.as_ref().map(Destination::stamp);
            let tag = match &day {
                Some(day) => EntityTag::following(&[served.stamp(), b"offers", day], request),
                None => EntityTag::following(&[served.stamp(), b"offers"], request),
            };
            Conditional::known(known, tag, || {
                let answer = offers::list(served, at, request.limit.get(), to.as_ref());
                Ok(json(answer.data.len() * 900 + 256, &answer))
            })
        })
    }
}
