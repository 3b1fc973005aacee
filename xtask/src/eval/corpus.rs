//! `cargo xtask eval corpus`: every class of many jars and of the JDK links with all hooks as it does without.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk, JdkArgs};
use crate::process::{self, Job, fresh_directory, step};
use crate::table::{self, thousands};
use crate::tool::{Done, Invocation, Tool, ToolArgs, words};
use crate::{Verdict, javac, maven, root};

/// All jars, with hooks, on a slow machine.
const LIMIT: Duration = Duration::from_secs(3600);
/// Number of differing lines that are shown.
const LINES_SHOWN: usize = 10;
const HEADINGS: [&str; 9] =
    ["JDK", "corpus", "classes", "linked", "hooks", "moved", "left out", "new errors", "errors gone"];

/// Mass link: every class of many jars and of the JDK, bare and with hooks
#[derive(Debug, clap::Args)]
pub struct CorpusArgs {
    /// Only jars smaller than this
    #[arg(long, value_name = "KB", default_value_t = 400, conflicts_with = "all")]
    jars_below: u64,
    /// Only the JDK's own modules
    #[arg(long, conflicts_with_all = ["all", "jars_below"])]
    jdk_only: bool,
    /// All jars, of any size: 270,000 classes
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

/// Some classes to link.
struct Corpus {
    name: &'static str,
    /// For LinkAll.
    arguments: Vec<OsString>,
    /// For the JVM.
    flags: &'static [&'static str],
    /// For the tool; LinkAll itself is at its end.
    class_path: String,
}

/// Directories of LinkAll and of the results.
struct Linker<'a> {
    tool: &'a Tool,
    classes: PathBuf,
    out: PathBuf,
}

/// Result of linking.
struct Links {
    problems: BTreeSet<String>,
    classes: u64,
    linked: u64,
}

pub fn run(args: &CorpusArgs) -> Result<Verdict> {
    let jdks = args.jdks.all()?;
    let tool = args.tool.ready()?;
    let work = root().join("eval/work/corpus");
    let linker = Linker { tool: &tool, classes: work.join("classes"), out: work.join("out") };
    javac::compile(&jdk::compiler()?, &[root().join("eval/corpus/LinkAll.java")], "", &linker.classes)?;
    let mut corpora = Vec::new();
    if !args.jdk_only {
        corpora.push(linker.jars(if args.all { u64::MAX } else { args.jars_below.saturating_mul(1024) })?);
    }
    corpora.push(Corpus {
        name: "JDK",
        arguments: words(["--jdk"]),
        flags: &["--add-modules", "ALL-SYSTEM"],
        class_path: linker.classes.display().to_string(),
    });
    let (mut rows, mut notes, mut verdict) = (Vec::new(), Vec::new(), Verdict::Pass);
    for jdk in &jdks {
        for corpus in &corpora {
            let directory = linker.out.join(format!("jdk-{}-{}", jdk.version, corpus.name));
            fresh_directory(&directory)?;
            let what = format!("linking the {} on JDK {}", corpus.name, jdk.version);
            let bare = step(&format!("{what}, bare"), || linker.bare(jdk, corpus, &directory))?;
            let (hooked, done) =
                step(&format!("{what}, --hook all"), || linker.hooked(jdk, corpus, &directory))?;
            let new: Vec<&String> = hooked.problems.difference(&bare.problems).collect();
            let gone: Vec<&String> = bare.problems.difference(&hooked.problems).collect();
            let same = new.is_empty() && gone.is_empty() && bare.linked == hooked.linked;
            if !same || done.hooks() == 0 {
                verdict = Verdict::Fail;
                notes.push(format!("FAIL: {what}: see {}", directory.display()));
                notes.extend(new.iter().take(LINES_SHOWN).map(|line| format!("    new   {line}")));
                notes.extend(gone.iter().take(LINES_SHOWN).map(|line| format!("    gone  {line}")));
            }
            let mut row = vec![jdk.version.clone(), corpus.name.to_owned()];
            row.extend(
                [
                    hooked.classes,
                    hooked.linked,
                    done.hooks(),
                    done.moved(),
                    done.left_out(),
                    new.len() as u64,
                    gone.len() as u64,
                ]
                .map(thousands),
            );
            rows.push(row);
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    notes.iter().for_each(|line| println!("{line}"));
    println!("both outputs of each are kept in {}", linker.out.display());
    Ok(verdict)
}

impl Linker<'_> {
    /// The jars below a size, listed in a file for LinkAll.
    fn jars(&self, bytes_below: u64) -> Result<Corpus> {
        let mut jars = maven::jars(&maven::fetch("corpus", "lib", None)?)?;
        jars.retain(|it| fs::metadata(it).is_ok_and(|it| it.len() < bytes_below));
        if jars.is_empty() {
            return Err(Failure::new("no jar of the corpus is that small").hint("give more --jars-below"));
        }
        eprintln!("... {} jars", jars.len());
        let paths: Vec<String> = jars.iter().map(|it| it.display().to_string()).collect();
        fs::create_dir_all(&self.out).map_err(Failure::file(&self.out))?;
        let list = self.out.join("jars.txt");
        fs::write(&list, paths.join("\n") + "\n").map_err(Failure::file(&list))?;
        Ok(Corpus {
            name: "jars",
            arguments: vec![list.into()],
            flags: &[],
            class_path: format!("{}:{}", paths.join(":"), self.classes.display()),
        })
    }

    /// The same flags with and without hooks.
    fn java(&self, jdk: &Jdk, corpus: &Corpus) -> Vec<OsString> {
        let mut java = words([jdk.java()]);
        java.extend(words(["-Xverify:all", "-Xmx3g"]));
        java.extend(words(corpus.flags));
        java.extend([OsString::from("-cp"), self.classes.clone().into(), OsString::from("LinkAll")]);
        java.extend(corpus.arguments.iter().cloned());
        java
    }

    fn bare(&self, jdk: &Jdk, corpus: &Corpus, directory: &Path) -> Result<Links> {
        let java = self.java(jdk, corpus);
        let mut command = std::process::Command::new(&java[0]);
        command.args(&java[1..]).env_remove("JAVA_TOOL_OPTIONS");
        let (stdout, stderr) = (directory.join("bare.txt"), directory.join("bare.stderr.txt"));
        Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.succeed()?;
        Links::read(&stdout, &stderr)
    }

    fn hooked(&self, jdk: &Jdk, corpus: &Corpus, directory: &Path) -> Result<(Links, Done)> {
        let mut args = words(["--hook", "all", "--record", "count", "--top", "0", "--packages", "*"]);
        args.extend(words(["--classpath", &corpus.class_path]));
        let done = self.tool.run(Invocation {
            verb: "run",
            args,
            command: self.java(jdk, corpus),
            variables: Vec::new(),
            directory,
            current_directory: directory,
            limit: LIMIT,
        })?;
        let (stdout, stderr) = (directory.join("hooked.txt"), directory.join("hypocenter.log"));
        fs::copy(done.stdout(), &stdout).map_err(Failure::file(&stdout))?;
        Ok((Links::read(&stdout, &stderr)?, done))
    }
}

impl Links {
    /// Reads what LinkAll prints: a line a problem, and a summary.
    fn read(stdout: &Path, stderr: &Path) -> Result<Links> {
        let text = process::lossy(stdout);
        Links::parse(&text)
            .ok_or_else(|| process::failure("LinkAll", "did not come to its end", stdout, stderr))
    }

    fn parse(text: &str) -> Option<Links> {
        let mut lines: Vec<&str> = text.lines().collect();
        let words: Vec<&str> = lines.pop()?.split(' ').collect();
        let ["classes", classes, "linked", linked, "problems", problems] = words[..] else { return None };
        let whole = problems.parse::<usize>().ok()? == lines.len();
        whole.then_some(())?;
        Some(Links {
            problems: lines.into_iter().map(str::to_owned).collect(),
            classes: classes.parse().ok()?,
            linked: linked.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_was_cut_is_not_taken_for_a_result() {
        let whole = Links::parse("a.B\tError\tx\nclasses 3 linked 2 problems 1\n").unwrap();
        assert_eq!((whole.classes, whole.linked, whole.problems.len()), (3, 2, 1));
        assert!(Links::parse("a.B\tError\tx\n").is_none());
        assert!(Links::parse("classes 3 linked 2 problems 1\n").is_none());
        assert!(Links::parse("").is_none());
    }
}
