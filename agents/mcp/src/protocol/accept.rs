#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// Format for clients that do not accept JSON.
    EventStream,
}

/// Match of a media type in `Accept`: how specific it is, and its weight in thousandths.
type MediaRangeMatch = Option<(u8, u16)>;

/// Weights for JSON and event streams in an `Accept` header (RFC 9110, 12.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Accept {
    json: MediaRangeMatch,
    event_stream: MediaRangeMatch,
    /// `true` if the request has an `Accept` header.
    given: bool,
}

impl Accept {
    /// Parses all lines of the header. Unknown elements are ignored.
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
                // The most specific range that matches applies, and of equally specific ranges the one with the higher
                // weight.
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

    /// Returns the format of the response. A client that accepts neither format gets JSON, which helps more than an
    /// empty 406.
    pub(crate) fn form(&self) -> Form {
        if self.takes(self.event_stream) && !self.takes(self.json) {
            Form::EventStream
        } else {
            Form::Json
        }
    }

    pub(crate) fn takes_event_stream(&self) -> bool {
        self.takes(self.event_stream)
    }
}

/// Converts a weight such as `0.5` to 500. An invalid weight counts as 1.
fn thousandths(value: &str) -> u16 {
    match value.parse::<f32>() {
        // The value is between 0 and 1000, so it fits.
        Ok(weight) if (0.0..=1.0).contains(&weight) => (weight * 1000.0).round() as u16,
        _ => 1000,
    }
}
