//! `hypocenter clean`: frees disk space that no replay needs.

use std::path::PathBuf;

use hypocenter_lab::{LabError, disk};
use hypocenter_plan::ExitCode;
use serde::Serialize;

use crate::args::CleanArgs;
use crate::failure::Failure;
use crate::request::{Request, campaigns, existing_below};
use crate::screen;
use crate::store::told;
use crate::summary::Summary;

/// A campaign that was cleaned, as JSON.
#[derive(Debug, Serialize)]
struct Cleaned {
    campaign: String,
    freed_bytes: u64,
    kept_bytes: u64,
}

pub fn run(args: &CleanArgs) -> Result<ExitCode, Failure> {
    screen::heading("hypocenter clean");
    let names = if args.campaigns.is_empty() { campaigns(&args.out) } else { args.campaigns.clone() };
    let directories: Vec<PathBuf> = names.iter().map(|it| existing_below(&args.out, it)).collect();
    let mut all = Vec::new();
    for directory in directories {
        // Other directories are left alone.
        Request::read(&directory)?;
        let found = Summary::read(&directory).map_or_else(Vec::new, |it| it.trials_found());
        let freed = match disk::clean(&directory, &|trial| found.contains(&trial)) {
            // Others may be at work in one of many.
            Err(error @ LabError::Busy { .. }) if args.campaigns.is_empty() => {
                screen::note("clean", &error.to_string());
                continue;
            }
            freed => freed?,
        };
        let kept = disk::size(&directory);
        let what = format!("freed {}, keeps {}", screen::bytes(freed), screen::bytes(kept));
        screen::line("clean", &format!("{}: {what}", told(&directory)));
        all.push(Cleaned { campaign: told(&directory), freed_bytes: freed, kept_bytes: kept });
    }
    let freed: u64 = all.iter().map(|it| it.freed_bytes).sum();
    let campaigns = screen::count(all.len() as u64, "campaign", "campaigns");
    screen::line("done", &format!("{campaigns}, freed {}", screen::bytes(freed)));
    if args.json {
        screen::json(&all)?;
    }
    Ok(ExitCode::Done)
}
