use data_text::stems;
use rustc_hash::FxHashMap;

use super::Meaning;
use super::sentence::Sentence;
use super::tables::{Role, TABLES};

/// Most other words of a sentence that is read for a need: with more of them, these count and not the need.
const LEFT_MAX: usize = 4;

/// The words of a query that speak for a need: the need's groups of words that they are of, and their tokens, one bit
/// each.
#[derive(Debug, Default)]
struct NeedEvidence {
    groups: u8,
    tokens: u64,
}

/// True where a token is among those that speak. No token after the 64th is.
fn speaks(tokens: u64, at: usize) -> bool {
    at < u64::BITS as usize && tokens >> at & 1 == 1
}

/// Reads the purpose of the thing: `keep coffee hot` is a flask. Only where somebody asks, or where the need is all
/// that is said; other named things are looked for among the categories that answer the need.
pub(super) fn read(sentence: &mut Sentence<'_>) {
    if !sentence.tells_categories() {
        read_leaving(sentence, LEFT_MAX);
    }
}

/// The same where so many other words are left at most.
pub(super) fn read_leaving(sentence: &mut Sentence<'_>, left_max: usize) {
    let asks = sentence.asks();
    let is_for = (0..sentence.tokens.len()).any(|at| sentence.is(at, &["for", "to", "liye"]));
    // `kutte ka khana` says so too, where `dog food` names a thing.
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
        // One word cannot say two things.
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
