//! Countries and the address parts that they need. The needs are those that the platform stated when every country was
//! tried.

use crate::table::rows;

/// Codes and names of the countries of the emulated stores and buyers, and of the zones of the countries that many
/// stores here are in, with the names that the Ajax API accepts.
const PLACES: &str = include_str!("../data/places.tsv");

const WITH_PROVINCES: &str = "AE AR AU BR CA CL CN CO CR EG ES GT HK ID IE IN IT JP KR KW MX MY NG PA PE PH PT RO RU SV \
                              TH US UY VE ZA";

const WITH_ZIPS: &str = "AD AR AT AU AX BA BE BG BL BM BN BR CA CH CN CY CZ DE DK EE ES FI FO FR GB GE GF GG GL GP GR HR \
                         HU ID IE IM IN IS IT JE JP KR LI LT LU LV MC ME MF MG MK MQ MS MT MX MY NC NL NO NZ PF PH PL PM \
                         PT RE RS RU SE SG SI SJ SK SM TH UA UM US VG WF YT ZA";

const WITHOUT_CITIES: &str = "GI GS PN SG TA VA";

/// Codes of countries to which the platform does not ship.
const UNSUPPORTED: &str = "CU IR KP SY";

/// A country code that no country has.
pub(crate) const NOWHERE: &str = "ZZ";

/// Parts that an address in a country must have, besides a name and a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) province: bool,
    pub(crate) zip: bool,
    pub(crate) city: bool,
}

pub(crate) fn needs(country: &str) -> Needs {
    let is_in = |list: &str| list.split(' ').any(|code| code == country);
    Needs {
        province: is_in(WITH_PROVINCES),
        zip: is_in(WITH_ZIPS),
        city: !is_in(WITHOUT_CITIES),
    }
}

pub(crate) fn is_supported(country: &str) -> bool {
    UNSUPPORTED.split(' ').all(|code| code != country)
}

/// A country, or a zone of a country.
struct Place {
    code: &'static str,
    name: &'static str,
}

impl Place {
    fn is(&self, text: &str) -> bool {
        self.code.eq_ignore_ascii_case(text) || self.name.eq_ignore_ascii_case(text)
    }
}

fn countries() -> impl Iterator<Item = Place> {
    zones("country")
}

fn zones(country: &str) -> impl Iterator<Item = Place> {
    rows(PLACES).filter_map(move |row| match *row {
        [of, code, name] if of == country => Some(Place { code, name }),
        _ => None,
    })
}

/// Returns the name of a country, or its code if the name is not listed here.
pub(crate) fn name(code: &str) -> &str {
    let known = countries().find(|country| country.code == code);
    known.map_or(code, |country| country.name)
}

/// True if a country has a zone with this code. Countries whose zones are not listed here accept any code.
pub(crate) fn has_zone(country: &str, zone: &str) -> bool {
    let mut zones = zones(country).peekable();
    zones.peek().is_none() || zones.any(|known| known.code.eq_ignore_ascii_case(zone))
}

/// Returns the code of a country, given its name or its code.
pub(crate) fn code(country: &str) -> Option<&'static str> {
    let known = countries().find(|known| known.is(country.trim()));
    known.map(|known| known.code)
}

/// True if a country has a zone with this name or code. Countries whose zones are not listed here accept any.
pub(crate) fn names_zone(country: &str, zone: &str) -> bool {
    let mut zones = zones(country).peekable();
    zones.peek().is_none() || zones.any(|known| known.is(zone))
}

/// True if a postal code fits the country's format. Countries whose formats are not listed here accept any code.
pub(crate) fn is_zip(country: &str, zip: &str) -> bool {
    let digits = |length: usize| zip.len() == length && zip.bytes().all(|byte| byte.is_ascii_digit());
    match country {
        "IN" => digits(6) && !zip.starts_with('0'),
        "DE" | "US" => digits(5),
        "SG" => digits(6),
        _ => !needs(country).zip || !zip.trim().is_empty(),
    }
}
