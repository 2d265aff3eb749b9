use data_model::{Rating, Review, ReviewWidget};

use super::{ProductReviews, ReviewTable, SCHEMA, reviews_file};
use crate::columns::ipc;

fn product(product: u64, stars: &[f32]) -> ProductReviews {
    let review = |stars: &f32| Review {
        rating: *stars,
        author: Some("Zoë".to_owned()),
        title: None,
        body: format!("{stars}"),
        created_at: None,
    };
    ProductReviews {
        product,
        source: ReviewWidget::Yotpo,
        rating: (product > 1).then_some(Rating {
            average: 4.66,
            count: 3,
        }),
        reviews: stars.iter().map(review).collect(),
    }
}

#[test]
fn what_is_written_is_read_back_by_product() {
    let products = [product(1, &[5.0]), product(7, &[]), product(u64::MAX, &[1.0, 4.0])];
    let file = reviews_file(&products).unwrap().unwrap();
    assert_eq!(file.bytes.len() as u64, file.entry.size_bytes);
    let (batches, _) = ipc::read(file.bytes.into(), &SCHEMA).unwrap();
    let table = ReviewTable::of(&batches[0]).unwrap();
    assert_eq!(table.find(2), None);
    let at = table.find(u64::MAX).unwrap();
    let bodies: Vec<&str> = table.reviews().at(at as usize, "yotpo").map(|one| one.body).collect();
    assert_eq!((bodies, table.source(at)), (vec!["1", "4"], "yotpo"));
    assert_eq!(table.rating(at), products[2].rating);
    assert_eq!(table.rating(table.find(1).unwrap()), None);
    assert!(reviews_file(&[]).unwrap().is_none());
}

#[test]
fn products_out_of_order_are_refused() {
    let file = reviews_file(&[product(7, &[]), product(1, &[])]).unwrap().unwrap();
    let (batches, _) = ipc::read(file.bytes.into(), &SCHEMA).unwrap();
    assert!(ReviewTable::of(&batches[0]).is_err());
}
