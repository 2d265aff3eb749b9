//! Model of a variant's history and a store's current state, implemented from the rules (ADR 023 and 036) independently
//! of the program.

/// Number of minutes by which a stored time may be ahead of now. A later time comes from a wrong clock.
const SKEW: i64 = 5;

/// Price of each variant. `None` if the variant is not listed.
pub(super) type Prices = [Option<u8>; 4];

/// Live response about the two variants of a product. Each variant has a price, is gone (`Some(None)`), or is not
/// mentioned (`None`).
pub(super) type LiveWords = [Option<Option<u8>>; 2];

/// Reading of a variant at this minute, with its price. `None` if the variant was gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) minute: i64,
    pub(super) price: Option<u8>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LiveReading {
    pub(super) minute: i64,
    pub(super) product: usize,
    pub(super) told: LiveWords,
}

/// Prices that a crawl found, and the minutes of its first and last page.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrawlReading {
    pub(super) prices: Prices,
    pub(super) began: i64,
    pub(super) ended: i64,
}

/// Current state of a store, which a restore can bring back.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StoreContent {
    /// Last crawl that found a change. `None` if the lake does not have the brand.
    pub(super) crawled: Option<CrawlReading>,
    /// Newer readings of variants: live responses, or unchanged crawls that contradicted a live response.
    live: [Option<Word>; 4],
}

impl StoreContent {
    fn price(&self, index: usize) -> Option<u8> {
        let crawled = self.crawled.and_then(|crawled| crawled.prices[index]);
        self.live[index].map_or(crawled, |word| word.price)
    }
}

/// Expected state of one store: the later reading wins, whatever its source. Times in the future of the clock are
/// ignored.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Changes of each variant, in the order in which they were merged.
    pub(super) changes: [Vec<Word>; 4],
    /// Every reading that differed from the current one. A repeated reading is not a second change.
    said: [Vec<Word>; 4],
    pub(super) present: StoreContent,
}

impl Model {
    /// Merges a reading that is newer than the current one. Returns `true` if the price differs.
    fn say(&mut self, index: usize, word: Word) -> bool {
        let is_another = self.present.price(index) != word.price;
        if is_another && !self.said[index].contains(&word) {
            self.said[index].push(word);
            // A price that was undone and is found again has not changed.
            if self.changes[index].last().and_then(|last| last.price) != word.price {
                self.changes[index].push(word);
            }
        }
        is_another
    }

    /// Returns `false` if some pages of the crawl may be older than the stored content.
    pub(super) fn crawl(&mut self, reading: CrawlReading, now: i64) -> bool {
        let CrawlReading { prices, began, ended } = reading;
        let is_newer = |at: i64| began < at && at <= now + SKEW;
        let is_changed = self.present.crawled.is_none_or(|known| known.prices != prices);
        if is_changed && self.present.crawled.is_some_and(|known| is_newer(known.ended)) {
            return false;
        }
        for (index, price) in prices.into_iter().enumerate() {
            let live = self.present.live[index];
            // A live reading from during the crawl counts as newer.
            if live.is_some_and(|word| is_newer(word.minute)) {
                continue;
            }
            let word = Word { minute: ended, price };
            let is_another = self.say(index, word);
            self.present.live[index] = match live {
                Some(_) if is_changed => None,
                Some(_) if is_another => Some(word),
                unchanged => unchanged,
            };
        }
        if is_changed {
            self.present.crawled = Some(reading);
        }
        true
    }

    /// Rereads the pages of a crawl to replace the content `instead_of`. If the content has changed since, nothing is
    /// replaced. Rereading adds no observation. If the lake does not have the brand, the reread pages are the first
    /// crawl of the brand.
    pub(super) fn backfill(&mut self, reading: CrawlReading, now: i64, instead_of: Option<Prices>) {
        let has = self.present.crawled.map(|known| known.prices);
        if has == Some(reading.prices) || has != instead_of {
            return;
        }
        if has.is_none() {
            self.crawl(reading, now);
            return;
        }
        for live in &mut self.present.live {
            *live = live.filter(|word| reading.began < word.minute && word.minute <= now + SKEW);
        }
        self.present.crawled = Some(reading);
    }

    pub(super) fn live(&mut self, observed: LiveReading, now: i64) {
        let LiveReading { minute, product, told } = observed;
        let StoreContent { crawled, live } = self.present;
        let variants = product * 2..product * 2 + 2;
        let lists = |index: usize| crawled.is_some_and(|known| known.prices[index].is_some());
        let is_known = variants.clone().any(|index| lists(index) || live[index].is_some());
        let Some(crawled) = crawled.filter(|_| is_known && minute <= now + SKEW) else {
            return;
        };
        let is_older = |at: i64| at < minute || at > now + SKEW;
        for (index, told) in variants.zip(told) {
            let is_newest = is_older(crawled.ended) && live[index].is_none_or(|word| is_older(word.minute));
            if let Some(price) = told.filter(|_| is_newest) {
                let word = Word { minute, price };
                self.say(index, word);
                self.present.live[index] = Some(word);
            }
        }
    }

    /// Restores crawled prices, and live readings only if requested. Histories stay.
    pub(super) fn restore(&mut self, then: StoreContent, is_live_too: bool) {
        self.present.crawled = then.crawled;
        if is_live_too {
            self.present.live = then.live;
        }
    }
}
