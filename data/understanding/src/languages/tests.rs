use super::*;

fn translated(text: &str) -> Option<String> {
    let english = TranslatedQuery::of(
        text,
        |_| false,
        |word| ["robe", "pain", "rock", "gift", "sherpa"].contains(&word),
    );
    english.map(|english| english.text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn words_of_five_languages_are_found_in_whichever_form() {
    for (text, english) in [
        ("rote Schuhe für Damen", "red shoes women's"),
        ("Lederjacke", "leather jacket"),
        ("Wanderhose", "hiking trousers"),
        ("Sherpajacke", "sherpa jacket"),
        ("Kinderwagenreifen", "stroller tyre"),
        ("Gläser aus Holz", "glass wooden"),
        ("Kopfhoerer unter 50 €", "headphones under 50 €"),
        ("zuckerfreie Schokolade", "sugar free chocolate"),
        ("robes noires", "dress black"),
        ("huile d'olive", "olive oil"),
        ("sac à dos pas cher", "backpack cheap"),
        ("zapatos rojos sin cordones", "shoes red without laces"),
        ("scarpe rosse da donna", "shoes red women's"),
        ("zwarte tassen", "black bag"),
        ("Stirnlampe für meine Schwester", "headlamp for my sister"),
        ("veste en jean moins cher que 60 €", "denim jacket under 60 €"),
    ] {
        assert_eq!(translated(text).as_deref(), Some(english), "{text}");
    }
}

#[test]
fn english_stays_as_it_is() {
    for text in [
        "gift for him",
        "rock robe",
        "red shoes",
        "coffee without sugar",
        "hydro flask",
        "",
        "de la van",
    ] {
        assert_eq!(translated(text), None, "{text}");
    }
    // Words that occur in titles do not identify a language.
    assert_eq!(TranslatedQuery::of("Schuhe", |_| true, |_| false), None);
    // Words before numbers identify a language, unless they are also English.
    let among = |text| TranslatedQuery::of(text, |_| true, |word| word == "de").map(|english| english.text);
    assert_eq!(
        among("lampada tra 50 e 100").as_deref(),
        Some("lamp between 50 and 100")
    );
    assert_eq!(among("robe de 50"), None);
    // Grammatical words identify a language if other words of it are present.
    assert!(TranslatedQuery::of("Schuhe ohne Leder", |_| true, |_| false).is_some());
}

#[test]
fn a_part_of_the_english_leads_back_to_what_was_typed() {
    let found = TranslatedQuery::of("Kopfhörer ohne Kabel bis 80 €", |_| false, |_| false).unwrap();
    assert_eq!(found.text, "headphones wireless up to 80 €");
    assert_eq!(found.typed("up to 80"), "bis 80");
    assert_eq!(found.typed("headphones"), "Kopfhörer");
    let words: Vec<_> = found.words().map(|word| (word.of, word.to)).collect();
    assert_eq!(words, [("Kopfhörer", "headphones"), ("ohne Kabel", "wireless")]);
}
