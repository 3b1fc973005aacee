//! `hypocenter schema`: the published shape of the JSON documents.

use hypocenter_plan::{ExitCode, Outcome, Plan, ThreadDump};
use hypocenter_results::explored::Exploration;
use hypocenter_results::reproduced::Summary;

use crate::args::{Document, SchemaArgs};
use crate::config::Config;
use crate::failure::Failure;
use crate::screen;

pub fn run(args: &SchemaArgs) -> Result<ExitCode, Failure> {
    let schema = match args.document {
        Document::Plan => schemars::schema_for!(Plan),
        Document::Outcome => schemars::schema_for!(Outcome),
        Document::Dump => schemars::schema_for!(ThreadDump),
        Document::Summary => schemars::schema_for!(Summary),
        Document::Exploration => schemars::schema_for!(Exploration),
        Document::Config => schemars::schema_for!(Config),
    };
    screen::json(&schema)?;
    Ok(ExitCode::Done)
}
