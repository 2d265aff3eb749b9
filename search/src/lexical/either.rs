use data_text::{Analysis, analyse};

use super::group::TermGroup;
use super::terms::QueryTerms;

/// Makes the words on both sides of an `or` alternatives, as in `green handbag or pouch`.
pub(super) fn add(text: &str, terms: &QueryTerms, groups: &mut [TermGroup]) {
    for or in analyse(Analysis::Plain, text).iter().filter(|word| word.text == "or") {
        let place = |position| terms.iter().position(|term| Some(term.position) == position);
        let (Some(one), Some(other)) = (place(or.position.checked_sub(1)), place(or.position.checked_add(1))) else {
            continue;
        };
        let [own, others] = [one, other].map(|at| groups.get(at).cloned().unwrap_or_default().variants);
        for (at, more) in [(one, others), (other, own)] {
            groups
                .get_mut(at)
                .into_iter()
                .for_each(|group| group.variants.extend(more.iter().cloned()));
        }
    }
}
