//! Tests with what a JDK makes: classes by `javac`, jars by `jar`, its own modules.

mod body;
mod grammar;
mod jars;
mod jdk;
mod questions;
mod random;
mod run;
mod sites;
mod slices;
mod table;
mod tables;
mod tools;
