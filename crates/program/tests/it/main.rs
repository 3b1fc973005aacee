//! Tests with what a JDK makes: classes by `javac`, jars by `jar`, its own modules.

mod body;
mod causal;
mod checks;
mod exception_flow;
mod faults;
mod following;
mod grammar;
mod jars;
mod jdk;
mod questions;
mod random;
mod rows;
mod run;
mod shapes;
mod shared;
mod sites;
mod slices;
mod statements;
mod table;
mod tables;
mod tools;
