use std::ops::Range;

#[derive(Debug, Clone, Copy)]
pub(super) struct Texts<'a> {
    pub(super) ends: &'a [u32],
    pub(super) bytes: &'a [u8],
}

impl<'a> Texts<'a> {
    pub(super) fn len(self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(u32::MAX)
    }

    /// Returns the text at an index, which is empty if a damaged file has none.
    pub(super) fn at(self, at: u32) -> &'a [u8] {
        let end = |at: u32| self.ends.get(at as usize).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.bytes.get(start..end(at)).unwrap_or_default()
    }

    /// Returns the first index in `range` whose text does not satisfy `before`.
    fn partition(self, range: Range<u32>, before: impl Fn(&[u8]) -> bool) -> u32 {
        let Range { mut start, mut end } = range;
        while start < end {
            let middle = start + (end - start) / 2;
            if before(self.at(middle)) {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    pub(super) fn beginning_with(self, begin: &[u8]) -> Range<u32> {
        let start = self.partition(0..self.len(), |text| text < begin);
        start..self.end_of(begin, start..self.len())
    }

    /// Returns the end of the texts that start with `begin`. The first text of `range` must start with it. The search
    /// is fast if there are few such texts.
    pub(super) fn end_of(self, begin: &[u8], range: Range<u32>) -> u32 {
        let (mut start, mut stride) = (range.start, 1_u32);
        while let Some(ahead) = start.checked_add(stride).filter(|ahead| *ahead < range.end) {
            if !self.at(ahead).starts_with(begin) {
                return self.partition(start..ahead, |text| text.starts_with(begin));
            }
            (start, stride) = (ahead, stride.saturating_mul(4));
        }
        self.partition(start..range.end, |text| text.starts_with(begin))
    }

    /// Returns the index of this text as a range, which is empty if the text is missing.
    pub(super) fn equal_to(self, wanted: &[u8]) -> Range<u32> {
        let start = self.partition(0..self.len(), |text| text < wanted);
        let end = self.partition(start..self.len(), |text| text <= wanted);
        start..end
    }
}

#[derive(Debug, Default)]
pub(super) struct TextsWriter {
    pub(super) ends: Vec<u32>,
    pub(super) bytes: Vec<u8>,
}

impl TextsWriter {
    pub(super) fn push(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
        // The total stays far below this limit.
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    pub(super) fn view(&self) -> Texts<'_> {
        Texts {
            ends: &self.ends,
            bytes: &self.bytes,
        }
    }
}
