//! A length of time as people write it: `500ms`, `90s`, `5m`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A length of time, written with its unit (`ms`, `s`, `m`, `h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let at = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let number: f64 = number
            .parse()
            .map_err(|_| format!("`{text}`: give a number and a unit, such as 500ms or 60s"))?;
        let seconds = match unit {
            "ms" => number / 1e3,
            "s" => number,
            "m" | "min" => number * 60.0,
            "h" => number * 3600.0,
            "" => return Err(format!("`{text}`: the unit is missing, use ms, s, m or h")),
            other => return Err(format!("`{text}`: unknown unit `{other}`, use ms, s, m or h")),
        };
        Duration::try_from_secs_f64(seconds).map(Span).map_err(|error| format!("`{text}`: {error}"))
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Span, String> {
        text.parse()
    }
}

impl From<Span> for String {
    fn from(span: Span) -> String {
        span.to_string()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            ms if ms % 1000 == 0 => write!(f, "{}s", ms / 1000),
            ms => write!(f, "{ms}ms"),
        }
    }
}

impl JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Duration with a unit: 500ms, 90s, 5m, 1h.",
            "pattern": "^[0-9.]+(ms|s|m|min|h)$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_a_unit() {
        let check = |text: &str, ms: u64| assert_eq!(text.parse(), Ok(Span(Duration::from_millis(ms))));
        check("500ms", 500);
        check("1.5m", 90_000);
        check("2h", 7_200_000);
        for bad in ["5", "five", "1d", "", "1e99h"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
        assert_eq!(Span(Duration::from_millis(1500)).to_string(), "1500ms");
        assert_eq!(Span(Duration::from_secs(90)).to_string(), "90s");
    }
}
