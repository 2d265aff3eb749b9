//! Country rules for addresses.

/// Countries for which the platform requires a postal code.
const WITH_POSTCODES: &str = "AD AR AT AU AX BA BE BG BL BM BN BR CA CH CN CY CZ DE DK EE ES FI FO FR GB GE GF GG GL GP GR \
                              HR HU ID IE IM IN IS IT JE JP KR LI LT LU LV MC ME MF MG MK MQ MS MT MX MY NC NL NO NZ PF PH \
                              PL PM PT RE RS RU SE SG SI SJ SK SM TH UA UM US VG WF YT ZA";

pub(crate) fn has_postcodes(country: &str) -> bool {
    WITH_POSTCODES.split(' ').any(|code| code == country)
}
