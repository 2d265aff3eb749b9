use super::Audience;
use super::tables::TABLES;
use super::words::Words;

/// Departments for adults do not fit a younger person.
const CHILD_MONTHS_MAX: u32 = 16 * 12;
/// Baby products fit a younger person.
const BABY_MONTHS_MAX: u32 = 24;

/// Reads the audience: a department if the text names one, else the recipient.
pub(super) fn read(words: &mut Words, age_months: Option<u32>, is_gift: bool) -> Option<Audience> {
    let nobody = words.find(&TABLES.nobody);
    nobody.into_iter().for_each(|(range, ())| words.take(range));
    let departments: Vec<Audience> = words
        .find(&TABLES.audiences)
        .into_iter()
        .map(|found| *found.1)
        .collect();
    let people = words.find(&TABLES.people).into_iter();
    let people: Vec<Audience> = people
        .filter(|(range, _)| is_gift || is_for(words, range.start, range.end))
        .map(|found| *found.1)
        .collect();
    let has = |wanted: Audience| departments.contains(&wanted) || people.contains(&wanted);
    if let Some(months) = age_months.filter(|months| *months < CHILD_MONTHS_MAX) {
        return Some(match () {
            () if months < BABY_MONTHS_MAX => Audience::Baby,
            () if has(Audience::Boys) => Audience::Boys,
            () if has(Audience::Girls) => Audience::Girls,
            () => Audience::Kids,
        });
    }
    let named = |among: &[Audience]| {
        if among.contains(&Audience::Men) && among.contains(&Audience::Women) {
            return Some(Audience::Unisex);
        }
        // A word for a child is more specific than the department.
        let children = [Audience::Baby, Audience::Boys, Audience::Girls];
        let child = children.into_iter().find(|child| among.contains(child));
        child.or_else(|| among.first().copied())
    };
    named(&departments).or_else(|| named(&people))
}

/// Returns true if `my`, `for` or `to` precedes the person, with only an age or words such as `younger` in between: `my
/// younger`, `for my 3 year old`.
fn is_of_somebody(words: &Words, start: usize, near: &[&str], whose: &[&str]) -> bool {
    const BETWEEN_MAX: usize = 5;
    let ages = ["year", "years", "month", "months", "yr", "yrs", "saal"];
    let is_between = |at: usize| {
        let is_number = words
            .any_at(at)
            .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        is_number || words.is(at, near) || words.is(at, &ages) || words.is(at, whose)
    };
    let before = (1..=BETWEEN_MAX).filter_map(|back| start.checked_sub(back));
    let first = before.take_while(|at| is_between(*at)).last();
    first.is_some_and(|first| words.is(first, whose) || words.is_before(first, 1, &["for", "to"]))
}

/// Returns true for phrases such as `for my mother`, `maa ke liye` and `mother's birthday`.
fn is_for(words: &Words, start: usize, end: usize) -> bool {
    let whose = [
        "my", "our", "his", "her", "mere", "meri", "mera", "apni", "apne", "hamari", "hamare",
    ];
    let near = [
        "the", "a", "new", "elder", "younger", "little", "old", "dear", "future", "best", "bade", "chhoti", "choti",
    ];
    words.is_before(start, 1, &["for", "to"])
        || words.is_before(start, 1, &whose)
        || is_of_somebody(words, start, &near, &whose)
        || words.is(end, &["ke", "k", "के", "ko"]) && words.is(end + 1, &["liye", "liy", "lie", "लिए", "birthday"])
        || words.is(end, &["ko", "birthday", "bday", "anniversary"])
}
