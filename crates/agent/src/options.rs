//! What the tool tells the agent on its command line: `node=NAME,map=PATH,trial=PATH`.
//!
//! The trial's path comes last and takes the rest of the text, so it may hold any character; the map is in the
//! trial's directory or named relative to nothing, and may not hold a comma.

use std::path::PathBuf;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub node: String,
    pub map: PathBuf,
    pub trial: PathBuf,
}

/// The environment variable that names the node of a process, where one command starts several.
pub(crate) const NODE_VARIABLE: &str = "HYPOCENTER_NODE";

impl Options {
    pub(crate) fn parse(text: &str) -> Result<Options, String> {
        let (mut node, mut map) = (String::new(), None);
        let mut rest = text;
        loop {
            let (key, after) =
                rest.split_once('=').ok_or_else(|| format!("option without a value: {rest}"))?;
            if key == "trial" {
                let map = map.ok_or_else(|| format!("no map in the options: {text}"))?;
                return Ok(Options { node, map, trial: PathBuf::from(after) });
            }
            let (value, next) =
                after.split_once(',').ok_or_else(|| format!("no trial in the options: {text}"))?;
            match key {
                "node" => node = value.to_owned(),
                "map" => map = Some(PathBuf::from(value)),
                _ => return Err(format!("unknown option: {key}")),
            }
            rest = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trial_takes_the_rest() {
        let options = Options::parse("node=zk1,map=/m,trial=/a,b=c:d e").unwrap();
        assert_eq!(options, Options { node: "zk1".into(), map: "/m".into(), trial: "/a,b=c:d e".into() });
        assert!(Options::parse("trial=/a").is_err());
        assert!(Options::parse("node=x,map=/m").is_err());
        assert!(Options::parse("").is_err());
    }
}
