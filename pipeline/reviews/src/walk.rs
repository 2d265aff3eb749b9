//! Compares the list of a store's reviews, page by page, with the stored reviews. The module does no I/O.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use data_lake::REFUSED_REVIEWS_MAX;
use data_model::{Quarantined, ReviewWidget, StoreHost, WidgetReview};
use pipeline_widgets::{FeedPage, FeedReview, Next, ProductRef, RejectedRecord};
use serde::{Deserialize, Serialize};

use crate::state::{StoreState, Walk};

const REFUSED_MAX: usize = 50;

/// Listing of a store's products, to find them by ids and handles.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct StoreListing {
    ids: BTreeSet<u64>,
    by_handle: HashMap<String, u64>,
}

impl StoreListing {
    pub(crate) fn new(handles: BTreeMap<u64, String>) -> Self {
        Self {
            ids: handles.keys().copied().collect(),
            by_handle: handles.into_iter().map(|(id, handle)| (handle, id)).collect(),
        }
    }

    /// Returns the listing of the products to which the reviews of a page refer.
    pub(crate) fn named_by(&self, page: &FeedPage) -> Self {
        let mut named = Self::default();
        for review in &page.reviews {
            if let Some(id) = self.find(&review.product) {
                named.ids.insert(id);
                if let ProductRef::Handle(handle) = &review.product {
                    named.by_handle.insert(handle.clone(), id);
                }
            }
        }
        named
    }

    fn find(&self, product: &ProductRef) -> Option<u64> {
        match product {
            ProductRef::Id(id) => self.ids.contains(id).then_some(*id),
            ProductRef::Handle(handle) => self.by_handle.get(handle).copied(),
            ProductRef::Unknown => None,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct ReadingFinds {
    /// All reviews of the app by id, in their current state.
    pub(crate) held: HashMap<String, WidgetReview>,
    /// Ids of new and changed reviews.
    pub(crate) put: BTreeSet<String>,
    /// Removed reviews with their last content.
    pub(crate) gone: BTreeMap<String, WidgetReview>,
    /// Products with changed reviews.
    pub(crate) products: BTreeSet<u64>,
    pub(crate) added: u64,
    pub(crate) edited: u64,
    pub(crate) refused: Vec<RejectedRecord>,
    /// Refused records for the quarantine, by their quarantine subject.
    quarantined: BTreeMap<String, RejectedRecord>,
    /// Subjects that are already in quarantine.
    held_refused: BTreeSet<String>,
    /// Subjects that leave the quarantine because their record is no longer refused.
    refused_gone: BTreeSet<String>,
}

impl ReadingFinds {
    pub(crate) fn new(held: impl IntoIterator<Item = WidgetReview>, refused: &[Quarantined]) -> Self {
        Self {
            held: held.into_iter().map(|review| (review.id.clone(), review)).collect(),
            held_refused: refused.iter().map(|one| one.subject.clone()).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn refuse(&mut self, subject: String, refused: RejectedRecord) {
        self.refused_gone.remove(&subject);
        if self.quarantined.len() < REFUSED_REVIEWS_MAX || self.quarantined.contains_key(&subject) {
            self.quarantined.insert(subject, refused);
        }
    }

    pub(crate) fn understand(&mut self, subject: impl FnOnce() -> String) {
        if self.quarantined.is_empty() && self.held_refused.is_empty() {
            return;
        }
        let subject = subject();
        self.quarantined.remove(&subject);
        if self.held_refused.contains(&subject) {
            self.refused_gone.insert(subject);
        }
    }

    pub(crate) fn drop_other_apps(&mut self, widget: ReviewWidget) {
        let own = format!("{widget} ");
        let others = self.held_refused.iter().filter(|subject| !subject.starts_with(&own));
        self.refused_gone.extend(others.cloned());
    }

    /// Returns the records for the quarantine, and the subjects that leave it.
    pub(crate) fn quarantine(&mut self, store: &StoreHost) -> (Vec<Quarantined>, Vec<String>) {
        let records = std::mem::take(&mut self.quarantined).into_iter();
        let records = records.map(|(subject, refused)| Quarantined {
            store: store.clone(),
            subject,
            reason: refused.reason,
            excerpt: refused.excerpt,
        });
        let gone = std::mem::take(&mut self.refused_gone).into_iter();
        (records.collect(), gone.collect())
    }

    /// Returns true if all reviews of a page are already stored with the same content, or known to be set aside.
    pub(crate) fn has_all(
        &self,
        widget: ReviewWidget,
        page: &FeedPage,
        listed: &StoreListing,
        state: &StoreState,
    ) -> bool {
        let is_held = |review: &FeedReview| match listed.find(&review.product) {
            Some(product) => self.held.get(&review.id) == Some(&made(widget, product, review)),
            None => state.aside.contains(&review.id),
        };
        page.reviews.iter().all(is_held) && {
            let first = Next::Page(1);
            let mut refused = page.refused.iter();
            refused.all(|one| state.aside.contains(&aside_name(&first, one)))
        }
    }

    /// Returns true if the page has a record that no earlier page of this reading had.
    pub(crate) fn take(
        &mut self,
        widget: ReviewWidget,
        page: FeedPage,
        listed: &StoreListing,
        walk: &mut Walk,
        aside: &mut BTreeSet<String>,
    ) -> bool {
        let is_fresh = is_fresh(&page, walk);
        for review in page.reviews {
            walk.seen.insert(review.id.clone());
            self.understand(|| subject_of(widget, &review.id));
            let Some(product) = listed.find(&review.product) else {
                aside.insert(review.id.clone());
                self.leave(&review.id);
                continue;
            };
            aside.remove(&review.id);
            let review = made(widget, product, &review);
            let before = self.held.get(&review.id);
            if before == Some(&review) {
                continue;
            }
            match before {
                Some(before) => {
                    self.products.insert(before.product);
                    self.edited += 1;
                }
                None => self.added += 1,
            }
            self.products.insert(product);
            self.gone.remove(&review.id);
            self.put.insert(review.id.clone());
            self.held.insert(review.id.clone(), review);
        }
        for refused in page.refused {
            // A record without an id on a repeated page was seen before in another position.
            if !is_fresh && !has_id(&refused) {
                continue;
            }
            let name = aside_name(&walk.next, &refused);
            walk.seen.insert(name.clone());
            self.refuse(subject_of(widget, &name), refused.clone());
            aside.insert(name);
            self.leave(&refused.subject);
            if self.refused.len() < REFUSED_MAX && !self.refused.contains(&refused) {
                self.refused.push(refused);
            }
        }
        is_fresh
    }

    pub(crate) fn unseen(&self, walk: &Walk) -> Vec<String> {
        let unseen = self.held.keys().filter(|id| !walk.seen.contains(*id));
        unseen.cloned().collect()
    }

    pub(crate) fn restore(&mut self) {
        for (id, review) in std::mem::take(&mut self.gone) {
            self.held.entry(id).or_insert(review);
        }
    }

    pub(crate) fn drop_unseen(&mut self, widget: ReviewWidget, walk: &Walk) {
        if !(self.held_refused.is_empty() && self.quarantined.is_empty()) {
            let seen: BTreeSet<String> = walk.seen.iter().map(|name| subject_of(widget, name)).collect();
            let ratings = rating_subject(widget, "");
            let is_gone = |subject: &&String| !seen.contains(*subject) && !subject.starts_with(&ratings);
            self.refused_gone
                .extend(self.held_refused.iter().filter(is_gone).cloned());
            self.quarantined.retain(|subject, _| !is_gone(&subject));
        }
        self.unseen(walk).iter().for_each(|id| self.leave(id));
    }

    fn leave(&mut self, id: &str) {
        if let Some(review) = self.held.remove(id) {
            self.products.insert(review.product);
            self.put.remove(id);
            self.gone.insert(id.to_owned(), review);
        }
    }

    pub(crate) fn stars(&self) -> f64 {
        self.held.values().map(|review| f64::from(review.review.rating)).sum()
    }

    pub(crate) fn reviewed(&self) -> BTreeSet<u64> {
        self.held.values().map(|review| review.product).collect()
    }
}

/// Returns true if a page has a record that no earlier page of this reading had. Records without an id are identified
/// by position only if the page has no ids at all.
fn is_fresh(page: &FeedPage, walk: &Walk) -> bool {
    let of_refused = page.refused.iter().filter(|refused| has_id(refused));
    let of_refused = of_refused.map(|refused| refused.subject.as_str());
    let ids: Vec<&str> = page
        .reviews
        .iter()
        .map(|review| review.id.as_str())
        .chain(of_refused)
        .collect();
    match ids.is_empty() {
        true => page
            .refused
            .iter()
            .any(|one| !walk.seen.contains(&aside_name(&walk.next, one))),
        false => ids.into_iter().any(|id| !walk.seen.contains(id)),
    }
}

fn has_id(refused: &RejectedRecord) -> bool {
    !refused.subject.contains(' ')
}

/// Returns the name under which a refused record is set aside: its id, or else its position.
fn aside_name(page: &Next, refused: &RejectedRecord) -> String {
    if has_id(refused) {
        return refused.subject.clone();
    }
    match page {
        Next::Page(page) => format!("page {page} {}", refused.subject),
        Next::Link(link) => format!("{link} {}", refused.subject),
    }
}

/// Returns the quarantine subject of a refused record that is set aside under this name.
fn subject_of(widget: ReviewWidget, name: &str) -> String {
    match name.contains(' ') {
        true => format!("{widget} {name}"),
        false => format!("{widget} review {name}"),
    }
}

pub(crate) fn rating_subject(widget: ReviewWidget, product: impl std::fmt::Display) -> String {
    format!("{widget} product {product}")
}

fn made(widget: ReviewWidget, product: u64, review: &FeedReview) -> WidgetReview {
    WidgetReview {
        widget,
        id: review.id.clone(),
        product,
        review: review.review.clone(),
        is_verified: review.is_verified,
    }
}
