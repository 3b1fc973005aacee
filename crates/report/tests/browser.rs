//! The page in a real browser, from a file, the network off. Where there is no chromium, the tests are skipped.

#[path = "support/browser.rs"]
mod browser;
mod support;

use std::path::PathBuf;

use browser::Browser;
use hypocenter_results::Document;
use hypocenter_results::reproduced::Reproduction;
use hypocenter_results::runs::Runs;
use serde_json::{Value, json};
use support::{HOSTILE, exploration, explore_page, nothing_found, nothing_suspicious, page, runs, summary};

/// A page that is open.
struct Opened {
    browser: Browser,
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn open(summary: &Document<Reproduction>, runs: Option<&Runs>) -> Option<Opened> {
    opened(&page(summary, runs))
}

fn opened(page: &str) -> Option<Opened> {
    let mut browser = Browser::start()?;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("report.html");
    std::fs::write(&path, page).expect("a temporary file can be written");
    browser.open(&path);
    Some(Opened { browser, _directory: directory, path })
}

#[track_caller]
fn assert_quiet(browser: &Browser) {
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn it_loads_from_a_file_without_a_complaint() {
    for (summary, runs) in [(summary(60), Some(runs(400))), (nothing_found(3), None)] {
        let Some(mut it) = open(&summary, runs.as_ref()) else { return };
        // The script has run, or the page could not be searched.
        it.browser.click("#search");
        it.browser.type_text("nothing has this");
        it.browser.until("document.getElementById('shown').textContent === '0 rounds'");
        assert_quiet(&it.browser);
    }
}

#[test]
fn hostile_text_shows_as_text() {
    let Some(mut it) = open(&summary(60), Some(&runs(400))) else { return };
    let browser = &mut it.browser;
    while browser.value("document.querySelectorAll('.unfold:not([aria-expanded=true])').length > 0") == true {
        browser.click(".unfold:not([aria-expanded=true])");
    }
    assert_eq!(browser.value("document.title"), "reproduce-0001 \u{b7} hypocenter");
    assert_eq!(
        browser.value("document.querySelectorAll('img, b > script, .logs script, svg script').length"),
        0
    );
    // The entry with the markup, and the one of a megabyte, are there as text that ends somewhere.
    let shown = "[...document.querySelectorAll('.row .m')].map((it) => it.textContent)";
    let start = &HOSTILE[..60];
    let fits =
        |browser: &mut Browser, what: &str| browser.value(&format!("{shown}.filter((it) => {what}).length"));
    assert_eq!(fits(browser, &format!("it.startsWith({start:?})")), 2, "on both sides");
    assert_eq!(fits(browser, "it === 'x'.repeat(300) + '\u{2026}'"), 2);
    assert_eq!(fits(browser, "it.length > 400"), 0);
    // Lanes have names with markup in them.
    assert_eq!(browser.value("document.querySelector('svg .lane').textContent"), "server Worker-0<b>");
    assert_quiet(browser);
}

#[test]
fn what_was_tried_can_be_searched_and_folded() {
    let Some(mut it) = open(&summary(5_000), None) else { return };
    let browser = &mut it.browser;
    let rows = "document.querySelectorAll('#tried-table tbody tr').length";
    let shown = "document.getElementById('shown').textContent";
    assert_eq!((browser.value(rows), browser.value(shown)), (json!(40), json!("40 of 5,000 rounds")));
    browser.click("#more");
    browser.until(&format!("{rows} === 540"));
    browser.click("#search");
    browser.type_text("ioexception writer-4243");
    browser.until(&format!("{rows} === 1"));
    let cells: Value =
        browser.value("[...document.querySelectorAll('#tried-table tbody td')].map((it) => it.textContent)");
    let place = "Log72.append:73 \u{2192} FileChannel.force";
    let expected =
        ["4,243", "IOException", place, "hit 4,244 of thread Writer-4243", "4 of 500", "8,491", "1 of 2", ""];
    assert_eq!(cells, json!(expected));
    assert_eq!(browser.value(shown), "1 round");
    // The one that brought the failure is marked.
    browser.value("(() => { const it = document.getElementById('search'); it.value = ''; it.focus(); })()");
    browser.type_text("the failure");
    browser.until(&format!("{rows} === 1 && document.querySelectorAll('#tried-table tr.hit').length === 1"));
    // Folded, it takes no room; unfolded, it is as it was.
    browser.click("#rounds > summary");
    browser.until("document.querySelector('#tried-table').checkVisibility() === false");
    browser.click("#rounds > summary");
    browser.until("document.querySelector('#tried-table').checkVisibility()");
    assert_quiet(browser);
}

#[test]
fn rows_of_logs_are_unfolded_and_folded() {
    let Some(mut it) = open(&summary(3), Some(&runs(2_000))) else { return };
    let browser = &mut it.browser;
    let rows = "document.querySelectorAll('.logs .row').length";
    let before = browser.value(rows).as_u64().expect("a number");
    let fold = browser.value("(({from, to}) => to - from)(document.querySelector('.unfold').dataset)");
    browser.click(".unfold");
    let all = before + fold.as_u64().expect("a number");
    browser.until(&format!("{rows} === {all}"));
    // What is unfolded looks like what was there from the start.
    let html = "const html = (it) => it.outerHTML.replace(/[0-9]+/g, '#');";
    let looks = format!(
        "(() => {{ {html} const kinds = (of) => new Set([...of].map((it) => html(it).replace(/<span class=\"(level|e)\">[^<]*<.span>/g, ''))); \
         const first = kinds(document.querySelectorAll('.logs > .row.both:not(.observable):not(.symptom)')); \
         return [...kinds(document.querySelectorAll('.unfolded > .row.both:not(.observable)'))].every((it) => first.has(it)); }})()"
    );
    assert_eq!(browser.value(&looks), true);
    browser.click(".unfold");
    browser.until(&format!("{rows} === {before}"));
    assert_quiet(browser);
}

#[test]
fn the_command_is_copied() {
    let Some(mut it) = open(&summary(60), None) else { return };
    let browser = &mut it.browser;
    browser.click(".copy");
    browser.until("document.querySelector('.copy').textContent === 'Copied'");
    assert_eq!(browser.value("navigator.clipboard.readText()"), "hypocenter replay reproduce-0001/63");
    // It says so for a moment only.
    browser.until("document.querySelector('.copy').textContent === 'Copy'");
    assert_quiet(browser);
}

#[test]
fn it_is_readable_on_a_phone_and_in_the_dark() {
    for page in [page(&summary(60), Some(&runs(400))), explore_page(&exploration(60))] {
        let Some(it) = opened(&page) else { return };
        assert_readable(it);
    }
}

fn assert_readable(mut it: Opened) {
    let browser = &mut it.browser;
    let wide = "getComputedStyle(document.querySelector('svg.wide')).display";
    let color = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.value(wide), "block");
    let light = browser.value(color);
    let phone = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.ask("Emulation.setDeviceMetricsOverride", phone);
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    browser.ask("Emulation.setEmulatedMedia", dark);
    browser.open(&it.path);
    assert_eq!(browser.value(wide), "none");
    assert_ne!(browser.value(color), light);
    // Nothing sticks out to the side.
    assert_eq!(browser.value("document.documentElement.scrollWidth <= innerWidth"), true);
    assert_quiet(browser);
}

#[test]
fn findings_of_explore_are_told_and_their_commands_copied() {
    let Some(mut it) = opened(&explore_page(&exploration(300))) else { return };
    let browser = &mut it.browser;
    assert_eq!(browser.value("document.querySelectorAll('.finding').length"), 2);
    // The worst stands first, with every client, and the state marked in the task.
    let first = "document.querySelector('#finding-1')";
    assert_eq!(browser.value(&format!("{first}.querySelector('.chip').textContent")), "critical");
    let clients: Value = browser.value(&format!(
        "[...{first}.querySelectorAll('.saw tbody tr')].map((it) => it.cells[0].textContent)"
    ));
    assert_eq!(clients, json!(["c<b>3", "c1", "q3"]));
    let marked = "svg.wide .state.marked + .state-name";
    let marked = format!("{first}.querySelector('{marked}').textContent");
    assert_eq!(browser.value(&marked), "#2 <i>branch, line 34 \u{b7} faults in 2 trials");
    // Text that looks like markup is text.
    assert_eq!(browser.value("document.title"), "explore-0001 \u{b7} hypocenter");
    assert_eq!(
        browser.value("document.querySelectorAll('img, main b > script, svg script, svg i').length"),
        0
    );
    browser.click("#finding-2 .copy");
    browser.until("document.querySelector('#finding-2 .copy').textContent === 'Copied'");
    assert_eq!(browser.value("navigator.clipboard.readText()"), "hypocenter replay explore-0001/109");
    assert_quiet(browser);
}

#[test]
fn trials_of_explore_can_be_searched() {
    for (page, all) in [(exploration(5_000), "40 of 5,000 trials"), (nothing_suspicious(3), "3 trials")] {
        let Some(mut it) = opened(&explore_page(&page)) else { return };
        let browser = &mut it.browser;
        assert_eq!(browser.value("document.getElementById('shown').textContent"), all);
        browser.click("#search");
        browser.type_text("nothing has this");
        browser.until("document.getElementById('shown').textContent === '0 trials'");
        assert_quiet(browser);
    }
}
