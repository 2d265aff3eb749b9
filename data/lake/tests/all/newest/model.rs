//! A variant's history and the present of a store as the rules have them (ADR 023 and 036); the program is not looked at.

/// A stored moment that is later than now by more minutes is of a clock that was wrong.
const SKEW: i64 = 5;

/// The price of each variant; `None` of one that is not listed.
pub(super) type Prices = [Option<u8>; 4];

/// The words of a store on the two variants of a product, live: of each a price, that it is gone, or nothing.
pub(super) type LiveWords = [Option<Option<u8>>; 2];

/// A reading of a variant at this minute: its price; `None` when it was gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) minute: i64,
    pub(super) price: Option<u8>,
}

/// The live answer about a product, and its moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct LiveReading {
    pub(super) minute: i64,
    pub(super) product: usize,
    pub(super) told: LiveWords,
}

/// The prices that a crawl found, and the minutes of its first and its last page.
#[derive(Debug, Clone, Copy)]
pub(super) struct CrawlReading {
    pub(super) prices: Prices,
    pub(super) began: i64,
    pub(super) ended: i64,
}

/// The state of a store now. A restore brings it back as it was.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StoreContent {
    /// The last crawl that found something else than the one before it; `None` while the lake does not have the brand.
    pub(super) crawled: Option<CrawlReading>,
    /// The word on a variant that was seen live since, or on which a crawl that found nothing else said another word then.
    live: [Option<Word>; 4],
}

impl StoreContent {
    fn price(&self, index: usize) -> Option<u8> {
        let crawled = self.crawled.and_then(|crawled| crawled.prices[index]);
        self.live[index].map_or(crawled, |word| word.price)
    }
}

/// One store by the rule: the later reading wins, whoever brings it, and nothing is known of the time of what is ahead of now.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Each change of a variant, in the order in which it was told.
    pub(super) changes: [Vec<Word>; 4],
    /// Every word that was another than the present one. A reading that comes a second time is no second change.
    said: [Vec<Word>; 4],
    pub(super) present: StoreContent,
}

impl Model {
    /// Takes in a word that is newer than the present one; `true` where it says something else.
    fn say(&mut self, index: usize, word: Word) -> bool {
        let is_another = self.present.price(index) != word.price;
        if is_another && !self.said[index].contains(&word) {
            self.said[index].push(word);
            // A price that was taken back and is found again has not changed.
            if self.changes[index].last().and_then(|last| last.price) != word.price {
                self.changes[index].push(word);
            }
        }
        is_another
    }

    /// A crawl; `false` where some of its pages may be older than what the lake has.
    pub(super) fn crawl(&mut self, reading: CrawlReading, now: i64) -> bool {
        let CrawlReading { prices, began, ended } = reading;
        let is_newer = |at: i64| began < at && at <= now + SKEW;
        let is_changed = self.present.crawled.is_none_or(|known| known.prices != prices);
        if is_changed && self.present.crawled.is_some_and(|known| is_newer(known.ended)) {
            return false;
        }
        for (index, price) in prices.into_iter().enumerate() {
            let live = self.present.live[index];
            // A word that was seen live while it read is newer, for all that is known.
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

    /// The pages of a crawl are read again, to take the place of what the lake had when that was decided. Nothing is observed
    /// by that, unless the lake does not have the brand: then it is the first word.
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

    /// Crawled prices go back to what they were, and words that were seen live only where that is asked for too. Histories
    /// stay.
    pub(super) fn restore(&mut self, then: StoreContent, is_live_too: bool) {
        self.present.crawled = then.crawled;
        if is_live_too {
            self.present.live = then.live;
        }
    }
}
