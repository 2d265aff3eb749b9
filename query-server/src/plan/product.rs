use api::{PathParameters, Problem, QueryReader, Rule};
use data_model::{ErrorCode, ProductIdent};

/// Which parts of a product's detail are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Include {
    pub(crate) variants: bool,
    pub(crate) media: bool,
    pub(crate) offers: bool,
    pub(crate) attributes: bool,
    pub(crate) reviews: bool,
}

impl Include {
    const ALL: Self = Self {
        variants: true,
        media: true,
        offers: true,
        attributes: true,
        reviews: true,
    };

    fn add(&mut self, part: &str) -> bool {
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

/// A request for a product's detail, its parameters checked.
#[derive(Debug)]
pub(crate) struct ProductPlan {
    pub(crate) ident: ProductIdent,
    pub(crate) include: Include,
}

impl ProductPlan {
    /// Reads the parameters of `GET /v1/products/{ident}`.
    pub(crate) fn read(mut path: PathParameters, query: Option<&str>) -> Result<Self, Problem> {
        let mut reader = QueryReader::new(query);
        let ident = path.product_ident("ident");
        let mut include = Include::ALL;
        if let Some(parts) = reader.text("include", 200) {
            include = Include::default();
            for part in parts.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                if !include.add(part) {
                    let names = vec!["variants", "media", "offers", "attributes", "reviews"];
                    reader.refuse("include", &Rule::Enum(names), Some(part.into()));
                }
            }
        }
        let ident = reader
            .finish(path, ident)?
            .ok_or_else(|| Problem::new(ErrorCode::Internal))?;
        Ok(Self { ident, include })
    }
}
