/// The steps that may still be taken. Where they end, what was found by then is the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    left: u32,
}

impl Work {
    /// So many steps.
    #[must_use]
    pub const fn of(steps: u32) -> Self {
        Self { left: steps }
    }

    /// Steps that are left.
    #[must_use]
    pub const fn left(self) -> u32 {
        self.left
    }

    /// Takes one step; `false` when there is none left.
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

    /// Lets `run` take one of `shares` equal shares of what is left.
    pub fn share<T>(&mut self, shares: u32, run: impl FnOnce(&mut Self) -> T) -> T {
        let mut share = Self::of(self.left.checked_div(shares).unwrap_or(self.left));
        self.left -= share.left;
        let done = run(&mut share);
        self.left += share.left;
        done
    }
}
