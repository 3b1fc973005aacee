//! Causes on demand: causal graphs backward from program points, and slices in both directions.
//!
//! [`graphs`] builds a [`CausalGraph`](causal::CausalGraph) level by level, with what each node needs from `priors`;
//! [`distances`] measures how far every fault is from every point, and [`shared`] does so for many lines at once. A [`Slice`](slice::Slice) goes through [`decisions`],
//! and `checks` say whether one call decides about another along the stacks of a run.

mod answers;
mod body_cache;
pub mod causal;
mod checks;
pub mod consequences;
pub mod decisions;
pub mod distances;
mod gates;
pub mod graphs;
pub mod need;
pub mod outline;
mod priors;
pub mod receivers;
pub mod shared;
mod sharing;
pub mod slice;
pub mod words;
