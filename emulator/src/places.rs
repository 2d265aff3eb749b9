//! Countries and the address parts that they need. The needs are those that the platform demanded when every country
//! was tried.

/// Names of the countries of the emulated stores and buyers. Other countries are displayed by their code.
const NAMES: &[(&str, &str)] = &[
    ("AE", "United Arab Emirates"),
    ("AU", "Australia"),
    ("BD", "Bangladesh"),
    ("BR", "Brazil"),
    ("CA", "Canada"),
    ("CH", "Switzerland"),
    ("CN", "China"),
    ("DE", "Germany"),
    ("ES", "Spain"),
    ("FR", "France"),
    ("GB", "United Kingdom"),
    ("ID", "Indonesia"),
    ("IE", "Ireland"),
    ("IN", "India"),
    ("IT", "Italy"),
    ("JP", "Japan"),
    ("KW", "Kuwait"),
    ("LK", "Sri Lanka"),
    ("MY", "Malaysia"),
    ("NL", "Netherlands"),
    ("NP", "Nepal"),
    ("NZ", "New Zealand"),
    ("SA", "Saudi Arabia"),
    ("SE", "Sweden"),
    ("SG", "Singapore"),
    ("TH", "Thailand"),
    ("US", "United States"),
    ("ZA", "South Africa"),
];

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

/// Zones of the countries that many stores here are in, with the names that the Ajax API accepts.
const ZONES: &[(&str, &[(&str, &str)])] = &[
    (
        "AE",
        &[
            ("AZ", "Abu Dhabi"),
            ("AJ", "Ajman"),
            ("DU", "Dubai"),
            ("FU", "Fujairah"),
            ("RK", "Ras al-Khaimah"),
            ("SH", "Sharjah"),
            ("UQ", "Umm al-Quwain"),
        ],
    ),
    (
        "IN",
        &[
            ("AN", "Andaman and Nicobar Islands"),
            ("AP", "Andhra Pradesh"),
            ("AR", "Arunachal Pradesh"),
            ("AS", "Assam"),
            ("BR", "Bihar"),
            ("CH", "Chandigarh"),
            ("CG", "Chhattisgarh"),
            ("DN", "Dadra and Nagar Haveli"),
            ("DD", "Daman and Diu"),
            ("DL", "Delhi"),
            ("GA", "Goa"),
            ("GJ", "Gujarat"),
            ("HR", "Haryana"),
            ("HP", "Himachal Pradesh"),
            ("JK", "Jammu and Kashmir"),
            ("JH", "Jharkhand"),
            ("KA", "Karnataka"),
            ("KL", "Kerala"),
            ("LA", "Ladakh"),
            ("LD", "Lakshadweep"),
            ("MP", "Madhya Pradesh"),
            ("MH", "Maharashtra"),
            ("MN", "Manipur"),
            ("ML", "Meghalaya"),
            ("MZ", "Mizoram"),
            ("NL", "Nagaland"),
            ("OR", "Odisha"),
            ("PY", "Puducherry"),
            ("PB", "Punjab"),
            ("RJ", "Rajasthan"),
            ("SK", "Sikkim"),
            ("TN", "Tamil Nadu"),
            ("TS", "Telangana"),
            ("TR", "Tripura"),
            ("UP", "Uttar Pradesh"),
            ("UK", "Uttarakhand"),
            ("WB", "West Bengal"),
        ],
    ),
];

/// Parts that an address in a country must have, besides a name and a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) province: bool,
    pub(crate) zip: bool,
    pub(crate) city: bool,
}

/// Returns the parts that an address in a country needs.
pub(crate) fn needs(country: &str) -> Needs {
    let is_in = |list: &str| list.split(' ').any(|code| code == country);
    Needs {
        province: is_in(WITH_PROVINCES),
        zip: is_in(WITH_ZIPS),
        city: !is_in(WITHOUT_CITIES),
    }
}

/// Returns true if the platform ships to a country.
pub(crate) fn is_supported(country: &str) -> bool {
    UNSUPPORTED.split(' ').all(|code| code != country)
}

/// Returns the name of a country, or its code if the name is not listed here.
pub(crate) fn name(code: &str) -> &str {
    let known = NAMES.iter().find(|(known, _)| *known == code);
    known.map_or(code, |(_, name)| name)
}

fn zones(country: &str) -> Option<&'static [(&'static str, &'static str)]> {
    let known = ZONES.iter().find(|(known, _)| *known == country);
    known.map(|(_, zones)| *zones)
}

/// Returns true if a country has a zone with this code. Countries whose zones are not listed here accept any code.
pub(crate) fn has_zone(country: &str, zone: &str) -> bool {
    zones(country).is_none_or(|zones| zones.iter().any(|(code, _)| code.eq_ignore_ascii_case(zone)))
}

/// Returns the code of a country, given its name or its code.
pub(crate) fn code(country: &str) -> Option<&'static str> {
    let is_it = |(code, name): &&(&str, &str)| {
        code.eq_ignore_ascii_case(country.trim()) || name.eq_ignore_ascii_case(country.trim())
    };
    NAMES.iter().find(is_it).map(|(code, _)| *code)
}

/// Returns true if a country has a zone with this name or code. Countries whose zones are not listed here accept any.
pub(crate) fn names_zone(country: &str, zone: &str) -> bool {
    let is_it = |(code, name): &(&str, &str)| code.eq_ignore_ascii_case(zone) || name.eq_ignore_ascii_case(zone);
    zones(country).is_none_or(|zones| zones.iter().any(is_it))
}

/// Returns true if a postal code fits the country's format. Countries whose formats are not listed here accept any
/// code.
pub(crate) fn is_zip(country: &str, zip: &str) -> bool {
    let digits = |length: usize| zip.len() == length && zip.bytes().all(|byte| byte.is_ascii_digit());
    match country {
        "IN" => digits(6) && !zip.starts_with('0'),
        "DE" | "US" => digits(5),
        "SG" => digits(6),
        _ => !needs(country).zip || !zip.trim().is_empty(),
    }
}
