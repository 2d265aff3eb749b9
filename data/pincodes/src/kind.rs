use std::str::FromStr;

data_model::named! {
    /// Kind of an area, as carriers and stores divide India.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum PlaceKind {
        /// One of the eight largest cities.
        Metro = "metro",
        /// District of a state capital.
        Capital = "capital",
        /// Any other area on the mainland.
        Rest = "rest",
        /// A district in the mountains.
        Hill = "hill",
        /// The north-east and Ladakh.
        Remote = "remote",
        /// The Andaman and Nicobar Islands and Lakshadweep.
        Island = "island",
    }
}

impl PlaceKind {
    /// Returns the kind of area of a pincode. The names of state and district must be uppercase.
    pub(crate) fn of(number: u32, state: &str, district: &str) -> Self {
        let sorting_district = number / 1_000;
        if ISLANDS.contains(&state) {
            Self::Island
        } else if METROS.contains(&(state, sorting_district)) || state == "DELHI" {
            Self::Metro
        } else if CAPITALS.contains(&(state, district)) {
            Self::Capital
        } else if REMOTE.contains(&state) {
            Self::Remote
        } else if HILLS.contains(&state) || HILL_DISTRICTS.contains(&(state, district)) {
            Self::Hill
        } else {
            Self::Rest
        }
    }
}

impl FromStr for PlaceKind {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::named(text).ok_or(())
    }
}

const ISLANDS: [&str; 2] = ["ANDAMAN AND NICOBAR ISLANDS", "LAKSHADWEEP"];

/// Cities by postal sorting district: the state and the first three digits. Delhi is a separate state.
const METROS: [(&str, u32); 7] = [
    ("MAHARASHTRA", 400),
    ("MAHARASHTRA", 411),
    ("GUJARAT", 380),
    ("KARNATAKA", 560),
    ("TELANGANA", 500),
    ("TAMIL NADU", 600),
    ("WEST BENGAL", 700),
];

const CAPITALS: [(&str, &str); 24] = [
    ("ANDHRA PRADESH", "GUNTUR"),
    ("ARUNACHAL PRADESH", "PAPUM PARE"),
    ("ASSAM", "KAMRUP METRO"),
    ("BIHAR", "PATNA"),
    ("CHANDIGARH", "CHANDIGARH"),
    ("CHHATTISGARH", "RAIPUR"),
    ("GOA", "NORTH GOA"),
    ("GUJARAT", "GANDHINAGAR"),
    ("HIMACHAL PRADESH", "SHIMLA"),
    ("JAMMU AND KASHMIR", "SRINAGAR"),
    ("JHARKHAND", "RANCHI"),
    ("KERALA", "THIRUVANANTHAPURAM"),
    ("MADHYA PRADESH", "BHOPAL"),
    ("MANIPUR", "IMPHAL WEST"),
    ("MEGHALAYA", "EAST KHASI HILLS"),
    ("MIZORAM", "AIZAWL"),
    ("NAGALAND", "KOHIMA"),
    ("ODISHA", "KHORDHA"),
    ("PUDUCHERRY", "PONDICHERRY"),
    ("RAJASTHAN", "JAIPUR"),
    ("SIKKIM", "EAST DISTRICT"),
    ("TRIPURA", "WEST TRIPURA"),
    ("UTTAR PRADESH", "LUCKNOW"),
    ("UTTARAKHAND", "DEHRADUN"),
];

const REMOTE: [&str; 8] = [
    "ARUNACHAL PRADESH",
    "ASSAM",
    "LADAKH",
    "MANIPUR",
    "MEGHALAYA",
    "MIZORAM",
    "NAGALAND",
    "TRIPURA",
];

const HILLS: [&str; 4] = ["HIMACHAL PRADESH", "JAMMU AND KASHMIR", "SIKKIM", "UTTARAKHAND"];

const HILL_DISTRICTS: [(&str, &str); 5] = [
    ("KARNATAKA", "KODAGU"),
    ("KERALA", "IDUKKI"),
    ("TAMIL NADU", "THE NILGIRIS"),
    ("WEST BENGAL", "DARJEELING"),
    ("WEST BENGAL", "KALIMPONG"),
];
