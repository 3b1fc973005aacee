//! Exceptions to throw: the classes that stand for a named one, or those that may have been meant.

use hypocenter_program::{Classes, Error, Program, access, concrete_subtypes};

use crate::failure::Failure;
use crate::screen;
use crate::target::Target;

/// The most classes that are suggested.
const SUGGESTED_MAX: usize = 3;
/// Internal packages of the JDK.
const INTERNAL: [&str; 5] = ["com.sun.", "sun.", "jdk.internal.", "jdk.vm.", "jdk.jfr.internal."];

/// The classes that can be made and stand for one that is to be thrown.
pub fn concrete(classes: &Classes, class: &str) -> Result<Vec<String>, Failure> {
    concrete_subtypes(classes, class).map_err(|error| match error {
        Error::UnknownClass(it) => {
            let can_be_thrown = |name: &&str| concrete_subtypes(classes, name).is_ok();
            let meant = meant(class, classes.names(), it.names.iter().map(String::as_str));
            let meant: Vec<&str> = meant.into_iter().filter(can_be_thrown).take(SUGGESTED_MAX).collect();
            Failure::usage(it.what).hint(screen::clean(&hint(class, &meant)))
        }
        other => other.into(),
    })
}

/// Abstract exceptions that calls of a program declare, each with the classes that stand for it.
pub fn of_program(program: &Program, target: &Target) -> Vec<(String, Vec<String>)> {
    let world = &program.world;
    let declared = program.faults.sites().iter().flat_map(|it| it.kind.exceptions());
    let mut all: Vec<_> =
        declared.flat_map(|&it| world.descendants(it).iter().copied().chain([it])).collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|&it| world.get(it).access & access::ABSTRACT != 0);
    let concrete = |class: String| Some((class.clone(), concrete_subtypes(&target.with_jdk, &class).ok()?));
    all.into_iter().filter_map(|it| concrete(world.show_type(it))).collect()
}

/// Advice about a class that does not exist. One with a package is misspelled, and the classes of that package are likeliest.
fn hint(class: &str, meant: &[&str]) -> String {
    let Some((package, _)) = class.rsplit_once('.') else {
        return match meant {
            [] => "name the class with its package, as in java.io.IOException".to_owned(),
            _ => format!("name the class with its package: {}", meant.join(", or ")),
        };
    };
    let is_beside = |it: &&&str| it.rsplit_once('.').is_some_and(|it| it.0 == package);
    match (meant.iter().find(is_beside), meant) {
        (Some(one), _) => format!("did you mean {one}?"),
        (None, []) => "check its name, and that its jar is on the class path".to_owned(),
        (None, _) => format!("did you mean {}?", meant.join(", or ")),
    }
}

/// Possible meanings of a name, the likeliest first: a class with this name in some package, those of the JDK before others;
/// if there is none, what is called nearly so.
fn meant<'n>(
    class: &str,
    names: impl Iterator<Item = &'n str>,
    near: impl Iterator<Item = &'n str>,
) -> Vec<&'n str> {
    let simple = |name: &'_ str| name.rsplit(['.', '$']).next().unwrap_or(name).to_lowercase();
    let wanted = simple(class);
    let whole = [wanted.clone(), format!("{wanted}exception"), format!("{wanted}error")];
    let of_jdk = ["java.", "javax."];
    let is_internal = |name: &str| INTERNAL.iter().any(|it| name.starts_with(it));
    let rank = |name: &str| {
        let is_called = whole.iter().position(|it| *it == simple(name))?;
        let family = of_jdk.iter().position(|it| name.starts_with(it)).unwrap_or(of_jdk.len());
        Some((is_called, is_internal(name), family))
    };
    let mut called: Vec<_> = names.filter_map(|it| Some((rank(it)?, it))).collect();
    called.sort_unstable();
    if called.is_empty() {
        return near.filter(|it| !is_internal(it)).collect();
    }
    called.into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_that_name_comes_first_and_the_jdk_before_others() {
        let names = [
            "acme.TimeoutException",
            "com.sun.jdi.TimeoutException",
            "java.io.FileNotFoundException",
            "java.lang.Exception",
            "java.util.concurrent.TimeoutException",
            "javax.naming.TimeoutException",
        ];
        let near = ["sun.Near", "acme.Near"];
        let check = |class: &str, expected: &[&str]| {
            assert_eq!(meant(class, names.into_iter(), near.into_iter()), expected, "{class}");
        };
        let timeouts = [
            "java.util.concurrent.TimeoutException",
            "javax.naming.TimeoutException",
            "acme.TimeoutException",
            "com.sun.jdi.TimeoutException",
        ];
        check("TimeoutException", &timeouts);
        check("java.util.timeoutexception", &timeouts);
        check("FileNotFound", &["java.io.FileNotFoundException"]);
        check("Naer", &["acme.Near"]);
    }

    #[test]
    fn a_name_without_a_package_needs_one_and_another_is_misspelt() {
        let check = |class: &str, meant: &[&str], expected: &str| {
            assert_eq!(hint(class, meant), expected, "{class}");
        };
        let meant = ["javax.imageio.IIOException", "java.io.IOException"];
        check("IOExeption", &meant[1..], "name the class with its package: java.io.IOException");
        check("Gone", &[], "name the class with its package, as in java.io.IOException");
        check("java.io.IOExeption", &meant, "did you mean java.io.IOException?");
        check(
            "java.nio.IOExeption",
            &meant,
            "did you mean javax.imageio.IIOException, or java.io.IOException?",
        );
        check("acme.Gone", &[], "check its name, and that its jar is on the class path");
    }
}
