//! Symptoms: the line of a method that only a failing run reaches.

use std::fmt;
use std::str::FromStr;

use hypocenter_program::{Act, MethodId, Outline, Program};
use serde::{Deserialize, Serialize};

/// A line of a method, as `Class.method:LINE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symptom {
    /// The class, with or without its package.
    class: String,
    /// The method.
    method: String,
    /// The line.
    line: u32,
}

impl FromStr for Symptom {
    type Err = String;

    fn from_str(text: &str) -> Result<Symptom, String> {
        let parts = text.rsplit_once(':').and_then(|(name, line)| Some((name.rsplit_once('.')?, line)));
        let Some(((class, method), line)) = parts else {
            return Err(format!("`{text}`: give a line of a method, as `Class.method:70`"));
        };
        let line = line.parse().map_err(|_| format!("`{text}`: `{line}` is not the number of a line"))?;
        Ok(Symptom { class: class.to_owned(), method: method.to_owned(), line })
    }
}

impl fmt::Display for Symptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}:{}", self.class, self.method, self.line)
    }
}

impl Symptom {
    /// The instruction of each method that the line is about: what it throws, else its last call, else its last act. An error names
    /// what there is.
    pub fn find(&self, program: &Program) -> Result<Vec<(MethodId, u16)>, String> {
        let world = &program.world;
        let is_class = |name: &str| {
            name == self.class || name.rsplit_once(['.', '$']).is_some_and(|it| it.1 == self.class)
        };
        let types = world.types().map(|it| it.0).filter(|&it| world.system_class(it).is_some());
        let mut classes = types.filter(|&it| is_class(&world.show_type(it))).peekable();
        if classes.peek().is_none() {
            return Err(format!("{self}: the target has no class `{}`", self.class));
        }
        let methods: Vec<MethodId> = classes
            .flat_map(|it| world.methods_of(it))
            .filter(|&it| world.method_name(it) == self.method.as_bytes())
            .collect();
        let outlines: Vec<(MethodId, Outline)> =
            methods.iter().filter_map(|&it| Some((it, Outline::of(program.causes(), it)?))).collect();
        let found: Vec<(MethodId, u16)> =
            outlines.iter().filter_map(|(id, it)| Some((*id, self.instruction(it)?))).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let mut lines: Vec<u32> =
            outlines.iter().flat_map(|it| it.1.steps.iter().filter_map(|it| it.line)).collect();
        lines.sort_unstable();
        Err(match (lines.first(), lines.last()) {
            (Some(first), Some(last)) => format!("{self}: the method has code at lines {first} to {last}"),
            _ => format!("{self}: class `{}` has no method `{}` with lines", self.class, self.method),
        })
    }

    fn instruction(&self, outline: &Outline) -> Option<u16> {
        let weight = |act: &Act| match act {
            Act::Moves | Act::Constant(_) => 0,
            Act::Throws => 3,
            Act::Calls(_) => 2,
            _ => 1,
        };
        let here = (0..).zip(&outline.steps).filter(|it| it.1.line == Some(self.line));
        here.max_by_key(|(number, it)| (weight(&it.act), *number)).map(|it| it.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symptom_is_a_line_of_a_method() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let found = text.parse::<Symptom>().map(|it| it.to_string());
            assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{text}");
        };
        check("a.B.c:7", Ok("a.B.c:7"));
        check("B.<init>:7", Ok("B.<init>:7"));
        check("B:7", Err("`B:7`: give a line of a method, as `Class.method:70`"));
        check("a.B.c", Err("`a.B.c`: give a line of a method, as `Class.method:70`"));
        check("a.B.c:x", Err("`a.B.c:x`: `x` is not the number of a line"));
    }
}
