use std::ops::ControlFlow;

use data_index::text::code_of;
use data_index::{Release, RowAddress};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, Term};

use super::index::TextIndex;
use super::matches::Marks;
use super::strict::Passing;
use super::top::TopHits;
use super::whole::Whole;
use super::{ReadError, Wanted, quality_bonus, tier};

/// Products that one code stands for at most; a SKU such as `1` names nothing.
const PRODUCTS_MAX: u32 = 200;

/// Collects the products whose SKU or handle is the whole query; those whose title is it too stand before the others.
/// Products of the same code belong together (a pack and its pieces), so nothing but their quality orders them.
pub(super) fn collect(
    release: &Release,
    index: &TextIndex,
    (wanted, whole): (&Wanted<'_>, &Whole<'_>),
    (top, mut marks): (&mut TopHits<'_>, Option<&mut Marks<'_>>),
) -> Result<(), ReadError> {
    let Some(code) = code_of(wanted.text) else {
        return Ok(());
    };
    each(index, &code, PRODUCTS_MAX, |part, row| {
        let at = RowAddress { part, row };
        if let Some(marks) = &mut marks {
            marks.mark(part, std::iter::once(row));
        }
        if Passing::of(release, index, (wanted.filter, wanted.allowed), part).has(row) {
            let tier = if whole.is_title(at) {
                tier::TITLE_AND_CODE
            } else {
                tier::CODE
            };
            top.push_code(tier, quality_bonus(release, part, row), at);
        }
        ControlFlow::Continue(())
    })
}

/// Calls `found` with every row, dead ones too, that has a code, until that breaks off: part and row.
pub(crate) fn coded(
    index: &TextIndex,
    code: &str,
    found: impl FnMut(u32, u32) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    each(index, code, u32::MAX, found)
}

/// The same, but for parts in which more rows have the code.
fn each(
    index: &TextIndex,
    code: &str,
    rows_max: u32,
    mut found: impl FnMut(u32, u32) -> ControlFlow<()>,
) -> Result<(), ReadError> {
    let term = Term::from_field_text(index.code, code);
    for (part, segment) in (0..).zip(&index.segments) {
        let Some(info) = segment.code.get_term_info(&term)? else {
            continue;
        };
        if info.doc_freq > rows_max {
            continue;
        }
        let mut postings = segment
            .code
            .read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
        while postings.doc() != TERMINATED {
            if found(part, postings.doc()).is_break() {
                return Ok(());
            }
            postings.advance();
        }
    }
    Ok(())
}
