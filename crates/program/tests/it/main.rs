//! Tests with what a JDK makes: classes by `javac`, jars by `jar`, its own modules.

mod body;
mod causal;
mod grammar;
mod faults;
mod jars;
mod jdk;
mod questions;
mod random;
mod run;
mod shapes;
mod sites;
mod table;
mod tables;
mod statements;
mod tools;
