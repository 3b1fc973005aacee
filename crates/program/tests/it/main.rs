//! Tests with what a JDK makes: classes by `javac`, jars by `jar`, its own modules.

mod jars;
mod jdk;
mod questions;
mod random;
mod run;
mod shapes;
mod sites;
mod tools;
