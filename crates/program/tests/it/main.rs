//! Tests with what a JDK makes: classes by `javac`, jars by `jar`, its own modules.

mod body;
mod causal;
mod faults;
mod exception_flow;
mod grammar;
mod jars;
mod jdk;
mod questions;
mod random;
mod run;
mod shapes;
mod sites;
mod statements;
mod slices;
mod table;
mod tables;
mod tools;
