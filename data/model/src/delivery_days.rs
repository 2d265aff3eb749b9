//! Parses delivery times from the name or description of a delivery rate.

const DAYS_MAX: u16 = 90;
const HOURS_MAX: u32 = 24 * DAYS_MAX as u32;

/// Returns the minimum and maximum number of days in a text such as `3-5 business days`, or `None` if the text states
/// no days. Days are counted as the text counts them: five working days are 5.
#[must_use]
pub fn delivery_days(text: &str) -> Option<(u16, u16)> {
    let lower = text.to_lowercase();
    let words = lower.split(|char: char| !char.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let units = || (0..).zip(&words).filter_map(|(at, word)| Some((at, hours(word)?)));
    // Hours are often those until the dispatch.
    let of_days = units().filter(|(_, hours)| *hours > 1);
    let mut spans = of_days.chain(units().filter(|(_, hours)| *hours == 1));
    spans.find_map(|(at, hours)| span(&words[..at], hours))
}

/// Returns the days of a number or a range at the end of `words`, in units of `hours`.
fn span(words: &[&str], hours: u32) -> Option<(u16, u16)> {
    let mut before = words.iter().rev().peekable();
    before.next_if(|word| matches!(**word, "business" | "working" | "calendar"));
    let most = number(before.next()?)?;
    before.next_if(|word| matches!(**word, "to" | "and" | "bis" | "à" | "a" | "et" | "y" | "e" | "tot"));
    let fewest = before.next().and_then(|word| number(word));
    let fewest = fewest.filter(|fewest| *fewest <= most).unwrap_or(most);
    let days = |days: u32| u16::try_from(days).ok().filter(|days| *days <= DAYS_MAX);
    Some((days(fewest * hours / 24)?, days((most * hours).div_ceil(24))?))
}

/// Returns the hours of a unit of time in English, German, French, Spanish, Italian or Dutch.
fn hours(unit: &str) -> Option<u32> {
    match unit {
        "hour" | "hours" | "hr" | "hrs" | "stunde" | "stunden" | "heure" | "heures" | "hora" | "horas" | "ora"
        | "ore" | "uur" => Some(1),
        "day" | "days" | "weekdays" | "tag" | "tage" | "tagen" | "werktag" | "werktage" | "werktagen"
        | "arbeitstage" | "arbeitstagen" | "jour" | "jours" | "día" | "días" | "dia" | "dias" | "giorno" | "giorni"
        | "dag" | "dagen" | "werkdag" | "werkdagen" => Some(24),
        "week" | "weeks" | "woche" | "wochen" | "semaine" | "semaines" | "semana" | "semanas" | "settimana"
        | "settimane" | "weken" => Some(7 * 24),
        _ => None,
    }
}

fn number(word: &str) -> Option<u32> {
    word.parse().ok().filter(|number| *number <= HOURS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_where_they_are_stated() {
        for (text, told) in [
            ("Standard (3-5 business days)", Some((3, 5))),
            ("3 to 5 days", Some((3, 5))),
            ("2–4 working days", Some((2, 4))),
            ("within 7 days", Some((7, 7))),
            ("within 48 hours", Some((2, 2))),
            ("24-36 hrs", Some((1, 2))),
            ("2-4 weeks", Some((14, 28))),
            (
                "Dispatched within 24 hours, delivery in 3-5 business days",
                Some((3, 5)),
            ),
            ("Weekdays only, 2 to 4 days", Some((2, 4))),
            ("Lieferung in 3–5 Werktagen", Some((3, 5))),
            ("Livraison sous 2 à 4 jours ouvrés", Some((2, 4))),
            ("Entrega en 3 a 5 días laborables", Some((3, 5))),
            ("Consegna in 2-3 giorni lavorativi", Some((2, 3))),
            ("Levering in 1 tot 2 werkdagen", Some((1, 2))),
            ("Same day", None),
            ("Express", None),
            ("Rs 500 in 2000 days", None),
            ("", None),
        ] {
            assert_eq!(delivery_days(text), told, "{text}");
        }
    }
}
