/// The stored value of a component that is 1.
const ONE: f32 = 127.0;

/// A direction: a vector of length one, each component in 127ths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector(Box<[i8]>);

impl Vector {
    /// The direction of a vector; `None` when it has none, being zero or holding what is no number.
    #[must_use]
    pub fn new(components: &[f32]) -> Option<Self> {
        let largest = components
            .iter()
            .fold(0.0_f32, |largest, component| largest.max(component.abs()));
        if largest == 0.0 || !components.iter().all(|component| component.is_finite()) {
            return None;
        }
        // Divided by the largest first, so that squares neither vanish nor overflow.
        let mut scaled: Vec<f32> = components.iter().map(|component| component / largest).collect();
        let scale = ONE / crate::norm::norm(&scaled);
        scaled.iter_mut().for_each(|component| *component *= scale);
        // At most 127 in size by construction; `as` would saturate besides.
        let rounded = scaled.iter().map(|component| component.round() as i8);
        let vector = Self(rounded.collect());
        vector.0.iter().any(|component| *component != 0).then_some(vector)
    }

    /// The direction that quantised components have, as they were stored; `None` when all are zero.
    #[must_use]
    pub fn from_components(components: &[i8]) -> Option<Self> {
        let some = components.iter().any(|component| *component != 0);
        some.then(|| Self(components.into()))
    }

    /// Its components, in 127ths.
    #[must_use]
    pub fn components(&self) -> &[i8] {
        &self.0
    }

    /// The number of its components.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// The cosine of the angle to another vector of the same embedder, within a hundredth.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        let pairs = self.0.iter().zip(&other.0);
        let dot: i32 = pairs.map(|(one, other)| i32::from(*one) * i32::from(*other)).sum();
        crate::norm::QUANTUM * dot as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directions_are_vectors() {
        assert_eq!(Vector::new(&[0.0, 0.0]), None);
        assert_eq!(Vector::new(&[f32::NAN, 1.0]), None);
        assert_eq!(Vector::new(&[f32::INFINITY, 1.0]), None);
        assert_eq!(Vector::new(&[]), None);
        assert_eq!(Vector::new(&[3.0e30, 4.0e30]).unwrap().components(), [76, 102]);
        assert_eq!(Vector::new(&[0.0, -1.0e-30]).unwrap().components(), [0, -127]);
        assert_eq!(Vector::from_components(&[0, 0]), None);
    }

    #[test]
    fn the_cosine_is_that_of_the_angle() {
        let (east, north) = (Vector::new(&[2.0, 0.0]).unwrap(), Vector::new(&[0.0, 5.0]).unwrap());
        let between = Vector::new(&[1.0, 1.0]).unwrap();
        assert_eq!(east.cosine(&north), 0.0);
        assert_eq!(east.cosine(&east), 1.0);
        assert!((east.cosine(&between) - 0.5_f32.sqrt()).abs() < 0.01);
    }
}
