//! Tests of robots.txt parsing (RFC 9309) with the RFC's own examples, those of Google's parser, and Shopify's default
//! file.

use std::time::Duration;

use proptest::prelude::*;
use rstest::rstest;
use storefront::Robots;

fn allows(file: &str, path: &str) -> bool {
    Robots::parse(file.as_bytes(), "haat").allows(path)
}

/// RFC 9309, 5.1.
const SIMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
    User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
    User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
    User-Agent: quxbot\n\nEOF\n";

#[rstest]
#[case("haat", "/publications/x", true)]
#[case("haat", "/example/page.html", false)]
#[case("haat", "/pic.gif", false)]
#[case("haat", "/pic.gif?x", true)]
#[case("foobot", "/example/page.html", true)]
#[case("foobot", "/example/allowed.gif", true)]
#[case("foobot", "/publications/x", false)]
#[case("FooBot", "/", false)]
#[case("barbot", "/example/page.html", false)]
#[case("bazbot", "/example/page.html", false)]
#[case("bazbot", "/example/other.html", true)]
#[case("quxbot", "/example/page.html", true)]
fn the_rfc_simple_example(#[case] agent: &str, #[case] path: &str, #[case] allowed: bool) {
    assert_eq!(Robots::parse(SIMPLE.as_bytes(), agent).allows(path), allowed);
}

/// Example of RFC 9309, 5.2.
#[test]
fn the_longest_match_wins() {
    let file = "User-Agent: haat\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    assert!(!allows(file, "/example/page/disallowed.gif"));
    assert!(allows(file, "/example/page/x"));
    assert!(
        allows("User-agent: *\nDisallow: /a\nAllow: /a\n", "/a"),
        "of equals the allowing one wins"
    );
    assert!(allows("User-agent: *\nDisallow: /\nAllow: /$\n", "/"));
    assert!(!allows("User-agent: *\nDisallow: /\nAllow: /$\n", "/page.html"));
    assert!(!allows(
        "User-agent: *\nAllow: /page\nDisallow: /*.html\n",
        "/page.html"
    ));
}

/// Table of paths in RFC 9309, 2.2.2.
#[rstest]
#[case("/foo/bar?baz=quz", "/foo/bar?baz=quz")]
#[case("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar")]
#[case("/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar")]
#[case("/foo/bar/ツ", "/foo/bar/%E3%83%84")]
#[case("/foo/bar/%E3%83%84", "/foo/bar/ツ")]
#[case("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84")]
#[case("/foo/bar/%62%61%7A", "/foo/bar/baz")]
#[case("/foo/bar/baz", "/foo/bar/%62%61%7a")]
#[case("/path/file-with-a-%2A.html", "/path/file-with-a-*.html")]
#[case("/path/foo-%24", "/path/foo-$")]
#[case("/a$b", "/a$b")]
#[case("/*?u=https://x", "/p?u=https://x")]
#[case("/*://x", "/p?u=https://x")]
fn octets_are_compared_in_one_form(#[case] rule: &str, #[case] path: &str) {
    assert!(!allows(&format!("user-agent: *\ndisallow: {rule}\n"), path));
}

#[rstest]
#[case("/a%2Fb", "/a/b")]
#[case("/a%2fb", "/a/b")]
#[case("/a/b", "/a%2Fb")]
#[case("/file-%2A", "/file-x")]
#[case("/Fish", "/fish")]
#[case("fish", "/fish")]
fn different_octets_stay_different(#[case] rule: &str, #[case] path: &str) {
    assert!(allows(&format!("user-agent: *\ndisallow: {rule}\n"), path));
}

#[rstest]
#[case("/fish", &["/fish", "/fish.html", "/fishheads/y", "/fish.php?id=1"], &["/Fish.asp", "/catfish", "/?id=fish"])]
#[case("/fish*", &["/fish", "/fish.html", "/fish.php?id=1"], &["/Fish.asp", "/catfish"])]
#[case("/fish/", &["/fish/", "/fish/?id=1", "/fish/salmon.htm"], &["/fish", "/fish.html"])]
#[case("/*.php", &["/filename.php", "/folder/filename.php?p", "/folder/any.php.file.html", "/x.php/"], &["/", "/windows.PHP"])]
#[case("/*.php$", &["/filename.php", "/folder/filename.php"], &["/filename.php?p", "/filename.php/", "/windows.PHP"])]
#[case("/fish*.php", &["/fish.php", "/fishheads/catfish.php?p"], &["/Fish.PHP"])]
#[case("/a*b*c$", &["/abc", "/a1b2c", "/abcbc"], &["/abcd", "/acb", "/ab"])]
#[case("/**x", &["/x", "/ax"], &["/y"])]
#[case("*", &["/", "/x"], &[])]
#[case("*$", &["/", "/x"], &[])]
#[case("/$", &["/"], &["/x"])]
#[case("/aa*aa$", &["/aaaa", "/aaXaa"], &["/aa", "/aaa"])]
fn stars_and_dollars(#[case] rule: &str, #[case] hit: &[&str], #[case] missed: &[&str]) {
    let file = format!("user-agent: *\ndisallow: {rule}\n");
    assert_eq!(
        hit.iter().filter(|path| allows(&file, path)).collect::<Vec<_>>(),
        Vec::<&&str>::new()
    );
    assert_eq!(
        missed.iter().filter(|path| !allows(&file, path)).collect::<Vec<_>>(),
        Vec::<&&str>::new()
    );
}

#[rstest]
#[case::version("User-agent: haat/1.0\nDisallow: /\n", false)]
#[case::case("user-AGENT: HAAT\ndisallow: /\n", false)]
#[case::prefix_is_another("User-agent: haatbot\nDisallow: /\n", true)]
#[case::shorter_is_another("User-agent: haa\nDisallow: /\n", true)]
#[case::own_group_beats_all("User-agent: *\nDisallow: /\n\nUser-agent: haat\nAllow: /\n", true)]
#[case::own_empty_group_beats_all("User-agent: *\nDisallow: /\n\nUser-agent: haat\nDisallow:\n", true)]
#[case::groups_of_one_name_join(
    "User-agent: haat\nAllow: /x\n\nUser-agent: a\nDisallow: /y\n\nUser-agent: haat\nDisallow: /p\n",
    false
)]
#[case::two_names_share_rules("User-agent: a\nUser-agent: haat\nDisallow: /\n", false)]
#[case::other_lines_do_not_end_a_heading(
    "User-agent: haat\nSitemap: https://x/s.xml\n\nUser-agent: b\nDisallow: /\n",
    false
)]
#[case::rules_before_any_name_are_nobodys("Disallow: /\nUser-agent: *\nAllow: /x\n", true)]
#[case::crlf_and_comments("\u{feff}User-agent: * # everybody\r\nDisallow: /p # this\r\n", false)]
#[case::cr_alone("User-agent: *\rDisallow: /p\r", false)]
#[case::no_colon("User-agent *\nDisallow /p\n", false)]
#[case::misspelt("User-agent: *\nDissallow: /p\n", false)]
#[case::spaces("   User-agent :  *  \n\t Disallow\t:\t/p\n", false)]
#[case::empty_disallow_is_no_rule("User-agent: *\nDisallow:\nDisallow: /\n", false)]
#[case::html_is_no_rule("<!doctype html><title>Disallow: /</title>", true)]
#[case::nothing("", true)]
fn who_a_rule_is_for(#[case] file: &str, #[case] allowed: bool) {
    assert_eq!(allows(file, "/p/1"), allowed);
}

#[rstest::rstest]
fn a_whole_or_torn_byte_order_mark_hides_no_line(#[values(0, 1, 2, 3)] bytes: usize) {
    let file = [&b"\xef\xbb\xbf"[..bytes], b"User-agent: *\nDisallow: /p\n"].concat();
    assert!(!Robots::parse(&file, "haat").allows("/p/1"));
}

#[test]
fn the_platforms_default_file_leaves_the_catalogue_open() {
    let file = "# we use Shopify as our ecommerce platform\nUser-agent: *\nDisallow: /a/downloads/-/*\nDisallow: /admin\n\
        Disallow: /cart\nDisallow: /orders\nDisallow: /checkouts/\nDisallow: /checkout\nDisallow: /1234/checkouts\n\
        Disallow: /carts\nDisallow: /account\nDisallow: /collections/*sort_by*\nDisallow: /*/collections/*sort_by*\n\
        Disallow: /collections/*+*\nDisallow: /collections/*%2B*\nDisallow: /collections/*%2b*\n\
        Disallow: /*/collections/*filter*&*filter*\nDisallow: /blogs/*+*\nDisallow: /*?*oseid=*\n\
        Disallow: /*preview_theme_id*\nDisallow: /policies/\nDisallow: /*/*?*ls=*&ls=*\nDisallow: /search\n\
        Disallow: /recommendations/products\nDisallow: /cdn/wpm/*.js\nSitemap: https://x.example/sitemap.xml\n\n\
        User-agent: Nutch\nDisallow: /\n\nUser-agent: AhrefsBot\nCrawl-delay: 10\nDisallow: /admin\n\n\
        User-agent: Pinterest\nCrawl-delay: 1\n";
    for open in [
        "/products.json?limit=250&page=1",
        "/products/tea",
        "/products/tea.js",
        "/collections.json?limit=250&page=1",
        "/collections/all/products.json?limit=250&page=2",
        "/meta.json",
        "/sitemap.xml",
        "/pages/shipping",
        "/robots.txt",
    ] {
        assert!(allows(file, open), "{open}");
    }
    for closed in [
        "/cart",
        "/cart.js",
        "/search?q=tea",
        "/policies/shipping-policy",
        "/collections/all?sort_by=price",
        "/collections/a+b",
        "/collections/a%2Bb",
        "/en-in/collections/x?sort_by=a",
        "/account/login",
        "/checkout",
        "/products/x?a=1&oseid=2",
        "/en/products/x?ls=a&ls=b",
        "/cdn/wpm/b1.js",
        "/recommendations/products.json?product_id=1",
    ] {
        assert!(!allows(file, closed), "{closed}");
    }
    let robots = Robots::parse(file.as_bytes(), "haat");
    assert_eq!(robots.crawl_delay(), None);
    assert_eq!(
        Robots::parse(file.as_bytes(), "AhrefsBot").crawl_delay(),
        Some(Duration::from_secs(10))
    );
}

#[test]
fn the_file_itself_may_always_be_read() {
    assert!(allows("User-agent: *\nDisallow: /\n", "/robots.txt"));
}

#[test]
fn crawl_delays_are_seconds_or_nothing() {
    let delay =
        |value: &str| Robots::parse(format!("User-agent: *\nCrawl-delay: {value}\n").as_bytes(), "haat").crawl_delay();
    assert_eq!(delay("2"), Some(Duration::from_secs(2)));
    assert_eq!(delay("0.5"), Some(Duration::from_millis(500)));
    for wrong in ["-1", "NaN", "inf", "soon", "", "1e300"] {
        assert_eq!(delay(wrong), None, "{wrong}");
    }
}

#[test]
fn no_more_than_500_kib_is_read_and_half_a_line_is_no_rule() {
    let filler = "# filler\n".repeat(500 * 1024 / 9 - 2);
    let within = format!("User-agent: *\nDisallow: /x\n{filler}");
    assert!(!allows(&within, "/x"));
    let beyond = format!("{filler}{filler}User-agent: *\nDisallow: /x\n");
    assert!(allows(&beyond, "/x"));
    let mut cut = format!("User-agent: *\nDisallow: /x\n{filler}");
    cut.truncate(500 * 1024 - 12);
    cut.push_str(&" ".repeat(500 * 1024 - 8 - cut.len()));
    cut.push_str("\nAllow: /xyz-not-read-in-full\n");
    assert!(!allows(&cut, "/xyz-not-read-in-full"));
}

#[test]
fn a_hostile_file_costs_little() {
    let stars = format!("User-agent: *\nDisallow: /{}b$\n", "*a".repeat(200_000));
    assert!(allows(&stars, &format!("/{}", "a".repeat(4000))));
    let many = format!("User-agent: *\n{}", "Disallow: /*q\n".repeat(30_000));
    assert!(allows(&many, &format!("/{}", "a".repeat(4000))));
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(file in proptest::collection::vec(any::<u8>(), 0..400), path in "/\\PC{0,40}") {
        let _ = Robots::parse(&file, "haat").allows(&path);
    }

    #[test]
    fn patterns_match_as_the_naive_matcher_says(pattern in "/[ab*]{0,8}\\$?", path in "/[ab]{0,10}") {
        fn naive(pattern: &[u8], path: &[u8]) -> bool {
            match (pattern, path) {
                ([], _) => true,
                ([b'$'], _) => path.is_empty(),
                ([b'*', rest @ ..], _) => (0..=path.len()).any(|at| naive(rest, &path[at..])),
                ([head, rest @ ..], [first, tail @ ..]) => head == first && naive(rest, tail),
                _ => false,
            }
        }
        let file = format!("User-agent: *\nDisallow: {pattern}\n");
        prop_assert_eq!(!allows(&file, &path), naive(pattern.as_bytes(), path.as_bytes()));
    }
}
