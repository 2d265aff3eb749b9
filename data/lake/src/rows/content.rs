//! Serializes the content of catalogues into bytes for hashing.

use data_model::{
    Attribute, Brand, DeliveryRate, Gtin, Media, OptionValue, Product, ProductOption, Review, ShippingPolicy,
    Timestamp, Variant,
};
use sha2::{Digest as _, Sha256};

pub(crate) type Digest = [u8; 32];

/// Hashes a product without its store, category, `updated_at`, rating and reviews. The category is only settled once
/// all products of the store are known. `scratch` is a reusable buffer, which then contains the hashed bytes.
pub(crate) fn product_digest(product: &Product, scratch: &mut Vec<u8>) -> Digest {
    scratch.clear();
    let mut content = Content(std::mem::take(scratch));
    content.product(product);
    let digest = content.digest();
    *scratch = content.0;
    digest
}

/// Serializer in which different sequences of values never give the same bytes. Texts and lists start with their
/// length, and options start with a presence flag.
#[derive(Default)]
pub(crate) struct Content(Vec<u8>);

impl Content {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn digest(&self) -> Digest {
        Sha256::digest(&self.0).into()
    }

    pub(crate) fn number(&mut self, number: impl Into<i64>) {
        self.bytes(&number.into().to_le_bytes());
    }

    pub(crate) fn id(&mut self, id: u64) {
        self.bytes(&id.to_le_bytes());
    }

    pub(crate) fn length(&mut self, length: usize) {
        self.bytes(&(length as u64).to_le_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.length(text.len());
        self.bytes(text.as_bytes());
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.bytes(&[u8::from(flag)]);
    }

    pub(crate) fn maybe<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(crate) fn maybe_text(&mut self, text: Option<&String>) {
        self.maybe(text, |hash, text| hash.text(text));
    }

    pub(crate) fn maybe_moment(&mut self, moment: Option<Timestamp>) {
        self.maybe(moment, |hash, moment| hash.number(moment.micros()));
    }

    pub(crate) fn list<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.length(values.len());
        values.iter().for_each(|value| write(self, value));
    }

    pub(crate) fn texts(&mut self, texts: &[String]) {
        self.list(texts, |hash, text| hash.text(text));
    }

    pub(crate) fn brand(&mut self, brand: &Brand) {
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

    pub(crate) fn product(&mut self, product: &Product) {
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

    /// Writes a barcode as stated, together with its parsed form.
    pub(crate) fn barcode(&mut self, stated: Option<&str>) {
        self.maybe(stated, |hash, stated| {
            hash.text(stated);
            hash.maybe(Gtin::read(stated), |hash, gtin| hash.text(&gtin.to_string()));
        });
    }

    pub(crate) fn variant(&mut self, variant: &Variant) {
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

    pub(crate) fn review(&mut self, review: &Review) {
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

    pub(crate) fn shipping(&mut self, policy: &ShippingPolicy) {
        let ShippingPolicy {
            currency,
            free_shipping_threshold_minor,
            cod_available,
            tiers,
            // Terms that were read from a text are committed separately from crawls.
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
