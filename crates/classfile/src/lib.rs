//! Reads JVM class files and patches their code in place.
//!
//! [`ClassFile`] is a borrowed view: `parse` walks the structure once and checks every bound, and what an
//! attribute contains is decoded when somebody asks. [`Patcher`] takes such a view and a list of
//! [`Insertion`]s a method, and writes the class again with straight-line snippets put in, everything else
//! copied byte for byte: constants are only added behind the existing ones, unknown attributes stay as they
//! are, and a method that cannot be patched (see [`Unpatched`]) is left exactly as it was.
//!
//! What makes patching more than copying is that code is full of its own addresses. Each old address has
//! two new ones: the *boundary*, where jumps, exception ranges, line and variable entries and stack map
//! frames go, and the *place* of the instruction itself, to which `Uninitialized` types in frames and the
//! type annotations of an expression refer. Confusing the two is the classic mistake here; the verifier of
//! a real JVM is therefore part of this crate's tests.
//!
//! The input is hostile: no bytes may cause a panic, an unbounded allocation or a hang.
//!
//! **Architecture Invariant:** this crate knows nothing of faults, hooks or JVMTI, and does no I/O.

#![forbid(unsafe_code)]

mod additions;
mod annotation;
mod attribute;
mod bytes;
mod calls;
mod catch;
mod class;
mod code;
pub mod descriptor;
mod digest;
mod edges;
mod error;
mod frames;
mod instruction;
mod layout;
mod member;
mod name;
pub mod op;
mod patch;
mod pool;
mod rewrite;
mod tables;

pub use additions::Mark;
pub use annotation::{Annotation, annotations};
pub use calls::CallCatch;
pub use catch::initialised_from;
pub use class::{BootstrapMethod, ClassFile};
pub use code::{Code, Handler};
pub use digest::code_digest_symbolic;
pub use error::{Error, Unpatched};
pub use instruction::{Instruction, Instructions};
pub use member::Member;
pub use name::{callee_text, display_name};
pub use patch::{Insertion, MethodPatch, Patcher, Place, Snippet};
pub use pool::{Constant, ConstantPool, DynamicRef, MemberRef};
