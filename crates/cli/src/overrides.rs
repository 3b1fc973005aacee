//! `--set KEY=VALUE`: a value in place of one of hypocenter.toml, for one campaign.

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::config::Config;
use crate::failure::Failure;

/// A key of a section and its value for this campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    section: String,
    key: String,
    value: Value,
    /// The text as it was typed.
    typed: String,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Override, String> {
        let parts =
            text.split_once('=').and_then(|(name, value)| Some((name.trim().split_once('.')?, value)));
        let Some(((section, key), value)) = parts else {
            return Err("give SECTION.KEY=VALUE, such as reproduce.window=3".to_owned());
        };
        // As in the file, except that a word needs no quotes.
        let table: Option<Table> = format!("value = {value}").parse().ok();
        let value =
            table.and_then(|mut it| it.remove("value")).unwrap_or_else(|| Value::String(value.to_owned()));
        Ok(Override { section: section.to_owned(), key: key.to_owned(), value, typed: text.to_owned() })
    }
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--set {}", self.typed)
    }
}

/// Applies overrides to the section of a verb, which `check` accepts.
pub fn overridden<T: DeserializeOwned>(
    config: &Config,
    section: &str,
    overrides: &[Override],
    current: T,
    check: impl Fn(&T) -> Result<(), String>,
) -> Result<T, Failure> {
    let mut table = config.section(section);
    let mut result = current;
    for it in overrides {
        let failed = |why: String| {
            Failure::usage(format!("{it}: {}", why.replace('\n', ", ")))
                .hint("`hypocenter guide configuration` explains every key")
        };
        if it.section != section {
            return Err(failed(format!("this verb has the keys of [{section}], not of [{}]", it.section)));
        }
        table.insert(it.key.clone(), it.value.clone());
        // By way of text, since places in it are kept with some values.
        let text = toml::to_string(&table).map_err(|error| failed(error.to_string()))?;
        result = toml::from_str(&text).map_err(|error| failed(error.message().to_owned()))?;
        check(&result).map_err(failed)?;
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search_config::{ExploreConfig, ReproduceConfig};

    fn check(words: &[&str], expected: Result<(&str, usize), &str>) {
        let overrides: Vec<Override> = words.iter().map(|it| it.parse().unwrap()).collect();
        let (config, current) = (Config::default(), ReproduceConfig::default());
        let found = overridden(&config, "reproduce", &overrides, current, ReproduceConfig::check);
        match (found, expected) {
            (Ok(it), Ok(expected)) => assert_eq!((it.strategy.as_str(), it.window), expected, "{words:?}"),
            (Err(it), Err(expected)) => assert_eq!(it.what, expected, "{words:?}"),
            (found, _) => panic!("{words:?}: {found:?}"),
        }
    }

    #[test]
    fn values_are_those_of_the_configuration_and_errors_name_the_allowed_ones() {
        check(&[], Ok(("full", 10)));
        check(&["reproduce.window=3", "reproduce.strategy=fate"], Ok(("fate", 3)));
        check(&["reproduce.strategy='distance-limit'"], Ok(("distance-limit", 10)));
        check(&["reproduce.window=0"], Err("--set reproduce.window=0: window: 0 is not between 1 and 10000"));
        check(
            &["reproduce.widow=1"],
            Err(
                "--set reproduce.widow=1: unknown field `widow`, expected one of `strategy`, `window`, `step`, \
                 `patience`, `doubt`, `without`",
            ),
        );
        check(
            &["reproduce.step=near"],
            Err("--set reproduce.step=near: invalid type: string \"near\", expected u32"),
        );
        check(
            &["explore.budget=1"],
            Err("--set explore.budget=1: this verb has the keys of [reproduce], not of [explore]"),
        );
        for text in ["window=3", "reproduce.window", ""] {
            assert!(text.parse::<Override>().unwrap_err().contains("SECTION.KEY=VALUE"), "{text}");
        }
    }

    #[test]
    fn known_findings_stay_beside_an_override() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hypocenter.toml");
        std::fs::write(&path, "[explore]\nbudget = 2\n[[explore.known]]\nsite = 'A.b'\nwhy = 'seen'\n")
            .unwrap();
        let config = Config::read(&path).unwrap();
        let overrides = ["explore.epsilon=0.5".parse().unwrap()];
        let found = overridden(&config, "explore", &overrides, config.explore.clone(), ExploreConfig::check);
        let found = found.unwrap();
        assert_eq!((found.known.len(), found.budget, found.epsilon), (1, 2, 0.5));
    }
}
