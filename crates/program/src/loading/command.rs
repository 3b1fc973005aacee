//! Target of a `java` command.

use std::path::Path;

use crate::loading::classpath::ClassPath;
use crate::loading::jar::Jar;

/// The longest argument file that is read.
const ARGUMENT_FILE_BYTES_MAX: u64 = 1 << 20;

/// A `java` command, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaCommand {
    /// The classes it runs on, module path included, the JDK's own not.
    pub class_path: ClassPath,
    /// The class it starts, if it starts one.
    pub main_class: Option<String>,
    /// Position for JVM options in the arguments: right after `java`.
    pub options_end: usize,
}

/// Options of the launcher whose value is the next argument.
const WITH_VALUE: [&str; 13] = [
    "--add-exports",
    "--add-modules",
    "--add-opens",
    "--add-reads",
    "--describe-module",
    "--enable-native-access",
    "--finalization",
    "--illegal-native-access",
    "--limit-modules",
    "--patch-module",
    "--source",
    "--upgrade-module-path",
    "-d",
];

impl ClassPath {
    /// Reads a command line whose first argument is `java` (by whatever path); none for any other command.
    /// `classpath_env` is the variable `CLASSPATH` of the process.
    pub fn of_java_command(args: &[String], cwd: &Path, classpath_env: Option<&str>) -> Option<JavaCommand> {
        let program = Path::new(args.first()?).file_name()?.to_str()?;
        if !matches!(program, "java" | "java.exe" | "javaw.exe") {
            return None;
        }
        Some(Reading::of(&with_argument_files(&args[1..], cwd)).understood(cwd, classpath_env))
    }
}

/// Options, before any file except argument files was read.
#[derive(Debug, Default)]
struct Reading {
    class_path: Option<String>,
    module_path: Option<String>,
    is_jar: bool,
    is_module: bool,
    /// The first argument that is no option: class, jar or module.
    main: Option<String>,
}

impl Reading {
    fn of(args: &[String]) -> Reading {
        let mut reading = Reading::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (option, mut value) = match arg.split_once('=') {
                Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
                _ => (arg.as_str(), None),
            };
            let mut value = || value.take().or_else(|| args.next().cloned());
            match option {
                "-cp" | "-classpath" | "--class-path" => reading.class_path = value(),
                "-p" | "--module-path" => reading.module_path = value(),
                "-m" | "--module" => {
                    reading.is_module = true;
                    reading.main = value();
                    return reading;
                }
                "-jar" => reading.is_jar = true,
                _ if WITH_VALUE.contains(&option) => drop(value()),
                _ if option.starts_with('-') => {}
                _ => {
                    reading.main = Some(arg.clone());
                    return reading;
                }
            }
        }
        reading
    }

    fn understood(self, cwd: &Path, classpath_env: Option<&str>) -> JavaCommand {
        let mut main_class = None;
        let mut path = match (&self.main, self.is_jar) {
            // With -jar, the jar is the whole class path; -cp and CLASSPATH are ignored.
            (Some(jar), true) => {
                let mut path = ClassPath::default();
                path.add(cwd.join(jar));
                main_class = Jar::open(&cwd.join(jar)).ok().and_then(|jar| jar.manifest.main_class);
                path
            }
            (main, _) => {
                if self.is_module {
                    main_class = main.as_ref().and_then(|main| Some(main.split_once('/')?.1.to_owned()));
                } else if let Some(main) = main.as_ref().filter(|main| !main.ends_with(".java")) {
                    main_class = Some(main.replace('/', "."));
                }
                match self.class_path.as_deref().or(classpath_env) {
                    Some(text) => ClassPath::parse(text, cwd),
                    None if self.is_module => ClassPath::default(),
                    None => ClassPath::parse(".", cwd),
                }
            }
        };
        for entry in
            self.module_path.iter().flat_map(|text| text.split(':')).filter(|entry| !entry.is_empty())
        {
            add_module_path_entry(&mut path, &cwd.join(entry));
        }
        JavaCommand { class_path: path, main_class, options_end: 1 }
    }
}

/// A module, or a directory of modules, each a jar or a directory of classes.
fn add_module_path_entry(path: &mut ClassPath, entry: &Path) {
    if !entry.is_dir() || entry.join("module-info.class").exists() {
        path.add(entry.to_owned());
        return;
    }
    path.add_jars_of(entry);
    let Ok(directory) = std::fs::read_dir(entry) else { return };
    let mut modules: Vec<_> = directory.filter_map(|it| Some(it.ok()?.path())).collect();
    modules.retain(|it| it.join("module-info.class").exists());
    modules.sort();
    modules.into_iter().for_each(|module| path.add(module));
}

/// The arguments with `@file` replaced by what the file holds, up to the main class, as the launcher does it.
fn with_argument_files(args: &[String], cwd: &Path) -> Vec<String> {
    let mut out = Vec::with_capacity(args.len());
    let mut literal = false;
    for arg in args {
        literal |= arg == "--disable-@files";
        match arg.strip_prefix('@') {
            Some(rest) if !literal && rest.starts_with('@') => out.push(rest.to_owned()),
            Some(name) if !literal => {
                let path = cwd.join(name);
                let small = std::fs::metadata(&path)
                    .is_ok_and(|it| it.is_file() && it.len() <= ARGUMENT_FILE_BYTES_MAX);
                let text =
                    if small { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
                out.extend(arguments_in(&text));
            }
            _ => out.push(arg.clone()),
        }
        literal |= Reading::of(&out).main.is_some();
    }
    out
}

/// The arguments in the text of an argument file: separated by white space, in quotes where they hold some; `\`
/// escapes within quotes, `#` begins a comment.
fn arguments_in(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut current: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                let escaped = match chars.next() {
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    Some('f') => '\x0c',
                    // A line that ends in `\` goes on behind the white space of the next.
                    Some('\n') => {
                        let rest = chars.as_str().trim_start_matches([' ', '\t', '\x0c']);
                        chars = rest.chars();
                        continue;
                    }
                    Some(other) => other,
                    None => break,
                };
                current.get_or_insert_default().push(escaped);
            }
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                current.get_or_insert_default();
            }
            (None, '#') if current.is_none() => {
                chars.by_ref().find(|&c| c == '\n');
            }
            (None, c) if c.is_whitespace() => arguments.extend(current.take()),
            (_, c) => current.get_or_insert_default().push(c),
        }
    }
    arguments.extend(current);
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn check(command: &str, env: Option<&str>, expected: Option<(&[&str], Option<&str>)>) {
        let args: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let found = ClassPath::of_java_command(&args, Path::new("/w"), env);
        let expected = expected.map(|(entries, main)| {
            (entries.iter().map(PathBuf::from).collect::<Vec<_>>(), main.map(str::to_owned))
        });
        assert_eq!(found.map(|it| (it.class_path.entries, it.main_class)), expected, "{command}");
    }

    #[test]
    fn commands_are_understood_as_the_launcher_does() {
        check("mvn test", None, None);
        check("java Main", None, Some((&["/w/."], Some("Main"))));
        check("/opt/jdk/bin/java Main", Some("env.jar"), Some((&["/w/env.jar"], Some("Main"))));
        check("java -cp a.jar:/b a.Main -cp not.jar", None, Some((&["/w/a.jar", "/b"], Some("a.Main"))));
        check("java -classpath a.jar a/Main", None, Some((&["/w/a.jar"], Some("a.Main"))));
        check("java --class-path=a.jar -Xmx1g M", Some("x"), Some((&["/w/a.jar"], Some("M"))));
        check("java --class-path a.jar -ea M", None, Some((&["/w/a.jar"], Some("M"))));
        check("java --add-opens java.base/java.lang=ALL-UNNAMED -cp a M", None, Some((&["/w/a"], Some("M"))));
        check("java --add-opens=java.base/x=y -Dk=v -cp a M", None, Some((&["/w/a"], Some("M"))));
        check("java -cp a -cp b M", None, Some((&["/w/b"], Some("M"))));
        check("java -cp ignored -jar -Xint app.jar x", None, Some((&["/w/app.jar"], None)));
        check("java -p mods/a.jar -m a/a.Main", None, Some((&["/w/mods/a.jar"], Some("a.Main"))));
        check("java --module-path=m.jar --module a", None, Some((&["/w/m.jar"], None)));
        check("java Single.java", None, Some((&["/w/."], None)));
        check("java -version", None, Some((&["/w/."], None)));
        check("java -cp", None, Some((&["/w/."], None)));
    }

    #[test]
    fn argument_files_are_split_as_the_launcher_does() {
        let text = "-cp \"a b.jar:c\\\\d\" # comment\n'-Dx=y z' plain\"quoted\"end \"two\\\n   lines\"";
        assert_eq!(arguments_in(text), ["-cp", "a b.jar:c\\d", "-Dx=y z", "plainquotedend", "twolines"]);
    }
}
