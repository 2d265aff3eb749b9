use data_model::{
    Attribute, Brand, BrandRefresh, DeliveryRate, Gtin, Media, OptionValue, Product, ProductOption, Quarantined,
    Rating, Review, ShippingPolicy, StoreHost, Timestamp, Variant,
};
use sha2::Digest as _;
use sha2::Sha256;

use crate::LakeError;
use crate::rows::catalogue::{CatalogueRows, ProductRatings, StoreRows};

/// A refresh whose products are rows of the lake's tables, in order and each there once, with the hash of its content.
#[derive(Debug)]
pub struct HashedRefresh {
    pub(crate) refresh: BrandRefresh<StoreRows>,
    pub(crate) hash: String,
}

impl HashedRefresh {
    /// Makes rows of the products, sorted by their id, of several with one id the first, and hashes what is there.
    ///
    /// # Errors
    /// The rows do not fit columns: more than 2 GiB of one text column.
    pub fn new(refresh: BrandRefresh) -> Result<Self, LakeError> {
        let (refresh, products) = refresh.with_products(());
        let places = (0..products.len()).map(|row| (0, row)).collect();
        let products = CatalogueRows::new(vec![products.into_iter().collect()], places);
        Self::of_rows(refresh.with_products(products).0)
    }

    /// The same of products that are in columns already.
    ///
    /// # Errors
    /// As [`HashedRefresh::new`].
    pub fn of_rows(refresh: BrandRefresh<CatalogueRows>) -> Result<Self, LakeError> {
        let hash = content_hash(&refresh);
        let (refresh, products) = refresh.with_products(());
        let (refresh, ()) = refresh.with_products(products.finish()?);
        Ok(Self { refresh, hash })
    }

    /// The store of the catalogue.
    #[must_use]
    pub fn store(&self) -> &StoreHost {
        &self.refresh.brand.store
    }

    /// SHA-256, in hex, over everything that the lake holds of a brand: what the store says of itself, its products,
    /// its shipping terms and which records could not be understood.
    ///
    /// Left out is what moves without a change: `updated_at`, the run, the time of the crawl, and the wording of
    /// quarantined records. Two refreshes with the same hash are the same content.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// The hash that [`HashedRefresh::hash`] will be of these rows.
#[must_use]
pub fn content_hash(refresh: &BrandRefresh<CatalogueRows>) -> String {
    let BrandRefresh {
        brand,
        run: _,
        read_since: _,
        observed_at: _,
        products,
        shipping,
        quarantined,
    } = refresh;
    let mut hash = Content::default();
    hash.brand(brand);
    hash.length(products.len());
    products.digests().for_each(|digest| hash.bytes(digest));
    products
        .categories()
        .for_each(|category| hash.maybe(category, |hash, category| hash.number(category.0)));
    hash.length(products.rated().len());
    for (id, ProductRatings { rating, reviews }) in products.rated() {
        hash.id(*id);
        hash.maybe(*rating, |hash, Rating { average, count }| {
            hash.number(average.to_bits());
            hash.number(count);
        });
        hash.list(reviews, Content::review);
    }
    hash.maybe(shipping.as_ref(), Content::shipping);
    hash.list(quarantined, |hash, record| {
        let Quarantined {
            store: _,
            subject,
            reason,
            excerpt: _,
        } = record;
        hash.text(subject);
        hash.text(reason);
    });
    for (product, told) in products.told_barcodes() {
        for (variant, barcode) in told {
            hash.id(*product);
            hash.id(*variant);
            hash.barcode(Some(barcode));
        }
    }
    hex::encode(hash.digest())
}

/// SHA-256 of what a product's rows hold.
pub(crate) type Digest = [u8; 32];

/// Hashes a product but for its store, category, `updated_at`, rating and reviews: what category it has is settled when
/// all that its store sells is there. `scratch` is room to write it in, used again
/// from product to product; afterwards it is as long as what was hashed.
pub(crate) fn product_digest(product: &Product, scratch: &mut Vec<u8>) -> Digest {
    scratch.clear();
    let mut content = Content(std::mem::take(scratch));
    content.product(product);
    let digest = content.digest();
    *scratch = content.0;
    digest
}

/// Every value is written so that no two different sequences of values give the same bytes: texts and lists
/// begin with their length, options with whether they are there.
#[derive(Default)]
struct Content(Vec<u8>);

impl Content {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn digest(&self) -> Digest {
        Sha256::digest(&self.0).into()
    }

    fn number(&mut self, number: impl Into<i64>) {
        self.bytes(&number.into().to_le_bytes());
    }

    fn id(&mut self, id: u64) {
        self.bytes(&id.to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        self.bytes(&(length as u64).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.bytes(text.as_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.bytes(&[u8::from(flag)]);
    }

    fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn maybe_text(&mut self, text: Option<&String>) {
        self.maybe(text, |hash, text| hash.text(text));
    }

    fn maybe_moment(&mut self, moment: Option<Timestamp>) {
        self.maybe(moment, |hash, moment| hash.number(moment.micros()));
    }

    fn list<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.length(values.len());
        values.iter().for_each(|value| write(self, value));
    }

    fn texts(&mut self, texts: &[String]) {
        self.list(texts, |hash, text| hash.text(text));
    }

    fn brand(&mut self, brand: &Brand) {
        let Brand {
            store,
            slug,
            name,
            domain,
            base_url,
            currency,
            country,
            crawl_country,
            logo,
            description,
        } = brand;
        for text in [store.as_str(), slug.as_str(), name, domain, base_url, currency.as_str()] {
            self.text(text);
        }
        [country, logo, description, crawl_country]
            .into_iter()
            .for_each(|text| self.maybe_text(text.as_ref()));
    }

    fn product(&mut self, product: &Product) {
        let Product {
            key,
            handle,
            title,
            description,
            vendor,
            product_type,
            category: _,
            tags,
            options,
            attributes,
            media,
            variants,
            currency,
            rating: _,
            reviews: _,
            created_at,
            published_at,
            updated_at: _,
        } = product;
        self.id(key.platform_id);
        [handle, title, description]
            .into_iter()
            .for_each(|text| self.text(text));
        [vendor, product_type]
            .into_iter()
            .for_each(|text| self.maybe_text(text.as_ref()));
        self.texts(tags);
        self.list(options, |hash, ProductOption { name, values }| {
            hash.text(name);
            hash.texts(values);
        });
        self.list(attributes, |hash, Attribute { name, values }| {
            hash.text(name);
            hash.texts(values);
        });
        self.list(
            media,
            |hash,
             Media {
                 url,
                 kind,
                 alt,
                 width,
                 height,
             }| {
                hash.text(url);
                hash.text(kind.as_str());
                hash.maybe_text(alt.as_ref());
                hash.maybe(*width, Self::number);
                hash.maybe(*height, Self::number);
            },
        );
        self.list(variants, Self::variant);
        self.text(currency.as_str());
        self.maybe_moment(*created_at);
        self.maybe_moment(*published_at);
    }

    /// A barcode as stated, and what is made of it.
    fn barcode(&mut self, stated: Option<&str>) {
        self.maybe(stated, |hash, stated| {
            hash.text(stated);
            hash.maybe(Gtin::read(stated), |hash, gtin| hash.text(&gtin.to_string()));
        });
    }

    fn variant(&mut self, variant: &Variant) {
        let Variant {
            id,
            title,
            sku,
            barcode,
            size,
            options,
            price_minor,
            compare_at_minor,
            available,
            grams,
            image,
        } = variant;
        self.id(id.0);
        self.text(title);
        self.maybe_text(sku.as_ref());
        self.list(options, |hash, OptionValue { name, value }| {
            hash.text(name);
            hash.text(value);
        });
        self.number(*price_minor);
        self.maybe(*compare_at_minor, Self::number);
        self.flag(*available);
        self.maybe(*grams, Self::number);
        self.maybe_text(image.as_ref());
        self.barcode(barcode.as_deref());
        self.maybe(*size, |hash, size| hash.text(&size.to_string()));
    }

    fn review(&mut self, review: &Review) {
        let Review {
            rating,
            author,
            title,
            body,
            created_at,
        } = review;
        self.number(rating.to_bits());
        self.maybe_text(author.as_ref());
        self.maybe_text(title.as_ref());
        self.text(body);
        self.maybe_moment(*created_at);
    }

    fn shipping(&mut self, policy: &ShippingPolicy) {
        let ShippingPolicy {
            currency,
            free_shipping_threshold_minor,
            cod_available,
            tiers,
            // Terms that were read from a text are committed apart from crawls.
            terms: _,
        } = policy;
        self.text(currency.as_str());
        self.maybe(*free_shipping_threshold_minor, Self::number);
        self.maybe(*cod_available, Self::flag);
        self.list(tiers, |hash, tier| {
            let DeliveryRate {
                name,
                amount_minor,
                min_order_minor,
                max_order_minor,
                days_min,
                days_max,
            } = tier;
            hash.text(name);
            hash.number(*amount_minor);
            hash.maybe(*min_order_minor, Self::number);
            hash.maybe(*max_order_minor, Self::number);
            hash.maybe(*days_min, Self::number);
            hash.maybe(*days_max, Self::number);
        });
    }
}
