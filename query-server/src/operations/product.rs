use api::EntityTag;
use data_model::{Pincode, ProductIdent};

use super::{Answer, Conditional, DeliveryTo, IfNoneMatch, OperationError};
use crate::delivery::Destination;
use crate::render::{json, product};
use crate::schema::ProductAnswer;
use crate::server::QueryServer;

/// The parts of a product's detail that are wanted; by default all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Include {
    /// Variants that can be bought.
    pub variants: bool,
    /// Pictures and videos.
    pub media: bool,
    /// Price and availability of each variant.
    pub offers: bool,
    /// Structured attributes and the description.
    pub attributes: bool,
    /// The latest reviews.
    pub reviews: bool,
}

impl Include {
    /// All five.
    pub const ALL: Self = Self {
        variants: true,
        media: true,
        offers: true,
        attributes: true,
        reviews: true,
    };
    /// The card alone.
    pub const NONE: Self = Self {
        variants: false,
        media: false,
        offers: false,
        attributes: false,
        reviews: false,
    };
    /// The parts' names.
    pub const NAMES: [&'static str; 5] = ["variants", "media", "offers", "attributes", "reviews"];

    /// Adds a part by its name; `false` when there is none of this name.
    #[must_use]
    pub fn add(&mut self, part: &str) -> bool {
        let wanted = match part {
            "variants" => &mut self.variants,
            "media" => &mut self.media,
            "offers" => &mut self.offers,
            "attributes" => &mut self.attributes,
            "reviews" => &mut self.reviews,
            _ => return false,
        };
        *wanted = true;
        true
    }
}

impl Default for Include {
    fn default() -> Self {
        Self::ALL
    }
}

/// A question for one product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ProductRequest {
    /// The product.
    pub product: ProductIdent,
    /// The parts of it that are wanted.
    pub include: Include,
    /// The pincode to deliver to; `None` tells nothing of delivery.
    pub pincode: Option<Pincode>,
}

impl QueryServer {
    /// One product, with the parts that are wanted.
    ///
    /// # Errors
    /// `ProductNotFound`, `NotReady`.
    pub fn product(&self, request: &ProductRequest) -> Result<Answer, OperationError> {
        self.product_unless(request, IfNoneMatch::NOTHING)?.whole()
    }

    /// The outcome of `read` on one product.
    ///
    /// # Errors
    /// As [`QueryServer::product`].
    pub fn product_with<T>(
        &self,
        request: &ProductRequest,
        read: impl FnOnce(&ProductAnswer<'_>) -> T,
    ) -> Result<T, OperationError> {
        let to = self.delivered_to(request);
        self.at_once(|served| {
            let at = served.find(&request.product)?;
            Ok(read(&product::answer(served, at, request.include, to.as_ref())?))
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
        self.at_once(|served| {
            let at = served.find(&request.product)?;
            let day = to.as_ref().map(Destination::stamp);
            let tag = match &day {
                Some(day) => EntityTag::following(&[served.stamp(), b"product", day], request),
                None => EntityTag::following(&[served.stamp(), b"product"], request),
            };
            Conditional::known(known, tag, || {
                Ok(json(4096, &product::answer(served, at, request.include, to.as_ref())?))
            })
        })
    }
}
