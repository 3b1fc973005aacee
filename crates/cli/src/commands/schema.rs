//! `hypocenter schema`: the published shape of the JSON documents.

use hypocenter_plan::{ExitCode, Outcome, Plan, ThreadDump};
use hypocenter_results::Document;
use hypocenter_results::cascaded::Cascade;
use hypocenter_results::explained::Explanation;
use hypocenter_results::explored::Exploration;
use hypocenter_results::predicted::Prediction;
use hypocenter_results::reproduced::Reproduction;

use crate::args::{self, SchemaArgs};
use crate::config::Config;
use crate::failure::Failure;
use crate::screen;

pub fn run(args: &SchemaArgs) -> Result<ExitCode, Failure> {
    let schema = match args.document {
        args::Document::Plan => schemars::schema_for!(Plan),
        args::Document::Outcome => schemars::schema_for!(Outcome),
        args::Document::Dump => schemars::schema_for!(ThreadDump),
        args::Document::Summary => schemars::schema_for!(Document<Reproduction>),
        args::Document::Exploration => schemars::schema_for!(Document<Exploration>),
        args::Document::Cascade => schemars::schema_for!(Document<Cascade>),
        args::Document::Prediction => schemars::schema_for!(Document<Prediction>),
        args::Document::Explanation => schemars::schema_for!(Document<Explanation>),
        args::Document::Config => schemars::schema_for!(Config),
    };
    screen::json(&schema)?;
    Ok(ExitCode::Done)
}
