//! Tests with what a JDK makes: classes by `javac`, jars by `jar`, its own modules.

mod faults;
mod jars;
mod jdk;
mod questions;
mod random;
mod run;
mod sites;
mod tools;
