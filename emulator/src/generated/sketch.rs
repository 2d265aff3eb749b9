use super::dice::{Dice, fold};
use super::drift::{Drift, Step};
use super::ids::Ordinal;
use super::options::{self, Axis};
use super::persona::{Persona, push_kebab};
use super::trades::{Colour, Kind, WORDS};

/// Generated product before its record is written. All values are computed from (seed, store, slot, epoch) and not
/// stored.
#[derive(Debug)]
pub(crate) struct Sketch<'a> {
    pub(crate) persona: &'a Persona,
    /// Maker of the product, if it is another store.
    maker: Option<&'a Persona>,
    pub(crate) ordinal: Ordinal,
    pub(crate) kind: &'static Kind,
    /// Seed of the product's other numbers.
    pub(crate) identity: u64,
    /// Number at the end of the handle: the slot and its generation.
    code: u64,
    form: &'static str,
    series: &'static str,
    colour: usize,
    style: u64,
    pub(crate) axes: Vec<Axis>,
    pub(crate) price_step: u64,
    pub(crate) stock_step: u64,
    /// Epoch of the product's latest change.
    pub(crate) since: u64,
    /// Epoch in which the product was created; 0 for products that existed from the start.
    pub(crate) born: u64,
}

/// Changes of a product up to an epoch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Steps {
    pub(crate) generation: Step,
    price: Step,
    stock: Step,
    touch: Step,
}

impl Steps {
    pub(crate) fn at(seed: u64, store: u32, slot: u64, drift: &Drift, epoch: u64) -> Self {
        let mut phases = Dice::of(&[seed, 0x0050_4841, u64::from(store), slot]);
        Self {
            generation: Step::at(epoch, drift.replaced, phases.next()),
            price: Step::at(epoch, drift.repriced, phases.next()),
            stock: Step::at(epoch, drift.restocked, phases.next()),
            touch: Step::at(epoch, drift.touched, phases.next()),
        }
    }

    fn since(&self) -> u64 {
        self.generation
            .since
            .max(self.price.since)
            .max(self.stock.since)
            .max(self.touch.since)
    }

    /// Returns a number that changes whenever the product's record changes.
    pub(crate) fn fingerprint(&self, slot: u64) -> u64 {
        fold(&[
            slot,
            self.generation.count,
            self.price.count,
            self.stock.count,
            self.since(),
        ])
    }
}

/// Number of bits for the slot in a handle's code.
const SLOT_BITS: u32 = 24;

impl<'a> Sketch<'a> {
    pub(crate) fn listed(persona: &'a Persona, slot: u64, offset: u64, slots: u64, steps: &Steps) -> Self {
        let generation = steps.generation.count;
        let identity = fold(&[persona.seed, 0x5052_4f44, u64::from(persona.index), slot, generation]);
        let ordinal = Ordinal::listed(offset + slot, generation, slots);
        let mut sketch = Self::of(persona, identity, ordinal, (generation << SLOT_BITS) | slot);
        sketch.price_step = steps.price.count;
        sketch.stock_step = steps.stock.count;
        sketch.since = steps.since();
        sketch.born = steps.generation.since;
        sketch
    }

    /// Returns a product from another store's slot, with that store's first version of the data, the reseller's own
    /// title and a price near the maker's.
    pub(crate) fn resold(
        persona: &'a Persona,
        maker: &'a Persona,
        theirs: u64,
        slot: u64,
        offset: u64,
        slots: u64,
        steps: &Steps,
    ) -> Self {
        let generation = steps.generation.count;
        let identity = fold(&[maker.seed, 0x5052_4f44, u64::from(maker.index), theirs, 0]);
        let ordinal = Ordinal::listed(offset + slot, generation, slots);
        let mut sketch = Self::of(maker, identity, ordinal, (generation << SLOT_BITS) | slot);
        (sketch.persona, sketch.maker) = (persona, Some(maker));
        sketch.price_step = steps.price.count;
        sketch.stock_step = steps.stock.count;
        sketch.since = steps.since();
        sketch.born = steps.generation.since;
        sketch
    }

    /// Returns an invented product, which is in no slot. Faults need such products.
    pub(crate) fn invented(persona: &'a Persona, number: u64, slots: u64) -> Self {
        let identity = fold(&[persona.seed, 0x494e_5645, u64::from(persona.index), number]);
        Self::of(
            persona,
            identity,
            Ordinal::invented(persona.index, number, slots),
            (1 << 40) | number,
        )
    }

    fn of(persona: &'a Persona, identity: u64, ordinal: Ordinal, code: u64) -> Self {
        let mut dice = Dice::of(&[identity]);
        let kinds = &persona.trade.kinds;
        let kind = &kinds[dice.below(kinds.len() as u64) as usize];
        Self {
            persona,
            maker: None,
            ordinal,
            kind,
            identity,
            code,
            form: dice.pick(&kind.forms),
            series: dice.pick(&WORDS.series),
            colour: dice.below(WORDS.colours.len() as u64) as usize,
            style: dice.below(10),
            axes: options::draw(&mut dice, kind.options, persona.coin.country),
            price_step: 0,
            stock_step: 0,
            since: 0,
            born: 0,
        }
    }

    /// Returns a random number generator for one aspect of the product.
    pub(crate) fn dice(&self, aspect: u64) -> Dice {
        Dice::of(&[self.identity, aspect])
    }

    pub(crate) fn colour(&self) -> Colour {
        let axis = self.axes.iter().find(|axis| axis.is_colour());
        let first = axis.and_then(|axis| colour_of(axis.values.first()?));
        first.unwrap_or(WORDS.colours[self.colour])
    }

    /// Returns the tone of the `nth` picture (from 1), which follows the product's colours.
    pub(crate) fn picture_tone(&self, nth: u64) -> &'static str {
        let axis = self.axes.iter().find(|axis| axis.is_colour());
        let value = axis.and_then(|axis| axis.values.get((nth.max(1) - 1) as usize % axis.values.len().max(1)));
        value.and_then(|value| colour_of(value)).unwrap_or(self.colour()).tone
    }

    pub(crate) fn form(&self) -> &'static str {
        self.form
    }

    pub(crate) fn maker(&self) -> &'a Persona {
        self.maker.unwrap_or(self.persona)
    }

    /// True if the product has one colour and its title names it.
    fn names_colour(&self) -> bool {
        self.maker().trade.coloured && !self.axes.iter().any(Axis::is_colour)
    }

    /// Appends the product's title.
    pub(crate) fn push_title(&self, out: &mut String) {
        let Some(maker) = self.maker else {
            return self.push_own_title(out);
        };
        match self.identity % 4 {
            0 | 1 => {
                out.push_str(&maker.name);
                out.push(' ');
                self.push_own_title(out);
            }
            2 => {
                self.push_own_title(out);
                out.push_str(" by ");
                out.push_str(&maker.name);
            }
            _ => {
                self.push_own_title(out);
                out.push_str(" (");
                out.push_str(&maker.name);
                out.push(')');
            }
        }
    }

    /// Appends the product's title in its maker's store.
    fn push_own_title(&self, out: &mut String) {
        let (form, noun, series) = (self.form, self.kind.noun, self.series);
        let mut put = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
        if !self.names_colour() {
            match self.style {
                0..=4 => put(&[series, " ", form, " ", noun]),
                5 => put(&[form, " ", noun, " - ", series, " Edition"]),
                6 => put(&[form, " ", noun, " by ", &self.maker().name]),
                7 => put(&[form, " ", noun, " – ", series]),
                8 => put(&[form, " ", noun, " | ", series]),
                _ => put(&[series, "™ ", noun, ": ", form]),
            }
            return;
        }
        let colour = WORDS.colours[self.colour].name;
        match self.style {
            0..=3 => put(&[series, " ", colour, " ", form, " ", noun]),
            4 | 5 => put(&[form, " ", noun, " - ", colour]),
            6 => put(&[colour, " ", form, " ", noun, " | ", series]),
            7 => put(&[series, " – ", form, " ", noun, " in ", colour]),
            8 => put(&["The ", series, " ", noun, "™ – ", colour]),
            _ => put(&[form, " ", noun, " (", colour, ")"]),
        }
    }

    /// Appends the product's handle: the title in kebab-case and a code. The code makes the handle unique in its store,
    /// and leads to the product without a table.
    pub(crate) fn push_handle(&self, title: &str, out: &mut String) {
        push_kebab(out, title);
        out.push('-');
        let mut digits = [0_u8; 13];
        let mut at = digits.len();
        let mut rest = self.code;
        loop {
            at -= 1;
            digits[at] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(rest % 36) as usize];
            rest /= 36;
            if rest == 0 || at == 0 {
                break;
            }
        }
        out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
    }

    pub(crate) fn title(&self) -> String {
        let mut title = String::new();
        self.push_title(&mut title);
        title
    }

    pub(crate) fn handle(&self) -> String {
        let mut handle = String::new();
        self.push_handle(&self.title(), &mut handle);
        handle
    }

    pub(crate) fn variant_count(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product()
    }

    /// Returns the price of the first variant. Each price change raises or lowers it by up to a fifth.
    pub(crate) fn price_minor(&self) -> u64 {
        let mut dice = self.dice(0x5052);
        // One product in a thousand is a free sample.
        if dice.chance(1) {
            return 0;
        }
        let usual = dice.between(self.kind.rupees_min, self.kind.rupees_max) * self.maker().tier_pct / 100;
        // A reseller's price is a little below or above the maker's.
        let usual = match self.maker {
            Some(_) => usual * Dice::of(&[self.identity, 0x5253, u64::from(self.persona.index)]).between(90, 108) / 100,
            None => usual,
        };
        let now = if self.price_step == 0 {
            usual
        } else {
            usual * Dice::of(&[self.identity, 0x5053, self.price_step]).between(80, 120) / 100
        };
        self.persona.coin.price_minor(now)
    }

    /// Returns the number of pictures. One product in fifty has none.
    pub(crate) fn picture_count(&self) -> usize {
        let mut dice = self.dice(0x494d);
        if dice.chance(20) {
            0
        } else {
            dice.between(1, 4) as usize
        }
    }
}

fn colour_of(name: &str) -> Option<Colour> {
    WORDS.colours.iter().find(|colour| colour.name == name).copied()
}

/// Returns the slot and generation in a handle's code.
pub(crate) fn place_of(handle: &str) -> Option<(u64, u64)> {
    let (_, code) = handle.rsplit_once('-')?;
    if code.is_empty() || code.len() > 10 {
        return None;
    }
    let code = u64::from_str_radix(code, 36).ok()?;
    Some((code & ((1 << SLOT_BITS) - 1), code >> SLOT_BITS))
}
