use proptest::prelude::*;

use super::intent::NoBrands;
use super::*;

mod brands;
mod notations;
mod shoppers;

fn line(text: &str) -> String {
    line_among(text, &NoBrands)
}

fn line_among(text: &str, names: &dyn BrandNames) -> String {
    let understood = read(text, names);
    let parts = understood.parts.iter().map(|part| {
        let meaning = match &part.meaning {
            Meaning::Price(Price { min, max, currency, .. }) => {
                let whole = |amount: &Option<u64>| amount.map_or(String::new(), |amount| (amount / 1_000).to_string());
                let currency = currency.map_or(String::new(), |currency| format!(" {}", currency.as_str()));
                format!("{}..{}{currency}", whole(min), whole(max))
            }
            Meaning::Excluded(words) => format!("not {}", words.join(" or ")),
            Meaning::ExcludedBrand(at) => format!("not of {}", brands::BRANDS.0[*at].0),
            Meaning::Lacking(lacking) => format!("lacks {}", lacking.of),
            Meaning::Phrase(_) => "phrase".to_owned(),
            Meaning::Gift(_) => "gift".to_owned(),
            Meaning::Wear(_) => "occasion".to_owned(),
            Meaning::Need(_) => "need".to_owned(),
            Meaning::Recipient => "recipient".to_owned(),
            Meaning::Age(months) => format!("{months} months"),
            Meaning::OnSale => "on sale".to_owned(),
            Meaning::InStock => "in stock".to_owned(),
            Meaning::Order(order) => order.as_str().to_owned(),
            Meaning::Asking => "ignored".to_owned(),
        };
        format!("[{}: {meaning}]", part.text)
    });
    let parts: Vec<String> = parts.collect();
    format!("{text} → {} {}", understood.text, parts.join(" "))
        .trim()
        .to_owned()
}

fn lines(texts: &[&str]) -> String {
    texts.iter().map(|text| line(text)).collect::<Vec<_>>().join("\n")
}

#[test]
fn prices_are_read_in_english_and_hinglish() {
    insta::assert_snapshot!(lines(&[
        "shoes under 2000",
        "kurta below ₹1,500",
        "mug 500 se kam",
        "2k tak backpack",
        "saree between 1000 and 2000",
        "rug from 1.5k to 3k",
        "tea under 20 dollars",
        "Rs.500 ke andar candle",
        "watch above 5 thousand",
        "necklace 1 lakh se zyada",
        "jeans ₹1000-₹2000",
        "headphones around 2000",
        "5000-8000 rug",
        "price range of 1000 to 2000 kurta",
        "500/- wali bottle",
        "£20 candle",
        "under 1000",
        "kurta 500 से कम",
    ]), @r#"
    shoes under 2000 → shoes [under 2000: ..2000]
    kurta below ₹1,500 → kurta [below ₹1,500: ..1500 INR]
    mug 500 se kam → mug [500 se kam: ..500]
    2k tak backpack → backpack [2k tak: ..2000]
    saree between 1000 and 2000 → saree [between 1000 and 2000: 1000..2000]
    rug from 1.5k to 3k → rug [from 1.5k to 3k: 1500..3000]
    tea under 20 dollars → tea [under 20 dollars: ..20 USD]
    Rs.500 ke andar candle → candle [Rs.500 ke andar: ..500 INR]
    watch above 5 thousand → watch [above 5 thousand: 5000..]
    necklace 1 lakh se zyada → necklace [1 lakh se zyada: 100000..]
    jeans ₹1000-₹2000 → jeans [₹1000-₹2000: 1000..2000 INR]
    headphones around 2000 → headphones [around 2000: 1500..2500]
    5000-8000 rug → rug [5000-8000: 5000..8000]
    price range of 1000 to 2000 kurta → kurta [price range of 1000 to 2000: 1000..2000]
    500/- wali bottle → bottle [500/- wali: ..500]
    £20 candle → candle [£20: ..20 GBP]
    under 1000 →  [under 1000: ..1000]
    kurta 500 से कम → kurta [500 से कम: ..500]
    "#);
}

#[test]
fn amounts_may_be_spelled_out_and_ranges_may_repeat_the_currency() {
    insta::assert_snapshot!(lines(&[
        "notebook under five hundred",
        "do hazar ke andar joote",
        "दो हजार से कम कुर्ता",
        "५०० रुपये से कम चाय",
        "Rs.500-Rs.1000 tea",
        "Rs 500 - Rs 1000 tea",
        "tea 500 – 1000",
        "2 to 3 thousand ki saree",
        "necklace under 1 crore",
        "mug under 1000 bucks",
        "dumbbell 10 pounds",
        "tea under 10 pounds",
        "hundred percent cotton kurta",
    ]), @r"
    notebook under five hundred → notebook [under five hundred: ..500]
    do hazar ke andar joote → joote [do hazar ke andar: ..2000]
    दो हजार से कम कुर्ता → कुर्ता [दो हजार से कम: ..2000]
    ५०० रुपये से कम चाय → चाय [५०० रुपये से कम: ..500 INR]
    Rs.500-Rs.1000 tea → tea [Rs.500-Rs.1000: 500..1000 INR]
    Rs 500 - Rs 1000 tea → tea [Rs 500 - Rs 1000: 500..1000 INR]
    tea 500 – 1000 → tea [500 – 1000: 500..1000]
    2 to 3 thousand ki saree → saree [2 to 3 thousand: 2000..3000] [ki: ignored]
    necklace under 1 crore → necklace [under 1 crore: ..10000000]
    mug under 1000 bucks → mug [under 1000 bucks: ..1000]
    dumbbell 10 pounds → dumbbell 10 pounds
    tea under 10 pounds → tea [under 10 pounds: ..10 GBP]
    hundred percent cotton kurta → hundred percent cotton kurta
    ");
}

#[test]
fn years_are_no_prices_where_words_may_say_other_things() {
    insta::assert_snapshot!(lines(&[
        "planner for 2025",
        "is there a planner for 2027",
        "kurta for 2000",
        "kurta for 1999",
        "phone under 2025",
    ]), @r"
    planner for 2025 → planner for 2025
    is there a planner for 2027 → a planner for 2027 [is there: ignored]
    kurta for 2000 → kurta [for 2000: ..2000]
    kurta for 1999 → kurta [for 1999: ..1999]
    phone under 2025 → phone [under 2025: ..2025]
    ");
}

#[test]
fn prices_that_may_be_names_can_be_left_as_words() {
    let sure = |text: &str| read_sure(text, &NoBrands).text;
    assert_eq!(read("nike air max 97", &NoBrands).text, "nike air");
    assert_eq!(sure("nike air max 97"), "nike air max 97");
    assert_eq!(sure("shoes under 2000"), "shoes");
}

#[test]
fn refusals_may_be_of_several_words_and_name_what_is_left() {
    insta::assert_snapshot!(lines(&[
        "green tea ke alawa chai",
        "kurta in any colour but black",
        "everything except leather bags",
        "leather free wallet",
        "wallet leather free",
    ]), @r"
    green tea ke alawa chai → chai [green tea ke alawa: lacks green tea]
    kurta in any colour but black → kurta [in any colour but black: not black]
    everything except leather bags → bags [everything except leather: not leather]
    leather free wallet → leather free wallet [leather free: lacks leather]
    wallet leather free → wallet leather free [leather free: lacks leather]
    ");
}

#[test]
fn counts_sizes_ages_codes_and_years_are_no_prices() {
    insta::assert_snapshot!(lines(&[
        "power bank under 20000 mah",
        "tv above 50 inch",
        "iphone 15 case",
        "shirt size 40-42",
        "insert 200-250",
        "molding sku 237-752",
        "planner 2026-2027",
        "kids under 5",
        "5 kg dumbbell",
        "under armour shoes",
        "gift voucher 500 rs",
        "pack of 2 towels",
        "3 to 5 seater sofa",
    ]), @r#"
    power bank under 20000 mah → power bank under 20000 mah
    tv above 50 inch → tv above 50 inch
    iphone 15 case → iphone 15 case
    shirt size 40-42 → shirt size 40-42
    insert 200-250 → insert 200-250
    molding sku 237-752 → molding sku 237-752
    planner 2026-2027 → planner 2026-2027
    kids under 5 → kids under 5
    5 kg dumbbell → 5 kg dumbbell
    under armour shoes → under armour shoes
    gift voucher 500 rs → gift voucher 500 rs
    pack of 2 towels → pack of 2 towels
    3 to 5 seater sofa → 3 to 5 seater sofa
    "#);
}

#[test]
fn what_is_not_wanted_is_read() {
    insta::assert_snapshot!(lines(&[
        "kurta not black",
        "not black kurta",
        "belt non leather",
        "muesli without sugar",
        "bina cheeni ki chai",
        "leather ke bina wallet",
        "kurta kala nahi chahiye",
        "shoes -running",
        "jeans that are not mom fit",
        "backpack except navy-blue",
        "headphones but not over-ear",
        "headphones not in-ear",
        "bottle not copper or glass",
        "tea but not green tea",
        "caffeine free tea",
        "no show socks",
        "non stick tawa",
        "hands free kit",
        "not black",
        "no 5 perfume",
    ]), @r#"
    kurta not black → kurta [not black: not black]
    not black kurta → kurta [not black: not black]
    belt non leather → belt [non leather: lacks leather]
    muesli without sugar → muesli [without sugar: lacks sugar]
    bina cheeni ki chai → chai [bina cheeni: lacks cheeni] [ki: ignored]
    leather ke bina wallet → wallet [leather ke bina: lacks leather]
    kurta kala nahi chahiye → kurta [kala nahi chahiye: lacks kala]
    shoes -running → shoes [-running: not running]
    jeans that are not mom fit → jeans [that are not mom fit: not mom fit]
    backpack except navy-blue → backpack [except navy-blue: not navy blue]
    headphones but not over-ear → headphones [but not over-ear: not over ear]
    headphones not in-ear → headphones [not in-ear: not in ear]
    bottle not copper or glass → bottle [not copper or glass: not copper or glass]
    tea but not green tea → tea [but not green tea: not green tea]
    caffeine free tea → caffeine free tea [caffeine free: lacks caffeine]
    no show socks → no show socks
    non stick tawa → non stick tawa
    hands free kit → hands free kit
    not black → not black
    no 5 perfume → no 5 perfume
    "#);
}

#[test]
fn gifts_occasions_and_ages_are_read() {
    insta::assert_snapshot!(lines(&[
        "gift for mother",
        "birthday gift for 5 year old",
        "papa ke liye tohfa",
        "gift for coffee lover",
        "wallet gift for dad",
        "kurta for my wife",
        "gift card",
        "romper for 6 month old",
        "return gifts for kids birthday party",
        "what should i wear to a wedding",
        "something warm for winter",
        "romantic gift for boyfriend under 2000 not red",
        "mother",
        "shoes for men",
        "5 year warranty battery",
    ]), @r#"
    gift for mother →  [gift for mother: gift]
    birthday gift for 5 year old →  [birthday gift for 5 year old: gift]
    papa ke liye tohfa →  [papa ke liye tohfa: gift]
    gift for coffee lover → coffee [gift for: recipient] [lover: recipient]
    wallet gift for dad → wallet [gift: recipient] [for dad: recipient]
    kurta for my wife → kurta [for my wife: recipient]
    gift card → gift card
    romper for 6 month old → romper [for 6 month old: 6 months]
    return gifts for kids birthday party →  [return gifts for kids birthday party: gift]
    what should i wear to a wedding →  [what should i: ignored] [wear to a wedding: occasion]
    something warm for winter →  [something warm for winter: occasion]
    romantic gift for boyfriend under 2000 not red →  [romantic gift for boyfriend: gift] [under 2000: ..2000] [not red: not red]
    mother → mother
    shoes for men → shoes for men
    5 year warranty battery → 5 year warranty battery
    "#);
}

#[test]
fn questions_lose_their_words_and_needs_are_read() {
    insta::assert_snapshot!(lines(&[
        "how do i keep my coffee hot",
        "which oil is good for hair fall",
        "mujhe lal kurta chahiye",
        "show me some earrings",
        "kutte ka khana",
        "dog food",
        "\"vitamin c\" serum",
        "what is this",
        "trash can",
        "no words but \"two of these\"",
    ]), @r#"
    how do i keep my coffee hot →  [how do i keep my: ignored] [coffee hot: need]
    which oil is good for hair fall → oil is for [which: ignored] [good: ignored] [hair fall: need]
    mujhe lal kurta chahiye → lal kurta [mujhe: ignored] [chahiye: ignored]
    show me some earrings → earrings [show me some: ignored]
    kutte ka khana →  [kutte: need] [ka: ignored]
    dog food → dog food
    "vitamin c" serum → "vitamin c" serum [vitamin c: phrase]
    what is this → what is this
    trash can → trash can
    no words but "two of these" → but "two of these" [no words: lacks words] [two of these: phrase]
    "#);
}

#[test]
fn words_alone_come_back_as_they_were() {
    for text in [
        "",
        "  ",
        "black leather wallet",
        "Good Hands Estate",
        "Chanderi Saree - Maroon",
        "6x9 rug",
        "cr2032",
        "!!!",
        "\"",
        "-",
        "चाय",
    ] {
        assert_eq!(
            read(text, &NoBrands),
            ParsedQuery {
                text: text.to_owned(),
                ..ParsedQuery::default()
            },
            "{text}"
        );
    }
}

#[test]
fn a_question_is_a_sentence_and_a_list_of_words_is_none() {
    for (text, is_sentence) in [
        ("which shoes are good for bunions", true),
        ("what helps a dog that is scared of thunder", true),
        ("red shoes without laces", false),
        ("kurta ke liye dupatta", false),
    ] {
        assert_eq!(read(text, &NoBrands).is_sentence, is_sentence, "{text}");
    }
}

#[test]
fn people_seasons_and_grammar_are_never_misspellings() {
    for word in [
        "mens", "womens", "liye", "sardi", "padding", "wedding", "diwali", "kaise", "tohfa",
    ] {
        assert!(is_kept(word), "{word}");
    }
    assert!(!is_kept("shampo"));
}

proptest! {
    #[test]
    fn whatever_is_typed_is_read_and_nothing_is_made_up(text in "\\PC{0,60}|([a-z0-9₹$\"'-]{1,8} ){0,12}") {
        let understood = read(&text, &NoBrands);
        for part in &understood.parts {
            prop_assert!(text.contains(&part.text), "{:?}", part);
        }
        for word in understood.text.split_whitespace() {
            prop_assert!(text.contains(word), "{word:?}");
        }
    }

    #[test]
    fn sentences_of_the_tables_words_are_read(words in prop::collection::vec(prop::sample::select(vec![
        "gift", "for", "my", "mother", "5", "year", "old", "under", "2000", "rs", "not", "black", "without", "sugar", "free",
        "-", "\"", "kurta", "between", "and", "k", "how", "keep", "coffee", "hot", "ke", "liye", "bina", "nahi", "wedding",
        "outfit", "₹", "or", "1-2", "return", "gifts", "lover", "को", "चाहिए",
    ]), 0..14)) {
        let text = words.join(" ");
        let understood = read(&text, &NoBrands);
        // The words of a phrase are either removed from the text or kept, so that the text never grows.
        prop_assert!(understood.text.len() <= text.len());
        let prices = understood.parts.iter().filter_map(|part| match part.meaning {
            Meaning::Price(price) => Some(price),
            _ => None,
        });
        for price in prices {
            prop_assert!(price.min.is_some() || price.max.is_some());
            prop_assert!(price.min.zip(price.max).is_none_or(|(min, max)| min <= max));
        }
    }
}

#[test]
fn words_of_things_are_not_words_of_sentences() {
    insta::assert_snapshot!(lines(&[
        "gift box", "mom jeans", "mens wallet", "can opener", "no country for old men book", "dad hat", "baby food",
        "teacher planner", "the north face jacket under 5000", "size 10 shoes under 3000", "2 in 1 shampoo",
        "3 to 6 months romper", "pack of 3 towels under 500", "i love you mug", "keep calm mug", "need for speed",
        "iphone 13 under 50000", "5000 mah power bank under 1500", "not your mother's shampoo", "free size kurta",
        "fat free milk", "kids toys under 500", "shoes for women under 1000", "dress for girls 5-6 years",
        "coffee gift hamper", "chai lover mug", "wedding saree", "warm white led bulb", "dry dog food", "hot water bag",
        "running shoes for men size 9", "1.5 ton ac under 40k", "laptop under 50k with 16gb ram", "tv 43 inch under 30000",
        "red dress under 20", "saree 500 se 1000 tak", "2 to 3 thousand ki saree", "sone ki chain", "do you sell mugs",
        "what is the best shampoo for oily hair", "is there any gluten free pasta", "kids shoes without laces",
        "phone cover but not transparent", "shirt non iron", "mug for boss", "toys for 3 year old girl under 1000",
        "mere bhai ke liye watch", "garmi ke kapde", "office wear for men", "lunch box for office",
    ]), @r#"
    gift box → gift box
    mom jeans → mom jeans
    mens wallet → mens wallet
    can opener → can opener
    no country for old men book → for old men book [no country: lacks country]
    dad hat → dad hat
    baby food → baby food
    teacher planner → teacher planner
    the north face jacket under 5000 → the north face jacket [under 5000: ..5000]
    size 10 shoes under 3000 → size 10 shoes [under 3000: ..3000]
    2 in 1 shampoo → 2 in 1 shampoo
    3 to 6 months romper → 3 to 6 months romper
    pack of 3 towels under 500 → pack of 3 towels [under 500: ..500]
    i love you mug → i love you mug
    keep calm mug → keep calm mug
    need for speed → for speed [need: ignored]
    iphone 13 under 50000 → iphone 13 [under 50000: ..50000]
    5000 mah power bank under 1500 → 5000 mah power bank [under 1500: ..1500]
    not your mother's shampoo → not your mother's shampoo
    free size kurta → free size kurta
    fat free milk → fat free milk [fat free: lacks fat]
    kids toys under 500 → kids toys [under 500: ..500]
    shoes for women under 1000 → shoes for women [under 1000: ..1000]
    dress for girls 5-6 years → dress for girls 5-6 years
    coffee gift hamper → coffee gift hamper
    chai lover mug → chai lover mug
    wedding saree → wedding saree
    warm white led bulb → warm white led bulb
    dry dog food → dry dog food
    hot water bag → hot water bag
    running shoes for men size 9 → running shoes for men size 9
    1.5 ton ac under 40k → 1.5 ton ac [under 40k: ..40000]
    laptop under 50k with 16gb ram → laptop with 16gb ram [under 50k: ..50000]
    tv 43 inch under 30000 → tv 43 inch [under 30000: ..30000]
    red dress under 20 → red dress [under 20: ..20]
    saree 500 se 1000 tak → saree [500 se 1000 tak: 500..1000]
    2 to 3 thousand ki saree → saree [2 to 3 thousand: 2000..3000] [ki: ignored]
    sone ki chain → sone chain [ki: ignored]
    do you sell mugs → mugs [do you sell: ignored]
    what is the best shampoo for oily hair → is the shampoo for oily hair [what: ignored] [best: ignored]
    is there any gluten free pasta → gluten free pasta [is there any: ignored] [gluten free: lacks gluten]
    kids shoes without laces → kids shoes [without laces: lacks laces]
    phone cover but not transparent → phone cover [but not transparent: not transparent]
    shirt non iron → shirt non iron
    mug for boss → mug [for boss: recipient]
    toys for 3 year old girl under 1000 → toys girl [for 3 year old: 36 months] [under 1000: ..1000]
    mere bhai ke liye watch → watch [mere bhai ke liye: recipient]
    garmi ke kapde →  [garmi ke kapde: occasion]
    office wear for men →  [office wear for men: occasion]
    lunch box for office → lunch box for office
    "#);
}

#[test]
fn in_is_no_length_before_what_a_thing_may_be_in() {
    for (text, expected) in [
        (
            "tee under 40 in black",
            "tee under 40 in black → tee in black [under 40: ..40]",
        ),
        (
            "tee under 40 in cotton",
            "tee under 40 in cotton → tee in cotton [under 40: ..40]",
        ),
        ("rug under 40 in wide", "rug under 40 in wide → rug under 40 in wide"),
        ("tv under 40 in", "tv under 40 in → tv under 40 in"),
    ] {
        assert_eq!(line(text), expected);
    }
}

#[test]
fn a_sentence_that_says_much_besides_is_no_need() {
    let needs = |text: &str| {
        let parts = read(text, &NoBrands).parts;
        parts.iter().any(|part| matches!(part.meaning, Meaning::Need(_)))
    };
    assert!(needs("how do i keep my coffee hot"));
    assert!(needs("i want a comfortable pair of shoes"));
    assert!(!needs(
        "i want a comfortable pair of white canvas shoes to wear to college every day"
    ));
}
