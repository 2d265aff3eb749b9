//! Tests of the crate's public API, in one binary.

#[cfg(test)]
mod address;
#[cfg(test)]
mod graphql;
#[cfg(test)]
mod hosts;
#[cfg(test)]
mod letters;
#[cfg(test)]
mod links;
#[cfg(test)]
mod lost;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod moved;
#[cfg(test)]
mod paced;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod posted;
#[cfg(test)]
mod robots;
#[cfg(test)]
mod robots_cache;
#[cfg(test)]
mod served;
#[cfg(test)]
mod support;
#[cfg(test)]
mod turns;
