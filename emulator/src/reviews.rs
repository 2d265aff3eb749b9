//! Reviews of a store, generated from its seed and changed on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use data_model::ReviewWidget;
use serde::Serialize;

use crate::catalogue::Catalogue;
use crate::generated::dice::{Dice, fold, uuid};
use crate::generated::{epoch_s, push_moment};
use crate::product::Product;

/// One review in an emulated review app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmulatedReview {
    /// Id of the review in the review app.
    pub id: String,
    /// Product id on the platform.
    pub product: u64,
    /// Handle of the reviewed product.
    pub handle: String,
    /// Rating of the review, from 1 to 5 stars.
    pub stars: u8,
    /// Name of the review's author.
    pub author: String,
    /// Headline of the review; may be empty.
    pub title: String,
    /// Text of the review; may be empty.
    pub text: String,
    /// Time of the review, in UTC.
    pub created_at: String,
    /// True if the author bought the product.
    pub verified: bool,
}

/// The true reviews and ratings of a store.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReviewsTruth {
    /// The store's review app.
    pub widget: ReviewWidget,
    /// All reviews, newest first.
    pub reviews: Vec<EmulatedReview>,
    /// Number of reviews of each product, and their mean as the app states it.
    pub ratings: BTreeMap<u64, (u32, f64)>,
}

/// Epoch and app for which reviews were generated.
type DrawnFor = (u64, ReviewWidget);

/// Changes made to the reviews on demand.
#[derive(Debug, Default)]
pub(crate) struct ReviewBook {
    added: Vec<EmulatedReview>,
    edited: BTreeMap<String, (u8, String)>,
    deleted: BTreeSet<String>,
    /// App that was set on demand. The inner `None` means no app.
    app: Option<Option<ReviewWidget>>,
    /// Reviews generated once for each epoch and app.
    drawn: Option<(DrawnFor, Arc<Vec<EmulatedReview>>)>,
}

const AUTHORS: &[&str] = &[
    "Priya S.",
    "Rahul",
    "Ananya Iyer",
    "J. D'Souza",
    "Zoë",
    "Ritu & Aman",
    "Tomás",
    "Harpreet",
];
const TEXTS: &[(&str, &str)] = &[
    (
        "Lovely",
        "Exactly as in the pictures, and better than I expected at this price.",
    ),
    ("", "Superb finish, fast delivery."),
    ("Five stars", "My whole family uses it now. बहुत अच्छा!"),
    (
        "Good but…",
        "Nice product & neat packing.\nDelivery took more than a week though.",
    ),
    (
        "Not for me",
        "Smaller than I thought. Check the \"measurements\" before you buy.",
    ),
    ("", ""),
];

impl ReviewBook {
    fn id(widget: ReviewWidget, number: u64) -> String {
        match widget {
            ReviewWidget::Judgeme | ReviewWidget::Okendo => uuid(number, 11),
            ReviewWidget::Yotpo | ReviewWidget::Stamped => (fold(&[number, 12]) >> 24).to_string(),
        }
    }

    fn drawn(&mut self, catalogue: &Catalogue, epoch: u64, widget: ReviewWidget) -> Arc<Vec<EmulatedReview>> {
        if let Some((of, drawn)) = &self.drawn
            && *of == (epoch, widget)
        {
            return Arc::clone(drawn);
        }
        let places = catalogue.places(epoch);
        let products = (0..places.len()).filter_map(|nth| Product::read(catalogue, places.get(nth)?, epoch));
        let reviews = products.flat_map(|product| draw(widget, &product)).collect();
        let drawn = Arc::new(reviews);
        self.drawn = Some(((epoch, widget), Arc::clone(&drawn)));
        drawn
    }

    /// Returns all current reviews, the newest first.
    fn all(&mut self, catalogue: &Catalogue, epoch: u64, widget: ReviewWidget) -> Vec<EmulatedReview> {
        let mut reviews: Vec<EmulatedReview> = self.drawn(catalogue, epoch, widget).as_ref().clone();
        reviews.extend(self.added.iter().cloned());
        reviews.retain(|review| !self.deleted.contains(&review.id));
        for review in &mut reviews {
            if let Some((stars, text)) = self.edited.get(&review.id) {
                (review.stars, review.text) = (*stars, text.clone());
            }
        }
        reviews.sort_by(|one, other| (&other.created_at, &other.id).cmp(&(&one.created_at, &one.id)));
        reviews
    }

    /// Returns the store's current app, where `own` is the app from its seed.
    pub(crate) fn app(&self, own: Option<ReviewWidget>) -> Option<ReviewWidget> {
        self.app.unwrap_or(own)
    }

    pub(crate) fn use_app(&mut self, app: Option<ReviewWidget>) {
        self.app = Some(app);
    }

    /// Returns the reviews and ratings as the app states them.
    pub(crate) fn truth(&mut self, catalogue: &Catalogue, epoch: u64, widget: ReviewWidget) -> ReviewsTruth {
        let reviews = self.all(catalogue, epoch, widget);
        let mut sums: BTreeMap<u64, (u32, u64)> = BTreeMap::new();
        for review in &reviews {
            let sum = sums.entry(review.product).or_default();
            *sum = (sum.0 + 1, sum.1 + u64::from(review.stars));
        }
        let rating = |(product, (count, stars)): (u64, (u32, u64))| (product, (count, mean(widget, count, stars)));
        ReviewsTruth {
            widget,
            ratings: sums.into_iter().map(rating).collect(),
            reviews,
        }
    }

    /// Adds a review of a product as the newest one and returns its id.
    pub(crate) fn add(&mut self, widget: ReviewWidget, product: Product, stars: u8, text: &str) -> String {
        let nth = self.added.len() as u64;
        let mut date = Vec::new();
        push_moment(&mut date, epoch_s(1, nth), "Z");
        let id = Self::id(widget, fold(&[product.id, 0xadd, nth]));
        self.added.push(EmulatedReview {
            id: id.clone(),
            product: product.id,
            handle: product.handle,
            stars,
            author: "Added".to_owned(),
            title: String::new(),
            text: text.to_owned(),
            created_at: String::from_utf8(date).unwrap_or_default(),
            verified: true,
        });
        id
    }

    pub(crate) fn edit(&mut self, id: &str, stars: u8, text: &str) {
        self.edited.insert(id.to_owned(), (stars, text.to_owned()));
    }

    pub(crate) fn delete(&mut self, id: &str) {
        self.deleted.insert(id.to_owned());
    }
}

fn draw(widget: ReviewWidget, product: &Product) -> Vec<EmulatedReview> {
    let mut dice = Dice::of(&[product.id, 0x0057_4944]);
    if dice.chance(250) {
        return Vec::new();
    }
    let count = if dice.chance(60) {
        dice.between(60, 130)
    } else {
        dice.between(1, 9)
    };
    let review = |nth: u64| {
        let (title, text) = dice.pick(TEXTS);
        let mut date = Vec::new();
        push_moment(
            &mut date,
            epoch_s(0, 0) - dice.between(1, 900) * 86_400 + dice.below(86_400),
            "Z",
        );
        EmulatedReview {
            id: ReviewBook::id(widget, fold(&[product.id, nth])),
            product: product.id,
            handle: product.handle.clone(),
            stars: if dice.chance(700) { 5 } else { dice.between(1, 5) as u8 },
            author: dice.pick(AUTHORS).to_owned(),
            title: title.to_owned(),
            text: text.to_owned(),
            created_at: String::from_utf8(date).unwrap_or_default(),
            verified: dice.chance(600),
        }
    };
    (0..count).map(review).collect()
}

/// Returns the mean in the app's format: Judge.me and Stamped state two decimals, Yotpo five, and Okendo a sum.
fn mean(widget: ReviewWidget, count: u32, stars: u64) -> f64 {
    let exact = stars as f64 / f64::from(count.max(1));
    let places: f64 = match widget {
        ReviewWidget::Judgeme | ReviewWidget::Stamped => 100.0,
        ReviewWidget::Yotpo => 100_000.0,
        ReviewWidget::Okendo => return exact,
    };
    (exact * places).round() / places
}
