//! A file that is there, and what it has.

use std::fs;
use std::ops::ControlFlow;

use hypocenter_plan::{LogText, OracleOutcome};

use super::lines::each_line;
use super::place::{Place, is_absent};
use super::text::{LineText, shown};
use super::{OracleError, Scene};

pub(super) fn check(path: &str, contains: Option<&str>) -> Result<(), OracleError> {
    let wrong =
        |why: &str| Err(OracleError::Pattern { what: "file", pattern: path.to_owned(), why: why.to_owned() });
    if path.is_empty() {
        return wrong("it is empty; name the file");
    }
    if path.contains('*') {
        return wrong("`*` is not a pattern here; name one file");
    }
    wanted(contains).map(|_| ())
}

fn wanted(contains: Option<&str>) -> Result<Option<LineText>, OracleError> {
    contains.map(|text| LineText::new("contains", &LogText::Either(text.to_owned()))).transpose()
}

pub(super) fn judge(
    text: &str,
    contains: Option<&str>,
    scene: &Scene<'_>,
) -> Result<OracleOutcome, OracleError> {
    let wanted = wanted(contains)?;
    let path = Place::of(text, scene).path();
    let shown_path = path.display().to_string();
    let failed = |source| OracleError::File { path: shown_path.clone(), source };
    match fs::metadata(&path) {
        Ok(_) => {}
        Err(error) if is_absent(&error) => {
            return Ok(OracleOutcome { happened: false, why: format!("{shown_path} does not exist") });
        }
        Err(error) => return Err(failed(error)),
    }
    let Some(wanted) = wanted else {
        return Ok(OracleOutcome { happened: true, why: format!("{shown_path} exists") });
    };
    let mut found = None;
    each_line(&path, |number, line| {
        if wanted.fits(line) {
            found = Some(format!("{shown_path}:{number}: {}", shown(line)));
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })
    .map_err(failed)?;
    let missing =
        || format!("no line of {shown_path} has `{}`", shown(contains.unwrap_or_default().as_bytes()));
    Ok(OracleOutcome { happened: found.is_some(), why: found.unwrap_or_else(missing) })
}
