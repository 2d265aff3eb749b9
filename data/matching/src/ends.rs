use crate::pieces::Piece;

/// Products with two different ends. Cables, in contrast, are the same from both sides.
const CONVERTERS: &[&str] = &["adapter", "adaptor", "converter"];

/// The two ends of a converter, such as `hdmi` and `vga`.
pub(crate) type Ends = (String, String);

/// Returns the ends that the title of a converter names.
pub(crate) fn ends(title: &[Piece]) -> Option<Ends> {
    let is_converter = |piece: &Piece| {
        CONVERTERS
            .iter()
            .any(|known| piece.text.trim_end_matches('s') == *known)
    };
    if !title.iter().any(is_converter) {
        return None;
    }
    let to = title.iter().position(|piece| piece.text == "to")?;
    let (before, after) = (title.get(..to)?, title.get(to + 1..)?);
    let from = match before {
        [.., kind, letter] if is_plug(kind, letter) => format!("{}{}", kind.text, letter.text),
        [.., last] => last.text.clone(),
        [] => return None,
    };
    let into = match after {
        [kind, letter, ..] if is_plug(kind, letter) => format!("{}{}", kind.text, letter.text),
        [first, ..] => first.text.clone(),
        [] => return None,
    };
    Some((from, into))
}

fn is_plug(kind: &Piece, letter: &Piece) -> bool {
    matches!(kind.text.as_str(), "usb" | "type") && letter.text.len() == 1 && letter.number.is_none()
}

/// Returns `true` if the two converters convert in opposite directions.
pub(crate) fn are_swapped(one: Option<&Ends>, other: Option<&Ends>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one.0 != one.1 && one.0 == other.1 && one.1 == other.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::pieces;

    #[test]
    fn a_converter_leads_one_way() {
        let of = |title| ends(&pieces(title));
        let swapped = |one, other| are_swapped(of(one).as_ref(), of(other).as_ref());
        assert!(swapped("HDMI to VGA Adapter", "VGA to HDMI Adapter"));
        assert!(swapped("USB-C to HDMI Converter", "Converter HDMI to USB-C"));
        assert!(swapped("USB-A to USB-C Adapters", "USB-C to USB-A Adapter"));
        assert!(!swapped("HDMI to VGA Adapter", "Adapter HDMI to VGA"));
        assert!(!swapped("USB-A to USB-C Cable", "USB-C to USB-A Cable"));
        assert!(!swapped("Adapter to", "to Adapter"));
    }
}
