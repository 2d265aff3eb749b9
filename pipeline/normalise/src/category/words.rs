//! Normalises text into the words of the rules, which are lowercase, without accents and singular.

/// Maximum number of words of a text. A longer title is prose.
pub(super) const WORDS_MAX: usize = 48;

/// All words of the rules are at most this long.
const WORD_BYTES_MAX: usize = 32;

/// Effect of a word on its noun phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    /// The word belongs to the phrase.
    Plain,
    /// "of", "in", "by". The word ends the phrase if a product was already named.
    Soft,
    /// "de", "du", "di". The following words describe the material or purpose of the previous word, unless that is a
    /// measure.
    Of,
    /// "under", "over", "sous". The following phrase states the location of the product's use.
    Place,
    /// "for", "with", "para". The following words are never the product.
    Hard,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RawWord<'a> {
    /// Empty if the word is longer than any rule's.
    pub(super) form: &'a [u8],
    /// True after a comma, a bracket, a spaced dash or similar punctuation.
    pub(super) opens_segment: bool,
    /// True for a number or a unit, such as "250g", "3" or "oz".
    pub(super) measure: bool,
    /// True for a word in brackets. The text before the brackets continues after them.
    pub(super) aside: bool,
    /// Points for a language whose nouns precede their modifiers.
    pub(super) noun_first_points: u8,
    pub(super) join: Join,
}

/// Calls `each` for at most [`WORDS_MAX`] words.
pub(super) fn each_word(text: &str, mut each: impl FnMut(RawWord<'_>)) {
    let mut reader = Reader::new();
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if reader.count >= WORDS_MAX {
            return;
        }
        let after = chars.peek().copied().unwrap_or(' ');
        match step(c, before, after) {
            Step::Letter(letter) => reader.push(letter),
            Step::Letters(first, second) => {
                reader.push(first);
                reader.push(second);
            }
            Step::Apostrophe => reader.apostrophe(),
            Step::Nothing => {}
            Step::Split => reader.finish(c, &mut each),
            Step::Segment => {
                reader.finish(c, &mut each);
                reader.opens_segment = true;
            }
            Step::Open => {
                reader.finish(c, &mut each);
                reader.step_aside();
            }
            Step::Close => {
                reader.finish(c, &mut each);
                reader.step_back();
            }
        }
        before = c;
    }
    if reader.count < WORDS_MAX {
        reader.finish(' ', &mut each);
    }
}

enum Step {
    Letter(u8),
    Letters(u8, u8),
    Apostrophe,
    Nothing,
    Split,
    Segment,
    Open,
    Close,
}

fn step(c: char, before: char, after: char) -> Step {
    let spaced = before.is_whitespace() || after.is_whitespace();
    match c {
        'a'..='z' | '0'..='9' => Step::Letter(c as u8),
        'A'..='Z' => Step::Letter(c.to_ascii_lowercase() as u8),
        '\'' | '’' | '‘' | '`' => Step::Apostrophe,
        '®' | '™' | '©' | '\u{ad}' | '\u{200b}' => Step::Nothing,
        ',' | ':' if before.is_ascii_digit() && after.is_ascii_digit() => Step::Split,
        '(' | '[' | '{' | '【' => Step::Open,
        ')' | ']' | '}' | '】' => Step::Close,
        ',' | ':' | ';' | '|' | '–' | '—' | '•' | '·' | '>' => Step::Segment,
        '+' => Step::Segment,
        '-' | '/' if spaced => Step::Segment,
        // French "à" is a preposition, so that it must not become the article "a".
        'à' | 'À' if before.is_whitespace() && after.is_whitespace() => Step::Letters(b'a', b'u'),
        _ if c.is_ascii() => Step::Split,
        _ => fold(c),
    }
}

/// Removes accents. A letter of another script makes its word unknown.
fn fold(c: char) -> Step {
    match c {
        'à'..='å' | 'À'..='Å' | 'ā' | 'Ā' => Step::Letter(b'a'),
        'ą' | 'Ą' | 'ă' | 'Ă' => Step::Letter(b'a'),
        'ç' | 'Ç' | 'č' | 'Č' | 'ć' | 'Ć' => Step::Letter(b'c'),
        'ę' | 'Ę' | 'ě' | 'Ě' => Step::Letter(b'e'),
        'ğ' | 'Ğ' => Step::Letter(b'g'),
        'ı' | 'İ' => Step::Letter(b'i'),
        'ł' | 'Ł' => Step::Letter(b'l'),
        'ń' | 'Ń' | 'ň' | 'Ň' => Step::Letter(b'n'),
        'ő' | 'Ő' => Step::Letter(b'o'),
        'ř' | 'Ř' => Step::Letter(b'r'),
        'ś' | 'Ś' | 'š' | 'Š' | 'ş' | 'Ş' | 'ș' | 'Ș' => Step::Letter(b's'),
        'ť' | 'Ť' | 'ț' | 'Ț' => Step::Letter(b't'),
        'ű' | 'Ű' | 'ů' | 'Ů' => Step::Letter(b'u'),
        'ź' | 'Ź' | 'ż' | 'Ż' | 'ž' | 'Ž' => Step::Letter(b'z'),
        'è'..='ë' | 'È'..='Ë' | 'ē' => Step::Letter(b'e'),
        'ì'..='ï' | 'Ì'..='Ï' | 'ī' => Step::Letter(b'i'),
        'ñ' | 'Ñ' => Step::Letter(b'n'),
        'ò'..='ö' | 'Ò'..='Ö' | 'ø' | 'Ø' | 'ō' => Step::Letter(b'o'),
        'ù'..='ü' | 'Ù'..='Ü' | 'ū' => Step::Letter(b'u'),
        'ý' | 'ÿ' => Step::Letter(b'y'),
        'ß' => Step::Letters(b's', b's'),
        'œ' | 'Œ' => Step::Letters(b'o', b'e'),
        'æ' | 'Æ' => Step::Letters(b'a', b'e'),
        _ if c.is_alphanumeric() => Step::Letter(b'?'),
        _ => Step::Split,
    }
}

struct Reader {
    word: [u8; WORD_BYTES_MAX],
    length: usize,
    apostrophe: Option<usize>,
    after_number: bool,
    opens_segment: bool,
    /// Inside brackets, true if the next word after them starts a segment.
    outside: Option<bool>,
    count: usize,
}

impl Reader {
    fn new() -> Self {
        Self {
            word: [0; WORD_BYTES_MAX],
            length: 0,
            apostrophe: None,
            after_number: false,
            opens_segment: true,
            outside: None,
            count: 0,
        }
    }

    /// Nested brackets count as one.
    fn step_aside(&mut self) {
        if self.outside.is_none() {
            self.outside = Some(self.opens_segment);
        }
        self.opens_segment = true;
    }

    fn step_back(&mut self) {
        self.opens_segment = self.outside.take().unwrap_or(true);
        self.after_number = false;
    }

    fn push(&mut self, letter: u8) {
        if let Some(slot) = self.word.get_mut(self.length) {
            *slot = letter;
        }
        self.length = self.length.saturating_add(1);
    }

    /// Removes the article of "l'eau" and "d'or". The ending of "men's" is removed in [`Reader::finish`].
    fn apostrophe(&mut self) {
        if self.length == 1 && matches!(self.word[0], b'l' | b'd') {
            self.length = 0;
        } else if self.length > 0 {
            self.apostrophe = Some(self.length);
        }
    }

    fn finish(&mut self, next: char, each: &mut impl FnMut(RawWord<'_>)) {
        let possessive = self.apostrophe.take().is_some_and(|at| at + 1 == self.length);
        let length = std::mem::take(&mut self.length);
        if length == 0 {
            return;
        }
        let whole = self.word.get(..length).unwrap_or(&[]);
        let raw = match whole {
            [stem @ .., b's'] if possessive => stem,
            _ => whole,
        };
        let number = raw.first().is_some_and(u8::is_ascii_digit);
        let after_number = std::mem::replace(&mut self.after_number, number);
        if matches!(
            raw,
            b"and"
                | b"the"
                | b"a"
                | b"an"
                | b"la"
                | b"las"
                | b"los"
                | b"el"
                | b"le"
                | b"les"
                | b"der"
                | b"das"
                | b"het"
                | b"een"
                | b"ein"
                | b"eine"
                | b"il"
                | b"gli"
                | b"un"
                | b"una"
                | b"une"
        ) {
            return;
        }
        let join = join(raw, next, after_number, self.opens_segment);
        let (kept, ending) = singular(raw);
        let mut form = [0; WORD_BYTES_MAX];
        let size = kept.len() + ending.len();
        if let (Some(head), true) = (form.get_mut(..kept.len()), size <= WORD_BYTES_MAX) {
            head.copy_from_slice(kept);
            form[kept.len()..size].copy_from_slice(ending);
        }
        let form = form.get(..size).unwrap_or(&[]);
        let measure = number || is_unit(raw);
        let opens_segment = std::mem::take(&mut self.opens_segment);
        each(RawWord {
            form,
            opens_segment,
            measure,
            aside: self.outside.is_some(),
            noun_first_points: noun_first_points(raw),
            join,
        });
        self.count += 1;
    }
}

fn join(raw: &[u8], next: char, after_number: bool, opens_segment: bool) -> Join {
    match raw {
        b"for" | b"with" | b"without" | b"featuring" | b"compatible" | b"fits" | b"para" | b"con" | b"sin"
        | b"pour" | b"avec" | b"sans" | b"mit" | b"ohne" | b"fur" | b"zum" | b"zur" | b"per" | b"senza" | b"com"
        | b"voor" | b"met" | b"zonder" | b"ke" => Join::Hard,
        b"w" if next == '/' => Join::Hard,
        b"in" if after_number => Join::Plain,
        b"de" | b"du" | b"des" | b"del" | b"di" | b"della" | b"dei" | b"da" | b"en" | b"aus" | b"von" | b"van" => {
            Join::Of
        }
        b"under" | b"over" | b"behind" | b"beside" | b"inside" | b"sous" | b"sobre" | b"sur" => Join::Place,
        b"on" if opens_segment => Join::Place,
        b"of" | b"in" | b"from" | b"by" | b"y" | b"et" | b"und" | b"e" | b"au" | b"aux" | b"al" | b"alla" | b"im"
        | b"am" | b"auf" | b"op" | b"ka" | b"ki" => Join::Soft,
        _ => Join::Plain,
    }
}

/// Returns the points of a word for Spanish, French, Italian or Portuguese. Two points are required, because a single
/// "de" also occurs in English names.
fn noun_first_points(raw: &[u8]) -> u8 {
    match raw {
        b"para" | b"con" | b"sin" | b"pour" | b"avec" | b"sans" | b"senza" => 2,
        b"de" | b"du" | b"des" | b"del" | b"di" | b"della" | b"da" => 1,
        _ => 0,
    }
}

fn is_unit(raw: &[u8]) -> bool {
    matches!(
        raw,
        b"g" | b"gm"
            | b"gms"
            | b"gram"
            | b"grams"
            | b"kg"
            | b"ml"
            | b"l"
            | b"oz"
            | b"lb"
            | b"lbs"
            | b"pack"
            | b"pc"
            | b"pcs"
            | b"ct"
            | b"count"
    )
}

/// The plural of these words has another meaning, or they only look like a plural.
const KEPT: [&[u8]; 12] = [
    b"shorts",
    b"glasses",
    b"flats",
    b"slides",
    b"lens",
    b"canvas",
    b"goggles",
    b"news",
    b"christmas",
    b"christma",
    b"heels",
    b"drawers",
];

/// Returns the singular as a prefix of the word and an added ending. It need not be correct English, but must be equal
/// for rules and texts: "cookie", "cookies" and "cooky" all become "cooky".
fn singular(raw: &[u8]) -> (&[u8], &'static [u8]) {
    match raw {
        b"tvs" | b"cds" | b"lps" | b"dvds" => return (&raw[..raw.len() - 1], b""),
        _ if raw.len() < 4 || KEPT.contains(&raw) => return (raw, b""),
        _ => {}
    }
    match raw {
        b"lenses" => (&raw[..4], b""),
        [stem @ .., b'k', b'n', b'i', b'v', b'e', b's'] => (&raw[..stem.len() + 3], b"fe"),
        b"scarves" | b"halves" | b"loaves" | [.., b's', b'h', b'e', b'l', b'v', b'e', b's'] => {
            (&raw[..raw.len() - 3], b"f")
        }
        b"ties" | b"pies" => (&raw[..3], b""),
        [stem @ .., b'i', b'e', b's'] => (stem, b"y"),
        [stem @ .., b'i', b'e'] if stem.len() > 2 => (stem, b"y"),
        [.., b's', b's', b'e', b's']
        | [.., b's', b'h', b'e', b's']
        | [.., b'c', b'h', b'e', b's']
        | [.., b'x', b'e', b's'] => (&raw[..raw.len() - 2], b""),
        [.., b's', b's'] => (raw, b""),
        [stem @ .., b's'] => (stem, b""),
        _ => (raw, b""),
    }
}
