/// Stored value of a component that is 1.
const ONE: f32 = 127.0;

/// A vector of length one, with components in units of 1/127.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector(Box<[i8]>);

impl Vector {
    /// Normalises a vector. Returns `None` if it is zero or has components that are not finite.
    #[must_use]
    pub fn new(components: &[f32]) -> Option<Self> {
        let largest = components
            .iter()
            .fold(0.0_f32, |largest, component| largest.max(component.abs()));
        if largest == 0.0 || !components.iter().all(|component| component.is_finite()) {
            return None;
        }
        // Dividing by the largest component first keeps squares from vanishing or overflowing.
        let mut scaled: Vec<f32> = components.iter().map(|component| component / largest).collect();
        let scale = ONE / crate::norm::norm(&scaled);
        scaled.iter_mut().for_each(|component| *component *= scale);
        // The rounded values are at most 127 by construction.
        let rounded = scaled.iter().map(|component| component.round() as i8);
        let vector = Self(rounded.collect());
        vector.0.iter().any(|component| *component != 0).then_some(vector)
    }

    /// Creates a vector from stored components. Returns `None` if all are zero.
    #[must_use]
    pub fn from_components(components: &[i8]) -> Option<Self> {
        let some = components.iter().any(|component| *component != 0);
        some.then(|| Self(components.into()))
    }

    /// Returns the components, in units of 1/127.
    #[must_use]
    pub fn components(&self) -> &[i8] {
        &self.0
    }

    /// Returns the number of components.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.0.len()
    }

    /// Returns the cosine of the angle to another vector of the same embedder, accurate to 0.01.
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
