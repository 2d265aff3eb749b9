/// Budget of steps for a search. When the budget is used up, the search returns the results found so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    left: u32,
}

impl Work {
    /// Returns a budget of `steps` steps.
    #[must_use]
    pub const fn of(steps: u32) -> Self {
        Self { left: steps }
    }

    /// Returns the number of remaining steps.
    #[must_use]
    pub const fn left(self) -> u32 {
        self.left
    }

    /// Uses one step, and returns `false` if no step is left.
    #[must_use]
    pub const fn step(&mut self) -> bool {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Lets `run` use one of `shares` equal shares of the remaining steps.
    pub fn share<T>(&mut self, shares: u32, run: impl FnOnce(&mut Self) -> T) -> T {
        let mut share = Self::of(self.left.checked_div(shares).unwrap_or(self.left));
        self.left -= share.left;
        let done = run(&mut share);
        self.left += share.left;
        done
    }
}
