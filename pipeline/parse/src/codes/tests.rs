use proptest::prelude::*;

use super::*;

fn told(html: &str) -> Vec<(String, u8)> {
    stated_codes(html)
        .into_iter()
        .map(|found| (found.code, found.plainness))
        .collect()
}

fn codes(html: &str) -> Vec<String> {
    told(html).into_iter().map(|(code, _)| code).collect()
}

#[test]
fn codes_are_found_where_shoppers_are_told_of_them() {
    let bars = [
        (
            "<div class=announcement>Use code <b>WELCOME10</b> for 10% off your first order</div>",
            "WELCOME10",
        ),
        ("<p>FLAT 20% OFF | CODE: FLAT20</p>", "FLAT20"),
        (
            "<p>Get ₹200 off with coupon code \u{201c}namaste\u{201d}</p>",
            "NAMASTE",
        ),
        (
            "<span>Extra 5% off on prepaid orders.</span> <span>Apply PREPAID5 at checkout</span>",
            "PREPAID5",
        ),
        ("<li>Coupon Code - DIWALI_50 (₹50 off)</li>", "DIWALI_50"),
        ("<p>USE CODE MONSOON FOR 15% OFF</p>", "MONSOON"),
        ("<p>Save 10% – use promo code: festive-10</p>", "FESTIVE-10"),
        ("<p>Flat 15% off! CHAI15 lagao aur bachao</p>", "CHAI15"),
        ("<p>Code lagao CHAI20, 20% off pao</p>", "CHAI20"),
        ("<p>कोड CHAI25 का इस्तेमाल करें और 25% छूट पाएं</p>", "CHAI25"),
        ("<p>CHAI30 कूपन लगाएं, ₹30 की छूट</p>", "CHAI30"),
        ("<p>10% off. Use code</p><p>TEATIME</p>", "TEATIME"),
        ("<button data-clipboard-text=\"COPY15\">Tap</button>", "COPY15"),
        ("<p>Free shipping with code SHIPFREE&nbsp;above ₹499</p>", "SHIPFREE"),
        ("<p><b>LABEL10</b> &ndash; 10% off</p>", "LABEL10"),
        ("<p>Rated 4.8 | SHIPIT: free delivery above Rs. 499</p>", "SHIPIT"),
        ("10% off: code TAIL10", "TAIL10"),
    ];
    for (bar, code) in bars {
        assert_eq!(codes(bar), [code], "{bar}");
    }
    assert_eq!(
        codes("<p>Use code TEA10 or TEA20 or MATE30: up to 30% off</p>"),
        ["TEA10", "TEA20", "MATE30"]
    );
}

#[test]
fn what_only_looks_like_a_code_is_none() {
    let texts = [
        "<p>Enter your PIN CODE 560001 to check DELIVERY</p>",
        "<p>QR code SCAN2PAY: 10% off on UPI</p>",
        "<p>FREE SHIPPING ON ALL ORDERS ABOVE ₹499. COD AVAILABLE</p>",
        "<p>Discount code is applied automatically at checkout. 10% off.</p>",
        "<p>HSN code AB1234, GST extra 5% off</p>",
        "<p>Use SPF50 daily. 20% off</p>",
        "<p>Use code of conduct for all. Flat rate.</p>",
        "<p>BUY 2 GET 1 FREE</p>",
        "<p>SALE – flat 20% off</p>",
        "<p>Blend 43 – now 10% off</p>",
        "<p>BUY NOW – 10% OFF – LIMITED STOCK</p>",
        "<p>Style code MX200BLK. Save on sets.</p>",
        "<p>Mail offers@TEA10.example or visit TEA10.example/use for 10% off</p>",
        "<p>Promo code: #FFAA00</p>",
        "<script>var bar = 'Use code HIDDEN10 for 10% off';</script>",
        "<style>.code::after{content:'code STYLE10 10% off'}</style>",
        "<template><p>Use code TPL10 for 10% off</p></template>",
        "<!-- Use code NOTE10 for 10% off -->",
        "<p>Use 500ML bottle, 2XL size, 10% off</p>",
        "<p>Have a coupon? Enter code</p><p>Here you can find all of our policies</p>",
    ];
    for text in texts {
        assert_eq!(codes(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_plainest_stands_first_and_each_stands_once() {
    let page = "<p>SAVE15 lagaye aur 15% discount paye</p><p>Use code TEA10 for 10% off</p><p>code tea10 – 10% off</p>";
    assert_eq!(told(page), [("TEA10".to_owned(), 3), ("SAVE15".to_owned(), 1)]);
}

#[test]
fn a_hostile_page_is_read_within_its_bounds() {
    let many: String = (0..5_000)
        .map(|at| format!("<p>Use code MANY{at} for 10% off</p>"))
        .collect();
    assert_eq!(codes(&many).len(), CODES_MAX);
    let long = format!("<p>Use code {} for 10% off</p>", "A1".repeat(2_000_000));
    assert_eq!(codes(&long), Vec::<String>::new());
    let one_line = format!("<p>{}use code LATE10 for 10% off", "code ".repeat(300_000));
    assert!(codes(&one_line).len() <= CODES_MAX);
    let nested = "<div>".repeat(400_000);
    assert_eq!(codes(&nested), Vec::<String>::new());
    let controls = "<p>Use code \u{202e}TEA10\u{0} for 10% off</p><p>Use code TEA\u{200b}20 10% off</p>";
    assert!(codes(controls).iter().all(|code| code.is_ascii()));
    assert_eq!(codes("<script>Use code OPEN10 for 10% off"), Vec::<String>::new());
}

proptest! {
    #[test]
    fn whatever_the_page_codes_are_codes(html in "(?s).{0,400}") {
        for found in stated_codes(&html) {
            prop_assert!((3..=24).contains(&found.code.len()));
            prop_assert!(found.code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"-_".contains(&byte)));
            prop_assert!((1..=3).contains(&found.plainness));
        }
    }

    #[test]
    fn pages_made_of_cues_and_tags_never_break_it(parts in proptest::collection::vec(
        proptest::sample::select(vec!["<p>", "</p>", "code", " ", "TEA10", "%", "₹", "use ", "<b>", "कोड ", "lagao ", "<script>", "</script>", "'", ".", "OFF ", "\u{94d}"]),
        0..60,
    )) {
        let page: String = parts.concat();
        // Quoted words may also be codes: `'codecode'`.
        let quoted = |code: &str| page.replace("<b>", "").to_uppercase().contains(&format!("'{code}'"));
        for found in stated_codes(&page) {
            prop_assert!(found.code.contains("TEA10") || quoted(&found.code), "{}", found.code);
        }
    }

    #[test]
    fn a_code_behind_the_word_code_is_found_whatever_it_is(code in "[A-Z]{2,8}[0-9]{1,4}", percent in 1_u8..90) {
        prop_assume!(!["ML", "KG", "SPF"].iter().any(|unit| code.starts_with(unit)));
        let page = format!("<div><p>Use code {code} for {percent}% off</p></div>");
        prop_assert_eq!(codes(&page), vec![code]);
    }
}
