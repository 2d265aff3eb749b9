use crate::judgement::Veto;
use crate::quantity::{Measure, Quantity};
use crate::reading::Reading;

#[derive(Debug)]
pub(crate) struct Amounts {
    pub(crate) are_same: bool,
    /// Number of amounts that only one of the products states.
    pub(crate) unknown: usize,
    /// `true` if only one product states a share, strength, storage size, power or generation such as `5G`. Such an
    /// amount can distinguish two products with the same price.
    pub(crate) is_strength_unknown: bool,
}

/// Maximum number of grams that may be a strength or a mobile network generation, in thousandths.
const STRENGTH_MAX_MILLI: i64 = 5_000;

impl Amounts {
    pub(crate) fn of(one: &Reading, other: &Reading) -> Result<Self, Veto> {
        let mut amounts = Self {
            are_same: false,
            unknown: 0,
            is_strength_unknown: false,
        };
        let titles = one.quantities.iter().chain(&other.quantities);
        let around = one.context_quantities.iter().filter(|mine| is_offered(mine.measure));
        let mut measures: Vec<Measure> = titles.chain(around).map(|quantity| quantity.measure).collect();
        measures.sort_unstable();
        measures.dedup();
        let (mut of_mine, mut of_theirs) = (false, false);
        for measure in measures {
            let of = |quantities: &[Quantity]| -> Vec<Quantity> {
                quantities
                    .iter()
                    .copied()
                    .filter(|quantity| quantity.measure == measure)
                    .collect()
            };
            let (mine, theirs) = (of(&one.quantities), of(&other.quantities));
            let (mine_around, theirs_around) = (of(&one.context_quantities), of(&other.context_quantities));
            let are_same = match (mine.as_slice(), theirs.as_slice()) {
                ([], []) if mine_around.is_empty() || theirs_around.is_empty() => continue,
                ([], []) => mine_around.iter().any(|mine| holds(&theirs_around, *mine)),
                ([], theirs) if !mine_around.is_empty() => all_held(theirs, &mine_around),
                (mine, []) if !theirs_around.is_empty() => all_held(mine, &theirs_around),
                ([], _) | (_, []) if measure == Measure::Count && (one.counts_as(other) || other.counts_as(one)) => {
                    true
                }
                ([], said) | (said, []) => {
                    amounts.is_strength_unknown |= said.iter().any(|said| is_strength(*said));
                    amounts.unknown += 1;
                    *(if mine.is_empty() { &mut of_theirs } else { &mut of_mine }) = true;
                    continue;
                }
                (mine, theirs) => all_held(mine, theirs) && all_held(theirs, mine),
            };
            if !are_same {
                return Err(Veto::Quantity);
            }
            amounts.are_same = true;
        }
        if are_sizes_apart(one, other) {
            return Err(Veto::Quantity);
        }
        // Grams of one product cannot be compared with millilitres of the other.
        if of_mine && of_theirs {
            return Err(Veto::Quantity);
        }
        Ok(amounts)
    }
}

/// Returns `true` for measures that options and attributes state unambiguously. A length may be that of any side.
fn is_offered(measure: Measure) -> bool {
    measure != Measure::Length
}

fn is_strength(said: Quantity) -> bool {
    match said.measure {
        Measure::Mass => said.milli <= STRENGTH_MAX_MILLI,
        Measure::Volume | Measure::Length | Measure::Count | Measure::Age => false,
        Measure::Share
        | Measure::Charge
        | Measure::Power
        | Measure::Voltage
        | Measure::Storage
        | Measure::Grammage
        | Measure::ThreadCount
        | Measure::Light
        | Measure::Frequency => true,
    }
}

/// Returns `true` if the options of both products state lengths but have none in common, such as fans of 1200 mm and
/// 1400 mm.
fn are_sizes_apart(one: &Reading, other: &Reading) -> bool {
    let lengths = |reading: &Reading| -> Vec<Quantity> {
        let said = reading.variants.iter().flat_map(|variant| &variant.quantities);
        said.copied().filter(|said| said.measure == Measure::Length).collect()
    };
    let (mine, theirs) = (lengths(one), lengths(other));
    !mine.is_empty() && !theirs.is_empty() && !mine.iter().any(|mine| holds(&theirs, *mine))
}

fn holds(quantities: &[Quantity], wanted: Quantity) -> bool {
    quantities.iter().any(|quantity| quantity.is_same(wanted))
}

fn all_held(wanted: &[Quantity], quantities: &[Quantity]) -> bool {
    wanted.iter().all(|wanted| holds(quantities, *wanted))
}
