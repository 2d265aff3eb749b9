use data_index::RowAddress;
use data_model::{ProductIdent, ResolvedProducts, StoredProduct, StoredVariant};

use super::OperationError;
use super::stored_brand::stored;
use crate::served::ReleaseView;
use crate::server::QueryServer;

/// Maximum length of a description in bytes. Stores state discount codes at the start of a description or not at all.
const DESCRIPTION_BYTES_MAX: usize = 8_192;

/// Maximum number of idents in one request.
pub const IDENTS_MAX: usize = 20;

impl QueryServer {
    /// Returns the facts that are needed to query stores about products, and the stored facts that replace missing live
    /// answers. Each ident has one entry, in order, and all are from one release.
    ///
    /// # Errors
    /// `TooManyIdents` for more than [`IDENTS_MAX`], `NotReady`.
    pub fn resolve(&self, idents: &[ProductIdent]) -> Result<ResolvedProducts, OperationError> {
        if idents.len() > IDENTS_MAX {
            return Err(OperationError::TooManyIdents {
                max: IDENTS_MAX,
                asked: idents.len(),
            });
        }
        let served = self.served()?;
        // Positions of the brands in the release, in the order of the answer.
        let mut brands: Vec<usize> = Vec::new();
        let products = idents.iter().map(|ident| {
            let at = served.release.find(ident)?;
            let position = served.release.part(at.part)?.brand_index(at.row);
            let brand = brands.iter().position(|known| *known == position).unwrap_or_else(|| {
                brands.push(position);
                brands.len() - 1
            });
            product(&served, at, brand)
        });
        let products = products.collect();
        let entries = brands.iter().filter_map(|at| served.release.brands().get(*at));
        Ok(ResolvedProducts {
            release: served.release.id(),
            brands: entries.map(stored).collect(),
            products,
        })
    }
}

/// Returns a product as the gateway needs it. `brand` is the index of the product's brand in the answer.
pub(super) fn product(served: &ReleaseView, at: RowAddress, brand: usize) -> Option<StoredProduct> {
    let part = served.release.part(at.part)?;
    let (cards, details) = (part.cards(), part.details().row(at.row));
    let description = details.description();
    let variants = details.variants().map(|variant| StoredVariant {
        id: variant.id,
        title: variant.title.to_owned(),
        sku: variant.sku.map(str::to_owned),
        price_minor: variant.price_minor,
        compare_at_minor: variant.compare_at_minor,
        available: variant.available,
    });
    Some(StoredProduct {
        id: cards.id(at.row),
        product_uid: cards.uid(at.row),
        platform_id: details.platform_id(),
        brand,
        handle: details.handle().to_owned(),
        title: cards.title(at.row).to_owned(),
        description: description[..description.floor_char_boundary(DESCRIPTION_BYTES_MAX)].to_owned(),
        currency: cards.currency(at.row),
        variants_complete: cards.variants_complete(at.row),
        variants: variants.collect(),
    })
}
