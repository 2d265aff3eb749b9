use data_text::stems;
use rustc_hash::FxHashMap;

use super::Meaning;
use super::sentence::Sentence;
use super::tables::{Role, TABLES};

/// With more other words, the need is ignored and the words are searched.
const LEFT_MAX: usize = 4;

/// Bit sets of the matched word groups of a need and of the matching tokens.
#[derive(Debug, Default)]
struct NeedEvidence {
    groups: u8,
    tokens: u64,
}

/// The bit set covers the first 64 tokens.
fn speaks(tokens: u64, at: usize) -> bool {
    at < u64::BITS as usize && tokens >> at & 1 == 1
}

/// Reads the purpose of the product: `keep coffee hot` means a flask. The query must be a question or state only the
/// need. Other products in it are searched for in the categories that serve the need.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    if !sentence.tells_categories() {
        read_leaving(sentence, LEFT_MAX);
    }
}

/// Reads a need if at most `left_max` other words remain.
pub(super) fn read_leaving(sentence: &mut Sentence<'_>, left_max: usize) {
    let asks = sentence.asks();
    let is_for = (0..sentence.tokens.len()).any(|at| sentence.is(at, &["for", "to", "liye"]));
    // A grammatical word joins the words, as in `kutte ka khana`. Without one, words such as `dog food` name a product.
    let is_joined = (0..sentence.tokens.len()).any(|at| sentence.role(at) == Some(Role::Grammar));
    if !asks && !is_for && !is_joined {
        return;
    }
    let mut speaking: FxHashMap<usize, NeedEvidence> = FxHashMap::default();
    for (at, token) in sentence.tokens.iter().enumerate().take(u64::BITS as usize) {
        if !token.is_free() {
            continue;
        }
        let stem = stems(&token.word).pop();
        let found = stem.and_then(|stem| TABLES.need_words.get(&stem));
        for (need, group) in found.into_iter().flatten() {
            let of_need = speaking.entry(*need).or_default();
            of_need.groups |= 1 << group;
            of_need.tokens |= 1 << at;
        }
    }
    let spoken = speaking.into_iter().filter_map(|(need, speaking)| {
        let groups = TABLES.needs.get(need)?.groups;
        let all = u8::MAX >> (u8::BITS - u32::from(groups));
        // A word counts for one group only.
        let is_said = speaking.groups == all && speaking.tokens.count_ones() >= u32::from(groups);
        let left = sentence.content().filter(|at| !speaks(speaking.tokens, *at)).count();
        is_said.then_some((
            left,
            std::cmp::Reverse(speaking.tokens.count_ones()),
            need,
            speaking.tokens,
        ))
    });
    let Some((left, _, need, tokens)) = spoken.min() else {
        return;
    };
    if left > left_max || left > 0 && !asks {
        return;
    }
    tell(sentence, need, tokens);
}

fn tell(sentence: &mut Sentence<'_>, need: usize, tokens: u64) {
    let Some(need) = TABLES.needs.get(need) else { return };
    let own = |at: &usize| speaks(tokens, *at);
    let Some((start, end)) = (0..sentence.tokens.len())
        .filter(own)
        .fold(None, |range, at| match range {
            None => Some((at, at + 1)),
            Some((start, _)) => Some((start, at + 1)),
        })
    else {
        return;
    };
    let meaning = Meaning::Need(need.answers.clone());
    let is_joined = (start..end).all(|at| own(&at) || sentence.role(at).is_some_and(|role| role != Role::Grammar));
    if is_joined {
        return sentence.read(start..end, meaning);
    }
    let mut left: Vec<usize> = (start..end).filter(own).collect();
    let first = left.remove(0);
    for at in left {
        if let Some(token) = sentence.tokens.get_mut(at) {
            token.is_read = true;
        }
    }
    sentence.read(first..first + 1, meaning);
}
