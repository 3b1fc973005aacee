//! Statements that are one in the source and several in the bytecode.

use hypocenter_program::{Program, Statement};

/// A statement by its number and those that are the same in the source: a compiler copies what stands in a `finally`.
pub fn copies(program: &Program, number: u32) -> impl Iterator<Item = &Statement> {
    let first = &program.statements.statements()[number as usize];
    program.statements.statements_in(first.method).iter().filter(|it| is_copy(first, it))
}

fn is_copy(a: &Statement, b: &Statement) -> bool {
    let is_one = a.instruction == b.instruction;
    (a.method, a.line, a.level, &a.templates) == (b.method, b.line, b.level, &b.templates)
        && (is_one || a.line > 0)
}

/// For each statement the number of the first of its copies.
pub(crate) fn firsts(program: &Program) -> Vec<u32> {
    let statements = program.statements.statements();
    let first = |(number, it): (usize, &Statement)| {
        let same_method = statements.partition_point(|other| other.method < it.method);
        let first = (same_method..number).find(|&other| is_copy(&statements[other], it));
        first.unwrap_or(number) as u32
    };
    statements.iter().enumerate().map(first).collect()
}
