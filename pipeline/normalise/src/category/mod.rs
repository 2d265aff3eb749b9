//! Determines the Google product category of a product from the names that its shop gives it.
//!
//! Input: product type, title and tags as the shop wrote them. Output: the id of a category of the Google product
//! taxonomy, or no category. The rules are the phrases of `data/reference/categories.tsv` and, with lower priority, the
//! taxonomy's own category names. Without a matching rule there is no category.
//!
//! The product type takes precedence, then the title, then the tags. Within a text, the last noun of the first phrase
//! names the product: "leather dog collar with bell" is a collar. Words after "for", "with", a comma or a dash only
//! describe the product.
//!
//! A [`Reading`] is the result for one product. An [`Assortment`] of all products of a shop decides between meanings,
//! and categorises products whose texts do not name a category. [`Belief`] withholds a category that has only one
//! source and no other confirmation. A product without a category gets a coarse one by [`settle`] if its vector means
//! what the shop sells. A category that the shop itself states for a product takes precedence.
//!
//! The description is not used, because prose mentions too many other products. A shop's other products are the only
//! source about that shop, and the table is the same for every shop.

mod assortment;
mod belief;
mod head;
mod meaning;
mod names;
mod own;
mod rules;
mod table;
#[cfg(test)]
mod tests;
mod vectors;
mod words;

use std::hash::{Hash, Hasher};

use data_model::{CategoryId, Kind};
use google_taxonomy::ProductCategory;
use rustc_hash::FxHasher;

use self::assortment::near;
use self::head::{Head, Text};
pub(crate) use self::meaning::{ReadProduct, settle, vector};
pub(crate) use self::own::{StatedProduct, believe};
pub use self::rules::CategoryRules;
pub(crate) use self::table::TABLE;
use self::table::{Strength, Table};

/// Shops with more tags use them as internal notes.
const TAGS_MAX: usize = 64;

/// Longer tags are not checked for the words of a setting.
const SETTING_BYTES_MAX: usize = 12;

/// Category of a product by its own texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    category: Option<ProductCategory>,
    /// Second meaning of the same phrase, for shops that sell such things.
    other: Option<ProductCategory>,
    /// True if no other text contradicts the category.
    sure: bool,
    /// True if the word is also a colour, flavour or motif, or if only tags name the category.
    weak: bool,
    /// Noun of the title that may name things of many categories, as an id of the table.
    open: Option<u32>,
    /// Single word that names the category but exists in several departments.
    doubtful: Option<u32>,
    /// True if the texts call the product a part of something.
    part: bool,
    /// Setting whose words the texts contain, and the target category of the first other setting that would apply.
    setting: Option<u8>,
    elsewhere: Option<Elsewhere>,
    /// Hash of the product type. `None` if the shop states none.
    product_type: Option<u64>,
    /// Type, title and tags. A text is a witness if one of its own phrases names a category.
    witnesses: [Option<Witness>; 3],
    /// True if the shop stated the category as a path of a taxonomy.
    stated: bool,
    /// True for a service, a fee or a notice.
    no_goods: bool,
}

/// A text of a product that names a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Witness {
    /// Hash of the phrase that names the category. The same phrase in two texts counts as one source.
    phrase: u64,
    category: ProductCategory,
}

impl Witness {
    fn of(head: Head<'_>) -> Option<Self> {
        let category = head.category()?;
        Some(Self {
            phrase: hashed(head.phrase()),
            category,
        })
    }
}

/// Target category of a setting. For example, baby clothes are not in the category of clothes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Elsewhere {
    setting: u8,
    category: ProductCategory,
}

impl Reading {
    /// Returns the category that these texts state, in the Google product taxonomy of 2019-07-10.
    pub(crate) fn of(product_type: Option<&str>, title: &str, tags: &[String]) -> Self {
        read(&TABLE, product_type, title, tags)
    }

    pub(crate) fn note_kind(&mut self, kind: Kind) {
        self.no_goods = kind != Kind::Goods;
    }

    /// Returns true if the shop stated the category as a path of a taxonomy.
    pub(crate) const fn is_stated(&self) -> bool {
        self.stated
    }

    pub(crate) fn category(&self) -> Option<CategoryId> {
        self.category.map(|category| CategoryId(category.id()))
    }
}

fn read(table: &Table, product_type: Option<&str>, title: &str, tags: &[String]) -> Reading {
    let title = Text::read(table, title);
    let typed_text = product_type.map(|text| Text::read(table, text));
    let typed = product_type.map_or(TypeHead::Nothing, |text| type_head(table, text));
    let titled = title.decisive(table).or_else(|| title.head(table));
    let own = [typed.head(), titled].map(|head| head.and_then(Witness::of));
    let tagged = match own {
        [Some(one), Some(other)] if one.phrase != other.phrase && agree(one.category, other.category) => None,
        _ => from_tags(table, tags, own),
    };
    let mut reading = place(table, &typed, titled, tagged);
    reading.witnesses = [own[0], own[1], tagged];
    reading.product_type = product_type.filter(|text| !text.is_empty()).map(hash);
    let has_any = |words: &[u32]| {
        let has = |text: &Text| text.has_any(words);
        has(&title) || typed_text.as_ref().is_some_and(has)
    };
    reading.part = has_any(table.part_words());
    for (number, setting) in (0..).zip(table.settings()) {
        let moved = |category: ProductCategory| {
            let path = category.name();
            let found = setting.moves.iter().find(|(from, _)| contains(from.name(), path));
            found.map_or(category, |(_, to)| *to)
        };
        let elsewhere = reading.category.filter(|category| moved(*category) != *category);
        let is_tagged = || {
            let mut tags = tags.iter().take(TAGS_MAX).filter(|tag| tag.len() <= SETTING_BYTES_MAX);
            tags.any(|tag| Text::read(table, tag).is_of(&setting.words))
        };
        if has_any(&setting.words) || (elsewhere.is_some() && is_tagged()) {
            reading.setting = reading.setting.or(Some(number));
            reading.category = reading.category.map(moved);
            reading.other = reading.other.map(moved);
            for witness in reading.witnesses.iter_mut().flatten() {
                witness.category = moved(witness.category);
            }
        } else if let Some(category) = elsewhere {
            reading.elsewhere = reading.elsewhere.or(Some(Elsewhere {
                setting: number,
                category: moved(category),
            }));
        }
    }
    reading
}

fn hashed(phrase: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    phrase.hash(&mut hasher);
    hasher.finish()
}

fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    text.trim()
        .bytes()
        .for_each(|byte| hasher.write_u8(byte.to_ascii_lowercase()));
    hasher.finish()
}

/// The product's type takes precedence over its title, and the title over its tags.
fn place(table: &Table, typed: &TypeHead<'_>, titled: Option<Head<'_>>, tagged: Option<Witness>) -> Reading {
    if let TypeHead::Path(category) = typed {
        return Reading {
            stated: true,
            ..Reading::sure(*category)
        };
    }
    let typed = typed.head();
    if let Some((head, category)) = typed.and_then(|head| Some((head, strong(Some(head))?))) {
        let narrowed = narrowed(category, typed, titled);
        let disagree = |titled: &ProductCategory| *titled != narrowed && department(*titled) != department(category);
        let other = strong(titled).filter(disagree).or(head.rule.other);
        return Reading {
            sure: other.is_none(),
            other,
            doubtful: doubtful(table, head).filter(|_| narrowed == category),
            ..Reading::sure(narrowed)
        };
    }
    let open = titled.filter(|head| head.is_open()).map(|head| head.noun);
    let of = |head: Head<'_>, sure: bool| Reading {
        category: head.category(),
        other: head.rule.other,
        sure: sure && head.rule.other.is_none(),
        weak: head.strength < Strength::Head,
        open,
        doubtful: doubtful(table, head),
        ..Reading::default()
    };
    let from_title = titled.filter(|head| head.strength >= Strength::Head && !head.is_open());
    if let Some(head) = from_title {
        return of(head, head.sure);
    }
    let typed = typed.filter(|head| !head.is_open());
    let weak = titled.filter(|head| head.strength == Strength::Weak);
    if let Some(head) = typed
        .or(weak)
        .filter(|head| !(open.is_some() && head.strength == Strength::Broad))
    {
        return of(head, false);
    }
    // A tag decides between the meanings of the title's noun.
    let may_be = |category: &ProductCategory| {
        let related = |meaning: &ProductCategory| {
            let (one, other) = (meaning.name(), category.name());
            contains(one, other) || contains(other, one)
        };
        open.is_none_or(|noun| table.meanings(noun).iter().any(related))
    };
    Reading {
        category: tagged.map(|tagged| tagged.category).filter(may_be),
        weak: true,
        open,
        ..Reading::default()
    }
}

impl Reading {
    fn sure(category: ProductCategory) -> Self {
        Self {
            category: Some(category),
            sure: true,
            ..Self::default()
        }
    }
}

fn strong(head: Option<Head<'_>>) -> Option<ProductCategory> {
    head.filter(|head| head.strength >= Strength::Head)?.category()
}

/// Returns the noun of a one-word phrase that exists in several departments.
fn doubtful(table: &Table, head: Head<'_>) -> Option<u32> {
    let category = head.category().filter(|_| head.length == 1)?;
    let mut meanings = table.meanings(head.noun).iter();
    let is_doubtful = meanings.any(|meaning| department(*meaning) != department(category));
    is_doubtful.then_some(head.noun)
}

fn department(category: ProductCategory) -> &'static str {
    category.name().split(" > ").next().unwrap_or_default()
}
/// Returns the title's category if it is more specific than that of the product type. Its path may be deeper, or the
/// title may have a longer name for the same noun ("camera monitor" for "monitor"), or a name that contains the type
/// ("baseball cap" for "baseball").
fn narrowed(category: ProductCategory, typed: Option<Head<'_>>, titled: Option<Head<'_>>) -> ProductCategory {
    let (Some(typed), Some(titled)) = (typed, titled) else {
        return category;
    };
    let Some(exact) = titled.category() else {
        return category;
    };
    let longer = typed.noun == titled.noun && titled.length > typed.length;
    if longer || titled.has_within(&typed) || is_below(exact.name(), category.name()) {
        exact
    } else {
        category
    }
}

enum TypeHead<'t> {
    /// The shop stated a path of the taxonomy.
    Path(ProductCategory),
    Head(Head<'t>),
    Nothing,
}

impl<'t> TypeHead<'t> {
    const fn head(&self) -> Option<Head<'t>> {
        match self {
            Self::Head(head) => Some(*head),
            Self::Path(_) | Self::Nothing => None,
        }
    }
}

fn type_head<'t>(table: &'t Table, text: &str) -> TypeHead<'t> {
    if text.contains(" > ")
        && let Ok(category) = ProductCategory::from_name(text.trim())
    {
        return TypeHead::Path(category);
    }
    // The product type may be a path of the shop's own, whose last part is the most specific.
    for part in text.rsplit('>').take(table::PHRASE_WORDS_MAX) {
        let text = Text::read(table, part);
        let whole = text.whole(table, &[]).map(Head::alone);
        let head = whole.or_else(|| text.head(table)).filter(|head| !head.is_open());
        if let Some(head) = head {
            return TypeHead::Head(head);
        }
    }
    TypeHead::Nothing
}

/// Returns the common category of the tags that name products, except tags with the phrases of `others`. A tag that
/// names an ancestor of another tag's category adds nothing. Weak tags count only if there are no others.
fn from_tags(table: &Table, tags: &[String], others: [Option<Witness>; 2]) -> Option<Witness> {
    let (mut named, mut weak) = (Vec::new(), Vec::new());
    for tag in tags.iter().take(TAGS_MAX) {
        let Some(head) = Text::read(table, tag).whole(table, table.audience()) else {
            continue;
        };
        let Some(category) = head.rule.category.filter(|_| head.rule.other.is_none()) else {
            continue;
        };
        let phrase = hashed(head.phrase());
        if others.iter().flatten().any(|other| other.phrase == phrase) {
            continue;
        }
        match head.strength {
            Strength::Head | Strength::Decisive | Strength::Alone => named.push(Witness { phrase, category }),
            Strength::Weak => weak.push(Witness { phrase, category }),
            Strength::Broad | Strength::Feature => {}
        }
    }
    let tags = if named.is_empty() { weak } else { named };
    let paths: Vec<&str> = tags.iter().map(|tag| tag.category.name()).collect();
    Some(Witness {
        phrase: tags.iter().map(|tag| tag.phrase).min()?,
        category: ProductCategory::from_name(shared_path(&paths)?).ok()?,
    })
}

/// Returns the common ancestor of `paths`, without the paths that are ancestors of others. A department is too general
/// to count.
fn shared_path(paths: &[&'static str]) -> Option<&'static str> {
    let exact = paths
        .iter()
        .copied()
        .filter(|above| !paths.iter().any(|path| is_below(path, above)));
    let shared = exact.reduce(common_path)?;
    (shared.contains(" > ")).then_some(shared)
}

fn common_path(one: &'static str, other: &'static str) -> &'static str {
    let mut common = 0;
    for (left, right) in one.split(" > ").zip(other.split(" > ")) {
        if left != right {
            break;
        }
        common += left.len() + if common > 0 { " > ".len() } else { 0 };
    }
    one.get(..common).unwrap_or("")
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with(" > "))
}

/// Returns true if one category contains the other, or both are in the same group of kinds.
fn agree(one: ProductCategory, other: ProductCategory) -> bool {
    contains(one.name(), other.name()) || contains(other.name(), one.name()) || near(one) == near(other)
}

/// Returns true if `above` is the path or one of its ancestors.
fn contains(above: &str, path: &str) -> bool {
    path == above || is_below(path, above)
}
