//! What the tests share.

#![allow(dead_code)] // each test binary uses its part

pub mod assembler;
pub mod jvm;
pub mod plan;
