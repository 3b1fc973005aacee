//! One method at a time: its control flow, its dominators and loops, and the origin of every operand.
//!
//! A [`Body`](body::Body) is made on demand and not kept. A [`MethodView`](view::MethodView) is a body together with what its
//! constants name.

pub mod bodies;
pub mod body;
pub(crate) mod condition;
pub mod dependence;
pub mod dominance;
pub mod flow;
pub mod lines;
pub mod loops;
mod merges;
mod shape;
pub mod switch;
mod tracer;
pub mod values;
pub mod view;
