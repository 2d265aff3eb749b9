//! The meaning of texts, for whoever compares or shows them: terms that an index and its queries share, values folded to the form
//! in which they are compared, edits between words, HTML and other texts of stores made plain.
//!
//! In: a text of a store or a shopper. Out: the same answer for the same text, of bounded length where it is shown. It knows
//! no product, release or language model, does no I/O, and never fails: what it can make nothing of says nothing.
//!
//! Terms: words of letters, digits and marks of any script, compatibility-normalised, lower case, Latin letters
//! without accents, `'s` joined (`men's` → `mens`). A number with a unit is one term however it was written
//! (`3 m`, `3m`, `3-metre`, `3 meters` → `3m`; `6\"`, `6 in.` → `6in`), a fraction is a decimal number (`1-1/2` → `1.5`);
//! the index also holds the pieces, `12x24` for `12 in. x 24 in.`, and `tshirt` for `t-shirt`.

mod analysis;
mod edits;
mod fold;
mod html;
mod line;
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
pub use segment::segment;
pub use words::{Token, runs};
