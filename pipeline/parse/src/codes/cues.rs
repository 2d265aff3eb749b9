use std::collections::HashSet;
use std::sync::LazyLock;

use super::words::{Word, words};

type Words = LazyLock<HashSet<&'static str>>;

fn set(text: &'static str) -> HashSet<&'static str> {
    text.split_whitespace().collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodeCandidate {
    pub(super) code: String,
    pub(super) plainness: u8,
}

/// Permitted length of a code. Shopify accepts up to 255 characters, but codes for shoppers are shorter.
const CHARS: std::ops::RangeInclusive<usize> = 3..=24;

/// Words that name a discount code.
static NAMES: Words = LazyLock::new(|| {
    set("code codes coupon coupons couponcode promo promocode voucher कोड कूपन कूपनकोड प्रोमो प्रोमोकोड वाउचर")
});
/// Words that, before "code", make it another kind of code.
static OTHER_CODES: Words = LazyLock::new(|| {
    set(
        "pin zip postal post area qr hsn country bar source dress otp verification security access size style \
         product item sku color colour reference referral tracking ifsc swift gst login पिन",
    )
});
/// Verbs for using a code, before the code.
static VERBS: Words = LazyLock::new(|| set("use using apply applying enter redeem with लगाकर"));
/// Words for using a code, after the code.
static BEHIND: Words = LazyLock::new(|| {
    set(
        "lagao lagaye lagayein lagaen lagaiye lagakar daalo dalo daale daalein dalein use apply karo लगाएं लगाएँ \
         लगाओ लगाइए लगाकर डालें डालो डालकर इस्तेमाल प्रयोग उपयोग अप्लाई यूज़ यूज",
    )
});
/// Words that may come between a code and the word that identifies it.
static FILLERS: Words = LazyLock::new(|| {
    set(
        "is the our your this below here now just use apply enter lagao daalo ka का को की ko se से है yeh ye यह \
         hai at",
    )
});
/// Words between listed codes.
static LISTING: Words = LazyLock::new(|| set("or and ya aur या और"));
/// Words of a line with an offer.
static OFFERS: Words = LazyLock::new(|| {
    set(
        "off discount discounts free flat save extra cashback offer offers sale deal rs inr checkout prepaid \
         chhoot chhut छूट मुफ्त फ्री ऑफ",
    )
});
/// Uppercase words that are never codes.
static NO_CODES: Words = LazyLock::new(|| {
    set(
        "about above additional all and any app apply applicable applied are at auto automatically avail bank \
         below buy card cart case cash cashback check checkout click cod code codes collection combo copied copy \
         coupon coupons credit customer customers daily day days deal debit delivery details discount discounts \
         email emi enter entire exclusive expires extra faq first flat for free from get gift gpay gst here inr \
         just limited login minimum more new newsletter not now off offer offers once one online only order orders \
         our paytm pincode prepaid products promo purchase rate required returns rupay sale save shipping shop \
         sitewide sms store subscribe tandc terms the this time today unlock upi use valid visa voucher whatsapp \
         with worth your",
    )
});
/// Units and qualities that consist of letters and digits, like codes.
static UNITS: Words =
    LazyLock::new(|| set("ml g gm gms kg mg l ltr cm mm m inch in pcs pc pack xl xxl hrs days mah gb"));

pub(super) fn judge(line: &str) -> Vec<CodeCandidate> {
    let words = words(line);
    let has_name = words.iter().any(|word| {
        let low = word.low.as_str();
        NAMES.contains(low) || VERBS.contains(low) || BEHIND.contains(low)
    });
    if !has_name && !words.iter().any(|word| word.is_label) {
        return Vec::new();
    }
    let offers = line.contains(['%', '₹']) || words.iter().any(|word| OFFERS.contains(word.low.as_str()));
    // In a text that is mostly uppercase, uppercase words do not stand out.
    let shouts = words.iter().filter(|word| is_shouted(word.text)).count() * 4 > words.len() * 3 && words.len() > 2;
    let mut found: Vec<CodeCandidate> = Vec::new();
    let mut last: Option<usize> = None;
    for (at, word) in words.iter().enumerate() {
        let Some(shape) = Shape::of(word) else { continue };
        let line = Line {
            words: &words,
            offers,
            shouts,
        };
        let plainness = line.plainness(at, shape).or_else(|| line.listed(at, last, shape));
        if let Some(plainness) = plainness {
            last = Some(at);
            found.push(CodeCandidate {
                code: word.text.to_ascii_uppercase(),
                plainness,
            });
        }
    }
    found
}

/// Returns a value that a page offers for copying, if it may be a code.
pub(super) fn copied(text: &str) -> Option<CodeCandidate> {
    let words = words(text);
    let [word] = words.as_slice() else { return None };
    let shape = Shape::of(word)?;
    (word.text == text.trim() && shape != Shape::Plain).then(|| CodeCandidate {
        code: word.text.to_ascii_uppercase(),
        plainness: 2,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// An ordinary word or a name.
    Plain,
    Capitals,
    Mixed,
}

impl Shape {
    /// Returns `None` for a word that cannot be a code.
    fn of(word: &Word<'_>) -> Option<Self> {
        let text = word.text;
        let allowed = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        let bounded = CHARS.contains(&text.len()) && !text.starts_with(['-', '_']) && !text.ends_with(['-', '_']);
        let has = |is: fn(&u8) -> bool| text.bytes().any(|byte| is(&byte));
        let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
        if !allowed
            || !bounded
            || word.is_part
            || letters < 2
            || NO_CODES.contains(word.low.as_str())
            || is_unit(&word.low)
        {
            return None;
        }
        if has(u8::is_ascii_digit) {
            return Some(Self::Mixed);
        }
        let capitals = letters >= 4 && !has(u8::is_ascii_lowercase);
        Some(if capitals { Self::Capitals } else { Self::Plain })
    }
}

/// Returns true for units such as `500ml`, `2xl`, `spf50`, `24x7`, `1st` and `b2b`.
fn is_unit(low: &str) -> bool {
    let digits = low.trim_start_matches(|char: char| char.is_ascii_digit());
    let quantity = digits.len() < low.len() && UNITS.contains(digits);
    let ordinal = digits.len() < low.len() && ["st", "nd", "rd", "th"].contains(&digits);
    quantity || ordinal || low.starts_with("spf") || ["24x7", "b2b", "b1g1", "covid19", "co2", "c-o-d"].contains(&low)
}

fn is_shouted(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_lowercase())
}

#[derive(Clone, Copy)]
struct Line<'a> {
    words: &'a [Word<'a>],
    offers: bool,
    shouts: bool,
}

impl Line<'_> {
    /// Returns how clearly the line marks the word at a position as a code, or `None` if it does not.
    fn plainness(&self, at: usize, shape: Shape) -> Option<u8> {
        let word = &self.words[at];
        let stands_out = shape == Shape::Mixed || word.is_quoted || (shape == Shape::Capitals && !self.shouts);
        if self.is_named(at) {
            return match (stands_out, shape) {
                (true, _) if self.offers => Some(3),
                (true, _) => Some(2),
                // The whole line is uppercase, but the word follows "CODE".
                (false, Shape::Capitals) if self.offers => Some(2),
                _ => None,
            };
        }
        if !stands_out || !self.offers {
            return None;
        }
        let verb = at.checked_sub(1).is_some_and(|before| VERBS.contains(self.low(before)));
        if verb && (shape == Shape::Mixed || self.low(at - 1) != "with") {
            return Some(if self.is_at_checkout(at) { 3 } else { 2 });
        }
        // An offer follows the label: "TEA10 – 10% off".
        (word.is_label || self.is_named_behind(at)).then_some(1)
    }

    /// A list with a known code contains further codes: "TEA10 or TEA20".
    fn listed(&self, at: usize, last: Option<usize>, shape: Shape) -> Option<u8> {
        let last = last?;
        let between = self.words.get(last + 1..at)?;
        let lists = between.len() <= 1 && between.iter().all(|word| LISTING.contains(word.low.as_str()));
        let looks = shape == Shape::Mixed || (shape == Shape::Capitals && !self.shouts);
        // Two adjacent words are not a list: "TEA10 SITEWIDE".
        (lists && !between.is_empty() && looks).then_some(1)
    }

    fn low(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.low.as_str())
    }

    /// Returns true if "code" or "coupon" comes before the word, with only filler words between them.
    fn is_named(&self, at: usize) -> bool {
        for back in 1..=4 {
            let Some(before) = at.checked_sub(back) else {
                return false;
            };
            let low = self.low(before);
            if NAMES.contains(low) {
                let kind = before.checked_sub(1).map_or("", |kind| self.low(kind));
                return !OTHER_CODES.contains(kind);
            }
            if !FILLERS.contains(low) {
                return false;
            }
        }
        false
    }

    /// Returns true if the words after the code identify it: "TEA10 lagao", "TEA10 कोड", "TEA10 at checkout".
    fn is_named_behind(&self, at: usize) -> bool {
        if self.is_at_checkout(at) {
            return true;
        }
        for ahead in 1..=3 {
            let low = self.low(at + ahead);
            if NAMES.contains(low) || BEHIND.contains(low) {
                return true;
            }
            if !FILLERS.contains(low) {
                return false;
            }
        }
        false
    }

    fn is_at_checkout(&self, at: usize) -> bool {
        matches!(self.low(at + 1), "at" | "on" | "during") && self.low(at + 2) == "checkout"
    }
}
