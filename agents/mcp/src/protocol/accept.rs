/// The form in which an answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// Taken only by whoever takes no JSON.
    EventStream,
}

/// The match of a media type in `Accept`: its precision, and its weight in thousandths.
type MediaRangeMatch = Option<(u8, u16)>;

/// An `Accept` header's weights for JSON and for event streams (RFC 9110, 12.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Accept {
    json: MediaRangeMatch,
    event_stream: MediaRangeMatch,
    /// True where there is a header.
    given: bool,
}

impl Accept {
    /// Reads all lines of the header; what is not understood is passed over.
    pub(crate) fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut accept = Self::default();
        for range in lines.flat_map(|line| line.split(',')) {
            let mut parts = range.split(';').map(str::trim);
            let Some(media_type) = parts.next().filter(|name| name.contains('/')) else {
                continue;
            };
            accept.given = true;
            let weight = parts.find_map(|part| {
                let (name, value) = part.split_once('=')?;
                name.trim().eq_ignore_ascii_case("q").then(|| thousandths(value.trim()))
            });
            let weight = weight.unwrap_or(1000);
            let media_type = media_type.to_ascii_lowercase();
            for (standing, exact, any) in [
                (&mut accept.json, "application/json", "application/*"),
                (&mut accept.event_stream, "text/event-stream", "text/*"),
            ] {
                let exactness = match media_type.as_str() {
                    name if name == exact => 3,
                    name if name == any => 2,
                    "*/*" => 1,
                    _ => continue,
                };
                // The most exact of the ranges that fit counts; of equal ones the heavier.
                if standing.is_none_or(|before| before < (exactness, weight)) {
                    *standing = Some((exactness, weight));
                }
            }
        }
        accept
    }

    fn takes(&self, standing: MediaRangeMatch) -> bool {
        !self.given || standing.is_some_and(|(_, weight)| weight > 0)
    }

    /// The form in which a message is answered. A client that takes neither gets JSON, which says more than an empty
    /// 406.
    pub(crate) fn form(&self) -> Form {
        if self.takes(self.event_stream) && !self.takes(self.json) {
            Form::EventStream
        } else {
            Form::Json
        }
    }

    /// True where an event stream is accepted.
    pub(crate) fn takes_event_stream(&self) -> bool {
        self.takes(self.event_stream)
    }
}

/// `0.5` to 500. What is no weight counts in full, as if it were not there.
fn thousandths(value: &str) -> u16 {
    match value.parse::<f32>() {
        // Between 0 and 1000, so it fits.
        Ok(weight) if (0.0..=1.0).contains(&weight) => (weight * 1000.0).round() as u16,
        _ => 1000,
    }
}
