//! Text processing for comparison and display: terms shared by the index and its queries, folded values, edit
//! distances, and plain text from the HTML of stores.
//!
//! Input: a text of a store or a shopper. Output: the same result for the same text, with a limited length if the
//! result is displayed. The crate does not depend on products, releases or language models, does no I/O, and never
//! fails. Text that it cannot interpret gives an empty result.
//!
//! Terms are words of letters, digits and marks of any script. Terms are compatibility-normalised and lowercase, with
//! Latin letters without accents and `'s` joined (`men's` → `mens`). A number with a unit is one term in any spelling
//! (`3 m`, `3m`, `3-metre`, `3 meters` → `3m`; `6"`, `6 in.` → `6in`). A fraction is a decimal number (`1-1/2` →
//! `1.5`), and so is `1,5`. The index also contains the parts of compound terms, `12x24` for `12 in. x 24 in.`, and `tshirt` for
//! `t-shirt`.

mod analysis;
mod edits;
mod fold;
mod html;
mod line;
mod numeral;
mod quantity;
mod segment;
mod units;
mod word;
mod words;

pub use analysis::{Analysis, Term, analyse, code_of, indexed_words, letters_of, plain_words, stem, stems};
pub use edits::edits;
pub use fold::fold_value;
pub use html::{DESCRIPTION_CHARS_MAX, html_to_text};
pub use line::{escaped_line, is_hidden, stated_code, stated_line};
pub use numeral::Numeral;
pub use segment::segment;
pub use words::{Token, runs};
