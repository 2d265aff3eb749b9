use data_embedding::Vector;
use serde::{Deserialize, Serialize};

/// Maximum size of a number with its comma in a response, in bytes. More digits add no information.
const NUMBER_BYTES_MAX: usize = 32;
/// Maximum size of a response apart from its numbers, in bytes: field names and information about the server.
const OTHER_BYTES_MAX: usize = 64 * 1024;

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: usize,
    embedding: Vec<f32>,
}

pub(super) fn request(model: &str, input: &[&str], dimensions: Option<usize>) -> Vec<u8> {
    let request = Request {
        model,
        input,
        encoding_format: "float",
        dimensions,
    };
    // Serialising texts and numbers cannot fail.
    serde_json::to_vec(&request).unwrap_or_default()
}

pub(super) const fn answer_bytes_max(texts: usize, dimensions: usize) -> usize {
    texts * (dimensions * NUMBER_BYTES_MAX + 256) + OTHER_BYTES_MAX
}

/// Parses the vectors of a response and orders them by index, with `None` for zero vectors. There must be exactly one
/// vector of the right length for each text, because a text could otherwise get another text's vector.
pub(super) fn answer(body: &[u8], texts: usize, dimensions: usize) -> Result<Vec<Option<Vector>>, String> {
    let answer: Answer = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    if answer.data.len() != texts {
        return Err(format!(
            "the response has {} vectors for {texts} texts",
            answer.data.len()
        ));
    }
    let mut vectors: Vec<Option<Option<Vector>>> = vec![None; texts];
    for entry in answer.data {
        let length = entry.embedding.len();
        if length != dimensions {
            return Err(format!("a vector has {length} components instead of {dimensions}"));
        }
        match vectors.get_mut(entry.index) {
            Some(place @ None) => *place = Some(Vector::new(&entry.embedding)),
            _ => return Err(format!("the index {} is a duplicate or out of range", entry.index)),
        }
    }
    Ok(vectors.into_iter().map(Option::flatten).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Vec<Option<Vec<i8>>>, String> {
        let components = |vector: Vector| vector.components().to_vec();
        let vectors = answer(body.as_bytes(), 2, 2)?;
        Ok(vectors.into_iter().map(|vector| vector.map(components)).collect())
    }

    #[test]
    fn each_vector_goes_where_its_index_says() {
        let body = r#"{"object":"list","model":"m","data":[
            {"index":1,"embedding":[0,-2.5e-3],"object":"embedding"},{"index":0,"embedding":[1,0]}]}"#;
        assert_eq!(read(body), Ok(vec![Some(vec![127, 0]), Some(vec![0, -127])]));
    }

    #[test]
    fn a_vector_of_zeros_says_nothing() {
        let body = r#"{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[0,1]}]}"#;
        assert_eq!(read(body), Ok(vec![None, Some(vec![0, 127])]));
    }

    #[test]
    fn an_answer_that_may_be_another_text_s_is_none() {
        for (body, why) in [
            (
                r#"{"data":[{"index":0,"embedding":[1,0]}]}"#,
                "the response has 1 vectors for 2 texts",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}"#,
                "the index 0 is a duplicate or out of range",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,0]},{"index":2,"embedding":[1,0]}]}"#,
                "the index 2 is a duplicate or out of range",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1]}]}"#,
                "a vector has 1 components instead of 2",
            ),
        ] {
            assert_eq!(read(body), Err(why.to_owned()));
        }
        assert!(read("<html>").is_err());
        assert!(read(r#"{"data":[{"index":0,"embedding":[null,0]}]}"#).is_err());
    }

    #[test]
    fn the_request_asks_for_dimensions_only_where_told_to() {
        let bytes = request("m", &["a\"b", "c"], None);
        insta::assert_snapshot!(String::from_utf8_lossy(&bytes), @r#"{"model":"m","input":["a\"b","c"],"encoding_format":"float"}"#);
        let bytes = request("m", &["a"], Some(256));
        insta::assert_snapshot!(String::from_utf8_lossy(&bytes), @r#"{"model":"m","input":["a"],"encoding_format":"float","dimensions":256}"#);
    }
}
