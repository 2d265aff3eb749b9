use data_model::{
    Attribute, Brand, BrandRefresh, Media, OptionValue, Product, ProductOption, Quarantined, Rating, Review,
    ShippingPolicy, ShippingTier, Timestamp, Variant,
};
use sha2::{Digest, Sha256};

/// A refresh whose products are in order and each there once, with the hash of its content.
#[derive(Debug, Clone, PartialEq)]
pub struct HashedRefresh {
    pub(crate) refresh: BrandRefresh,
    pub(crate) hash: String,
}

impl HashedRefresh {
    /// Sorts the products by their id, of several with one id keeps the first, and hashes what is left.
    #[must_use]
    pub fn new(mut refresh: BrandRefresh) -> Self {
        let id = |product: &Product| product.key.platform_id;
        if !refresh.products.is_sorted_by_key(id) {
            refresh.products.sort_by_key(id);
        }
        refresh.products.dedup_by_key(|product| product.key.platform_id);
        let hash = content_hash(&refresh);
        Self { refresh, hash }
    }

    /// [`content_hash`] of it.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// What was hashed.
    #[must_use]
    pub const fn refresh(&self) -> &BrandRefresh {
        &self.refresh
    }
}

/// SHA-256, in hex, over everything that the lake holds of a brand: what the store says of itself, its products,
/// its shipping terms and which records could not be understood.
///
/// Left out is what moves without a change: `updated_at`, the run, the time of the crawl, and the wording of
/// quarantined records. Two refreshes with the same hash are the same content.
#[must_use]
pub fn content_hash(refresh: &BrandRefresh) -> String {
    let BrandRefresh {
        brand,
        run: _,
        observed_at: _,
        products,
        shipping,
        quarantined,
    } = refresh;
    let mut hash = Content::default();
    hash.brand(brand);
    hash.list(products, Content::product);
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
    hash.finish()
}

/// Every value is written so that no two different sequences of values give the same bytes: texts and lists
/// begin with their length, options with whether they are there.
#[derive(Default)]
struct Content {
    hash: Sha256,
    /// Written, and not yet hashed: most values are shorter than the blocks that a hash works in.
    waiting: Vec<u8>,
}

/// So much waits at most before it is hashed.
const WAITING_MAX: usize = 16 << 10;

impl Content {
    fn bytes(&mut self, bytes: &[u8]) {
        if self.waiting.len() + bytes.len() > WAITING_MAX {
            self.hash.update(&self.waiting);
            self.waiting.clear();
            if bytes.len() > WAITING_MAX {
                self.hash.update(bytes);
                return;
            }
        }
        self.waiting.extend_from_slice(bytes);
    }

    fn finish(mut self) -> String {
        self.hash.update(&self.waiting);
        hex::encode(self.hash.finalize())
    }

    fn number(&mut self, number: impl Into<i128>) {
        self.bytes(&number.into().to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.bytes(&(text.len() as u64).to_le_bytes());
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
        self.bytes(&(values.len() as u64).to_le_bytes());
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
            logo,
            description,
        } = brand;
        for text in [store.as_str(), slug.as_str(), name, domain, base_url, currency.as_str()] {
            self.text(text);
        }
        [country, logo, description]
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
            category,
            tags,
            options,
            attributes,
            media,
            variants,
            currency,
            rating,
            reviews,
            created_at,
            published_at,
            updated_at: _,
        } = product;
        self.text(key.store.as_str());
        self.number(key.platform_id);
        [handle, title, description]
            .into_iter()
            .for_each(|text| self.text(text));
        [vendor, product_type]
            .into_iter()
            .for_each(|text| self.maybe_text(text.as_ref()));
        self.maybe(*category, |hash, category| hash.number(category.0));
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
        self.maybe(*rating, |hash, Rating { average, count }| {
            hash.number(average.to_bits());
            hash.number(count);
        });
        self.list(reviews, Self::review);
        self.maybe_moment(*created_at);
        self.maybe_moment(*published_at);
    }

    fn variant(&mut self, variant: &Variant) {
        let Variant {
            id,
            title,
            sku,
            options,
            price_minor,
            compare_at_minor,
            available,
            grams,
            image,
        } = variant;
        self.number(id.0);
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
        } = policy;
        self.text(currency.as_str());
        self.maybe(*free_shipping_threshold_minor, Self::number);
        self.maybe(*cod_available, Self::flag);
        self.list(tiers, |hash, tier| {
            let ShippingTier {
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
