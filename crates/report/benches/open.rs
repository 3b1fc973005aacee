//! Time to open the pages of large campaigns, each beside an empty page of its size: the load event, median of five, taken
//! in turns in one browser.

#[path = "../tests/support/browser.rs"]
mod browser;
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Instant;

use browser::Browser;
use support::{exploration, explore_page, page, runs, summary};

const TRIALS: u64 = 5_000;
const ENTRIES: u32 = 100_000;
const TIMES: usize = 5;

fn main() {
    let (summary, runs, exploration) = (summary(TRIALS), runs(ENTRIES), exploration(TRIALS));
    let reproduced = || page(&summary, Some(&runs));
    let explored = || explore_page(&exploration);
    measure(&format!("reproduce, {TRIALS} rounds and {ENTRIES} rows of logs"), &reproduced);
    measure(&format!("explore, {TRIALS} trials"), &explored);
}

fn measure(what: &str, page: &dyn Fn() -> String) {
    let begun = Instant::now();
    let page = page();
    println!("{what}: {} bytes, written in {:.0?}", page.len(), begun.elapsed());
    let Some(mut browser) = Browser::start() else { return };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let head = "<!doctype html><meta charset=utf-8><title>empty</title><!--";
    let empty = head.to_owned() + &"x".repeat(page.len() - head.len() - 3) + "-->";
    let paths = [("page", page), ("empty", empty)].map(|(name, text)| {
        let path = directory.path().join(name).with_extension("html");
        std::fs::write(&path, text).expect("a temporary file can be written");
        path
    });
    let mut took: [Vec<f64>; 2] = Default::default();
    // The first of each is not counted: the browser itself warms up.
    for round in 0..=TIMES {
        for (path, took) in paths.iter().zip(&mut took) {
            browser.open(path);
            let ms = browser.value("performance.getEntriesByType('navigation')[0].loadEventEnd");
            let elements = browser.value("document.querySelectorAll('*').length");
            if round > 0 {
                took.push(ms.as_f64().expect("a time"));
            } else {
                println!("  {}: {elements} elements", path.file_name().unwrap_or_default().to_string_lossy());
            }
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let [page, empty] = &mut took;
    let (page, empty) = (median(page), median(empty));
    println!(
        "  load event, median of {TIMES}: {page:.1} ms, empty page of that size {empty:.1} ms, ratio {:.2}",
        page / empty
    );
}
