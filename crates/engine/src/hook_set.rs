//! The name of a set of hooks.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The digest of an instrumentation map: a campaign keeps its maps by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookSet(pub u64);

impl fmt::Display for HookSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for HookSet {
    type Err = String;

    fn from_str(text: &str) -> Result<HookSet, String> {
        let digits = text.len() == 16 && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        let number = u64::from_str_radix(text, 16).ok().filter(|_| digits);
        number
            .map(HookSet)
            .ok_or_else(|| format!("`{text}` is no digest of a map: it has 16 hexadecimal digits"))
    }
}

// Text, because few readers of JSON keep all digits of a large number.
impl Serialize for HookSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HookSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HookSet, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_set_is_read_as_it_is_written_and_in_no_other_way() {
        for number in [0, 1, u64::MAX] {
            assert_eq!(HookSet(number).to_string().parse(), Ok(HookSet(number)));
        }
        for text in ["", "1", "00000000000000AB", "+000000000000001", "../../../../etc/x"] {
            assert!(text.parse::<HookSet>().is_err(), "{text}");
        }
    }
}
