//! The crate through its public door, in one program.

#[cfg(test)]
mod address;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod letters;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod paced;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod robots;
#[cfg(test)]
mod robots_cache;
#[cfg(test)]
mod served;
#[cfg(test)]
mod support;
