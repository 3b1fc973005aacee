//! Workloads that are templates over tests, expanded by the tests that the target has.

use std::collections::BTreeSet;

use hypocenter_plan::{TestName, Workload, glob_matches};
use hypocenter_program::{Scope, Tests, load};

use crate::commands::scan::prefixes;
use crate::config::meant;
use crate::failure::Failure;
use crate::screen;
use crate::target::{Target, TargetSpec};

/// The workloads that one of the configuration stands for: itself, or one for each test that a pattern fits. There is always one.
pub fn workloads(
    workload: Workload,
    pattern: Option<&str>,
    spec: &TargetSpec,
) -> Result<Vec<Workload>, Failure> {
    let name = workload.name.clone();
    if !workload.is_template() {
        return match pattern {
            None => Ok(vec![workload]),
            Some(_) => Err(Failure::usage(format!("--test: workload `{name}` is not a template over tests"))
                .hint("use {test.class}, {test.method} or {test.id} in its command")),
        };
    }
    let tests = tests_of(spec)?;
    if tests.is_empty() {
        return Err(Failure::usage(format!(
            "workload `{name}` is a template over tests, and {} has none",
            spec.packages.join(", ")
        ))
        .hint("`hypocenter scan --tests` lists the tests; add the test classes to `classpath` and their packages to `packages`"));
    }
    let Some(pattern) = pattern else {
        let all = screen::count(tests.len() as u64, "test", "tests");
        return Err(Failure::usage(format!(
            "workload `{name}` is a template over tests, and no test was given"
        ))
        .hint(format!(
            "give one with --test, as in `--test '{}'`; `hypocenter scan --tests` lists all {all}",
            tests[0]
        )));
    };
    let chosen: Vec<Workload> =
        tests.iter().filter(|it| fits(pattern, it)).map(|it| workload.for_test(it)).collect();
    if chosen.is_empty() {
        let names: Vec<String> = tests.iter().map(TestName::to_string).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let failure = Failure::usage(format!("--test {pattern}: no test of the target matches"));
        return Err(failure.hint(match meant(pattern, &names) {
            Some(it) => format!("did you mean `{it}`?"),
            None => "write CLASS#METHOD; `hypocenter scan --tests` lists the tests".to_owned(),
        }));
    }
    Ok(chosen)
}

/// Returns true if a pattern fits a test, by the whole name of its class or by the last part of it.
fn fits(pattern: &str, test: &TestName) -> bool {
    let simple = test.class.rsplit('.').next().unwrap_or(&test.class);
    glob_matches(pattern, &test.to_string()) || glob_matches(pattern, &format!("{simple}#{}", test.method))
}

/// The tests of the target that are not switched off, in the order of their names.
fn tests_of(spec: &TargetSpec) -> Result<Vec<TestName>, Failure> {
    let target = Target::open(spec)?;
    let (world, _) = load(&target.with_jdk, &Scope::of(&prefixes(&spec.packages, &target.with_jdk)));
    let tests = Tests::of(&world);
    let name = |it: &hypocenter_program::Test| TestName {
        class: world.show_type(it.class),
        method: String::from_utf8_lossy(world.method_name(it.method)).into_owned(),
    };
    // Methods of one name are one to whoever runs them.
    let names: BTreeSet<TestName> = tests.all().iter().filter(|it| !it.is_disabled).map(name).collect();
    Ok(names.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_whole_names_and_the_last_parts_of_classes() {
        let test: TestName = "org.acme.StoreTest$Full#flushes".parse().expect("a test");
        let check = |pattern: &str, expected: bool| assert_eq!(fits(pattern, &test), expected, "{pattern}");
        check("org.acme.StoreTest$Full#flushes", true);
        check("StoreTest$Full#flushes", true);
        check("StoreTest*#*", true);
        check("*", true);
        check("Full#flushes", false);
        check("StoreTest#flushes", false);
        check("org.acme.StoreTest$Full", false);
    }
}
