//! Product pictures as SVG: a silhouette of the product in its colour on a soft background.

use crate::generated::push_html;

/// Data from which a product picture is drawn.
#[derive(Debug)]
pub(crate) struct Picture<'a> {
    /// SVG markup of the outline of the product's kind.
    pub(crate) shape: &'static str,
    /// Colour of the product, as `#rrggbb`.
    pub(crate) tone: &'a str,
    /// Number of the picture within the product, from 1, which selects the background and the view.
    pub(crate) nth: u64,
    /// Any number, which varies the background and the ornament from product to product.
    pub(crate) seed: u64,
    pub(crate) title: &'a str,
    pub(crate) brand: &'a str,
}

/// Backgrounds: the two colours of a gradient each.
const GROUNDS: &[(&str, &str)] = &[
    ("#fbf7f0", "#efe5d5"),
    ("#f3f6f4", "#dde7e1"),
    ("#f6f3f8", "#e4dcea"),
    ("#f1f5f9", "#d9e3ec"),
    ("#fdf3ef", "#f3ddd3"),
    ("#f7f7f2", "#e3e5d6"),
];

pub(crate) fn draw(picture: &Picture<'_>) -> String {
    let ground = GROUNDS[((picture.seed >> 8).wrapping_add(picture.nth) % GROUNDS.len() as u64) as usize];
    let main = Tone::parse(picture.tone);
    let (dark, light) = (main.toward(Tone(20, 18, 24), 34), main.toward(Tone(255, 255, 255), 42));
    let shape = picture
        .shape
        .replace("$a", &main.hex())
        .replace("$b", &dark.hex())
        .replace("$c", &light.hex());
    let mut title = String::new();
    push_html(&mut title, picture.title);
    let mut brand = String::new();
    push_html(&mut brand, &picture.brand.to_uppercase());
    let view = match picture.nth {
        2 => "translate(-60 -70) scale(1.32)",
        3 => "translate(400 0) scale(-1 1)",
        4 => "translate(60 66) scale(.7)",
        _ => "translate(0 0)",
    };
    let ornament = ornament(picture.seed, &light.hex());
    let (from, to) = ground;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 400 400\" width=\"1200\" height=\"1200\" role=\"img\">\
         <title>{title}</title><defs><linearGradient id=\"g\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">\
         <stop offset=\"0\" stop-color=\"{from}\"/><stop offset=\"1\" stop-color=\"{to}\"/></linearGradient></defs>\
         <rect width=\"400\" height=\"400\" fill=\"url(#g)\"/>{ornament}\
         <ellipse cx=\"200\" cy=\"338\" rx=\"112\" ry=\"12\" fill=\"#000\" opacity=\".09\"/>\
         <g transform=\"{view}\" stroke-linejoin=\"round\" stroke-linecap=\"round\">{shape}</g>\
         <text x=\"200\" y=\"382\" text-anchor=\"middle\" font-family=\"Georgia,serif\" font-size=\"11\" \
         letter-spacing=\"2.5\" fill=\"#6b645c\">{brand}</text></svg>\n"
    )
}

/// Draws a faint ornament behind the product.
fn ornament(seed: u64, tone: &str) -> String {
    match seed % 5 {
        0 => format!("<circle cx=\"200\" cy=\"190\" r=\"142\" fill=\"{tone}\" opacity=\".22\"/>"),
        1 => format!("<path d=\"M70 340V190a130 130 0 0 1 260 0v150z\" fill=\"{tone}\" opacity=\".2\"/>"),
        2 => {
            format!("<rect x=\"62\" y=\"58\" width=\"276\" height=\"282\" rx=\"18\" fill=\"{tone}\" opacity=\".16\"/>")
        }
        3 => format!("<path d=\"M0 300Q100 250 200 296T400 280V400H0z\" fill=\"{tone}\" opacity=\".25\"/>"),
        _ => format!("<circle cx=\"306\" cy=\"96\" r=\"56\" fill=\"{tone}\" opacity=\".3\"/>"),
    }
}

#[derive(Debug, Clone, Copy)]
struct Tone(u8, u8, u8);

impl Tone {
    fn parse(hex: &str) -> Self {
        let part = |at: usize| {
            hex.get(at..at + 2)
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .unwrap_or(128)
        };
        Self(part(1), part(3), part(5))
    }

    fn toward(self, other: Self, pct: u16) -> Self {
        let blend = |from: u8, to: u8| ((u16::from(from) * (100 - pct) + u16::from(to) * pct) / 100) as u8;
        Self(blend(self.0, other.0), blend(self.1, other.1), blend(self.2, other.2))
    }

    fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::trades::WORDS;

    #[test]
    fn every_shape_draws_well_formed_markup_in_the_products_colour() {
        for kind in WORDS.trades.iter().flat_map(|trade| &trade.kinds) {
            let shape = kind.shape;
            let picture = Picture {
                shape,
                tone: "#b5532a",
                nth: 1,
                seed: 3,
                title: "A & <b>",
                brand: "Kaveri & Co.",
            };
            let svg = draw(&picture);
            assert!(svg.contains("#b5532a"), "{}", kind.noun);
            assert!(!svg.contains('$') && svg.contains("A &amp; &lt;b&gt;"), "{}", kind.noun);
            let opened = svg.matches('<').count() - svg.matches("</").count();
            assert_eq!(
                opened,
                svg.matches("</").count() + svg.matches("/>").count(),
                "{}",
                kind.noun
            );
        }
    }
}
