//! Test catalogue with more products than a list can contain.

use data_model::{Attribute, CategoryId, Product, ProductOption, Rating};

use crate::catalogue::{brand, product, variant};
use crate::support::Catalogue;

/// Returns pseudorandom numbers that are the same in every run.
fn drawn(id: u64, salt: u64) -> u64 {
    let mixed = (id + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xd1b5_4a32_d192_ed03);
    (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

const COLORS: [&str; 7] = ["Navy", "White", "Forest Green", "Black", "Rose", "Ochre", "Sand"];
const SIZES: [&str; 5] = ["S", "M", "L", "XL", "XXL"];
/// Category ids of shirts, dresses, shoes and coffee.
const CATEGORIES: [u32; 4] = [212, 2271, 187, 1868];

fn one(facts: &data_index::BrandFacts, id: u64) -> Product {
    let mut product = product(facts, id, &format!("Thing {id}"));
    product.category = (!drawn(id, 1).is_multiple_of(10)).then(|| CategoryId(CATEGORIES[(drawn(id, 2) % 4) as usize]));
    product.vendor = Some(format!("Vendor {}", drawn(id, 3) % 3));
    product.tags = vec![format!("tag {}", drawn(id, 4) % 90), "everything".to_owned()];
    if !drawn(id, 5).is_multiple_of(5) {
        product.attributes = vec![Attribute {
            name: "color".to_owned(),
            values: vec![COLORS[(drawn(id, 6) % 7) as usize].to_owned()],
        }];
    }
    let sizes = SIZES
        .iter()
        .filter(|size| drawn(id, 7 + size.len() as u64).is_multiple_of(2));
    product.options = vec![ProductOption {
        name: "Size".to_owned(),
        values: sizes.map(|size| (*size).to_owned()).collect(),
    }];
    let price_minor = 5_000 + i64::try_from(drawn(id, 20) % 400).unwrap() * 500;
    product.variants = vec![variant(id * 10, price_minor)];
    product.variants[0].available = !drawn(id, 21).is_multiple_of(4);
    product.variants[0].compare_at_minor = (drawn(id, 22).is_multiple_of(3)).then_some(price_minor + 1_000);
    product.rating = (drawn(id, 23).is_multiple_of(2)).then(|| Rating {
        average: (drawn(id, 24) % 11) as f32 / 2.0,
        count: (drawn(id, 25) % 3) as u32 + 1,
    });
    let day = 1_760_000_000_000_000 + i64::try_from(drawn(id, 26) % 40).unwrap() * 86_400_000_000;
    product.published_at = (!drawn(id, 27).is_multiple_of(3)).then(|| data_model::Timestamp::from_micros(day));
    product
}

/// Returns 1,130 products of four brands: two in rupees, one in dollars, one in yen. One brand has 1,100 of them.
pub(crate) fn wide() -> Catalogue {
    let brands = [
        (brand("Bazaar", "INR"), 1..1_101),
        (brand("Corner", "INR"), 2_000..2_015),
        (brand("Depot", "USD"), 3_000..3_010),
        (brand("Ekiben", "JPY"), 4_000..4_005),
    ];
    let filled = brands.map(|(facts, ids)| {
        let products = ids.map(|id| one(&facts, id)).collect();
        (facts, products)
    });
    filled.into()
}
