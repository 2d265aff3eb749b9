//! Parses days of the week.

use crate::item::Sense;
use crate::token::Token;
use crate::words::Words;

const DAYS: [Words; 7] = [
    Words("monday, mondays, mon, montag, montags, lundi, lunes"),
    Words("tuesday, tuesdays, tue, dienstag, dienstags, mardi, martes"),
    Words("wednesday, wednesdays, wed, mittwoch, mittwochs, mercredi, miercoles"),
    Words("thursday, thursdays, thu, donnerstag, donnerstags, jeudi, jueves"),
    Words("friday, fridays, fri, freitag, freitags, vendredi, viernes"),
    Words("saturday, saturdays, sat, samstag, samstags, samedi, sabado, sabados"),
    Words("sunday, sundays, sun, sonntag, sonntags, dimanche, domingo, domingos"),
];

fn weekday(token: Option<&Token>) -> Option<usize> {
    let word = token?.word()?;
    DAYS.iter().position(|names| names.has(word))
}

pub(crate) fn weekdays(tokens: &[Token]) -> Option<(Sense, usize)> {
    if tokens[0]
        .word()
        .is_some_and(|word| matches!(word, "weekend" | "weekends"))
    {
        return Some((Sense::Weekdays(0b110_0000), 1));
    }
    if tokens[0]
        .word()
        .is_some_and(|word| matches!(word, "weekdays" | "werktags"))
    {
        return Some((Sense::Weekdays(0b001_1111), 1));
    }
    let from = weekday(tokens.first())?;
    let joins = |token: &Token| {
        token.is('-')
            || token
                .word()
                .is_some_and(|word| matches!(word, "to" | "through" | "bis" | "au" | "a" | "till" | "se"))
    };
    // `Mon-Fri` is split into two words.
    if let Some(to) = weekday(tokens.get(1)).filter(|to| *to > from + 1) {
        let mask = (from..=to).fold(0, |mask, day| mask | 1 << day);
        return Some((Sense::Weekdays(mask), 2));
    }
    if tokens.get(1).is_some_and(joins)
        && let Some(to) = weekday(tokens.get(2))
        && to > from
    {
        let mask = (from..=to).fold(0, |mask, day| mask | 1 << day);
        return Some((Sense::Weekdays(mask), 3));
    }
    // The days may be a list, as in `closed on Sat & Sun`.
    let adds = |token: &Token| {
        token.is('&')
            || token.is('/')
            || token.is(',')
            || token
                .word()
                .is_some_and(|word| matches!(word, "and" | "und" | "et" | "y"))
    };
    if tokens.get(1).is_some_and(adds)
        && let Some(to) = weekday(tokens.get(2))
    {
        return Some((Sense::Weekdays(1 << from | 1 << to), 3));
    }
    // Short words such as `sun` in `sun proof` and `sat` are ambiguous.
    let is_short = tokens[0].word().is_some_and(|word| word.len() <= 3);
    (!is_short).then_some((Sense::Weekdays(1 << from), 1))
}
