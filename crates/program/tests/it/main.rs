//! Tests with what a JDK makes: classes by `javac`, jars by `jar`, its own modules.

mod body;
mod exception_flow;
mod grammar;
mod jars;
mod jdk;
mod questions;
mod random;
mod run;
mod sites;
mod table;
mod tables;
mod tools;
