use data_model::Timestamp;

/// Writes one JSON object into a buffer: members in the order of the calls, no tree in between.
///
/// Names are written as they are and must need no escapes; values are escaped.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
}

/// Writes `{`, the members that `write` adds, and `}`.
pub(crate) fn object(out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectWriter<'_>)) {
    out.push(b'{');
    write(&mut ObjectWriter { out, first: true });
    out.push(b'}');
}

/// Writes `[`, each item by `write` with commas between them, and `]`.
pub(crate) fn array<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    let mut first = true;
    for item in items {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}

/// Writes a string with its quotes.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    // Hardly any text has what must be escaped, and to ask the whole of it is much faster than to ask letter by letter.
    let is_escaped = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    if !bytes.iter().fold(false, |any, byte| any | is_escaped(byte)) {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return;
    }
    let mut written = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0x00..=0x1f => &[],
            _ => continue,
        };
        out.extend_from_slice(&bytes[written..at]);
        if escape.is_empty() {
            let hex = b"0123456789abcdef";
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[hex[usize::from(byte >> 4)], hex[usize::from(byte & 15)]]);
        } else {
            out.extend_from_slice(escape);
        }
        written = at + 1;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// Writes a whole number.
pub(crate) fn integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Writes a number as short as it reads back the same; `null` for what is no number.
pub(crate) fn number(out: &mut Vec<u8>, value: f32) {
    // Writing to a vector cannot fail, and serde_json writes `null` for NaN and infinities.
    let _ = serde_json::to_writer(out, &value);
}

/// Writes anything that displays without quotes, backslashes or control characters: ids, moments.
fn displayed(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    use std::io::Write;
    out.push(b'"');
    let _ = write!(out, "{value}");
    out.push(b'"');
}

impl ObjectWriter<'_> {
    /// Writes a member's name; the caller writes its value into the buffer that this answers.
    pub(crate) fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    /// Members that were written beforehand, `"a":1,"b":2`.
    pub(crate) fn prepared(&mut self, members: &[u8]) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        self.out.extend_from_slice(members);
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        string(self.name(name), value);
    }

    /// A member whose name is a store's own word.
    pub(crate) fn free(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
        string(self.out, name);
        self.out.push(b':');
        self.out
    }

    pub(crate) fn text_or_null(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(name, value),
            None => self.null(name),
        }
    }

    pub(crate) fn id(&mut self, name: &str, value: impl std::fmt::Display) {
        displayed(self.name(name), value);
    }

    pub(crate) fn moment_or_null(&mut self, name: &str, value: Option<Timestamp>) {
        match value {
            Some(value) => displayed(self.name(name), value),
            None => self.null(name),
        }
    }

    pub(crate) fn integer(&mut self, name: &str, value: impl itoa::Integer) {
        integer(self.name(name), value);
    }

    pub(crate) fn integer_or_null(&mut self, name: &str, value: Option<impl itoa::Integer>) {
        match value {
            Some(value) => self.integer(name, value),
            None => self.null(name),
        }
    }

    pub(crate) fn number_or_null(&mut self, name: &str, value: Option<f32>) {
        match value {
            Some(value) => number(self.name(name), value),
            None => self.null(name),
        }
    }

    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        self.name(name)
            .extend_from_slice(if value { b"true" } else { b"false" });
    }

    pub(crate) fn flag_or_null(&mut self, name: &str, value: Option<bool>) {
        match value {
            Some(value) => self.flag(name, value),
            None => self.null(name),
        }
    }

    pub(crate) fn null(&mut self, name: &str) {
        self.name(name).extend_from_slice(b"null");
    }

    pub(crate) fn object(&mut self, name: &str, write: impl FnOnce(&mut ObjectWriter<'_>)) {
        object(self.name(name), write);
    }

    pub(crate) fn array<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(&mut Vec<u8>, T),
    ) {
        array(self.name(name), items, write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_object_is_written_in_order() {
        let mut out = Vec::new();
        object(&mut out, |object| {
            object.text("a", "x");
            object.integer_or_null("b", None::<i64>);
            object.array("c", [1, 2], integer);
            object.number_or_null("d", Some(4.7));
            object.object("e", |free| free.free("k\"").extend_from_slice(b"true"));
            object.prepared(b"\"f\":1");
            object.number_or_null("g", Some(f32::NAN));
        });
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            r#"{"a":"x","b":null,"c":[1,2],"d":4.7,"e":{"k\"":true},"f":1,"g":null}"#
        );
    }

    proptest! {
        #[test]
        fn every_text_reads_back_the_same(text in any::<String>(), odd in "[\\x00-\\x7f]{0,40}") {
            for text in [text, odd] {
                let mut out = Vec::new();
                string(&mut out, &text);
                prop_assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            }
        }
    }
}
