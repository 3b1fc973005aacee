//! `cargo xtask fetch`: the class paths of the systems in `eval/` that have a `hypocenter.toml`.

use std::fs;
use std::path::PathBuf;

use crate::failure::{Failure, Result};
use crate::table::{self, thousands};
use crate::{Verdict, maven, root};

const HEADINGS: [&str; 4] = ["system", "jars", "MB", "place"];

/// Fetch the class paths of real systems into eval/work, where they are not there yet
#[derive(Debug, clap::Args)]
pub struct FetchArgs {
    /// Which, by the names of their folders in eval; by default all that have a hypocenter.toml
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(args: &FetchArgs) -> Result<Verdict> {
    let names = chosen(&args.names)?;
    let mut rows = Vec::new();
    for (at, name) in names.iter().enumerate() {
        eprintln!("{name}, {} of {}", at + 1, names.len());
        let lib = maven::fetch(name, "lib", None)?;
        let jars = maven::jars(&lib)?;
        let place = lib.strip_prefix(root()).unwrap_or(&lib).display().to_string();
        rows.push(vec![
            name.clone(),
            thousands(jars.len() as u64),
            thousands(bytes(&jars)?.div_ceil(1_000_000)),
            place,
        ]);
    }
    print!("{}", table::text(&HEADINGS, &rows));
    Ok(Verdict::Pass)
}

/// The systems of these names, or all of them, sorted.
fn chosen(names: &[String]) -> Result<Vec<String>> {
    let place = root().join("eval");
    let mut all: Vec<String> = fs::read_dir(&place)
        .map_err(Failure::file(&place))?
        .flatten()
        .filter(|it| ["pom.xml", "hypocenter.toml"].iter().all(|file| it.path().join(file).is_file()))
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    all.sort();
    if let Some(unknown) = names.iter().find(|it| !all.contains(it)) {
        return Err(Failure::new(format!(
            "eval has no system `{unknown}` with a pom.xml and a hypocenter.toml"
        ))
        .hint(format!("name some of {}", all.join(", "))));
    }
    if !names.is_empty() {
        all.retain(|it| names.contains(it));
    }
    Ok(all)
}

fn bytes(files: &[PathBuf]) -> Result<u64> {
    files.iter().map(|it| Ok(fs::metadata(it).map_err(Failure::file(it))?.len())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_named_by_their_folders() {
        let all = chosen(&[]).unwrap();
        for name in ["cassandra-4.1.5", "hbase-2.5.10", "hdfs-3.3.6", "kafka-3.6.1", "zookeeper-3.6.2"] {
            assert!(all.contains(&name.to_owned()), "{name}");
        }
        assert!(!all.contains(&"corpus".to_owned()), "it is many jars, and no system");
        assert_eq!(chosen(&["hdfs-3.3.6".to_owned()]).unwrap(), ["hdfs-3.3.6"]);
        let failure = chosen(&["kafka".to_owned()]).unwrap_err().to_string();
        assert!(failure.contains("`kafka`") && failure.contains("kafka-3.6.1"), "{failure}");
    }

    #[test]
    fn a_configuration_names_the_place_that_jars_are_fetched_to() {
        for name in chosen(&[]).unwrap() {
            let text = fs::read_to_string(root().join("eval").join(&name).join("hypocenter.toml")).unwrap();
            let config: toml::Table = text.parse().unwrap();
            let jars = format!("../work/{name}/lib/*.jar");
            assert_eq!(config["target"]["classpath"][0].as_str(), Some(&*jars), "{name}");
        }
    }
}
