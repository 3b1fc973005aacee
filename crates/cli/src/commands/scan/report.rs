//! Results of a scan, made now or cached earlier.

use hypocenter_program::Digest;
use serde::Serialize;

use super::cache::{Cache, Damaged, KeptScan};
use super::coding::{Coded, Word, bytes_of, coded, of_bytes};
use super::lists::{ListKind, Lists};
use super::page::Page;
use super::scanned::{Asked, Scanned, peak_rss_mb};
use super::summary::Summary;
use crate::args::ScanArgs;
use crate::failure::Failure;
use crate::screen;

/// The parts of a kept scan that are no lists.
const SUMMARY: &str = "summary";
const PHASES: &str = "phases";
const TOOK: &str = "took";
/// Error of bytes that are unchanged and make no sense.
const FOREIGN: &str = "its content is of another version";

/// See the module.
#[derive(Debug)]
pub struct Report {
    pub summary: Summary,
    pub lists: Lists,
    pub took: Took,
}

/// Time and memory that it took.
#[derive(Debug)]
pub struct Took {
    /// From the start of this command.
    pub seconds: f64,
    /// The phases of the scan, also where it was an earlier one.
    pub phases: Vec<Phase>,
    /// Of this process.
    pub peak_rss_mb: f64,
    /// Cost of the scan from which this was cached.
    pub earlier: Option<Earlier>,
}

/// A phase and its seconds.
#[derive(Debug, Clone)]
pub struct Phase {
    pub name: Word,
    pub seconds: f64,
}

/// Cost of an earlier scan.
#[derive(Debug, Clone, Serialize)]
pub struct Earlier {
    #[serde(serialize_with = "super::rounded")]
    pub scan_seconds: f64,
    #[serde(serialize_with = "super::rounded")]
    pub scan_peak_rss_mb: f64,
}

coded! {
    Phase { name, seconds }
    Earlier { scan_seconds, scan_peak_rss_mb }
}

impl Report {
    /// The lists that were asked for and the summary, from the cache where that has them.
    pub fn of(asked: &Asked, args: &ScanArgs) -> Result<Report, Failure> {
        let cache = if args.no_cache { None } else { Cache::of_user() };
        // Where something cannot be read there is no telling whether it is the same; the scan says what.
        let known = cache.and_then(|cache| asked.key(&cache).ok().map(|key| (cache, key)));
        let Some((cache, key)) = known else {
            let mut scanned = asked.scan()?;
            return Ok(Report::made(&mut scanned, &ListKind::asked(args)).narrowed(args));
        };
        let found = cache.find(key);
        match found
            .and_then(|kept| kept.map(|it| Report::kept(asked, it, &ListKind::asked(args))).transpose())
        {
            Ok(Some(report)) => return Ok(report.narrowed(args)),
            Ok(None) => {}
            Err(damaged) => screen::note("cache", &format!("{damaged}; the target is read again")),
        }
        let mut scanned = asked.scan()?;
        let report = Report::made(&mut scanned, &ListKind::ALL);
        report.keep(asked, &cache, key);
        Ok(report.narrowed(args))
    }

    /// Made of a program.
    pub fn made(scanned: &mut Scanned<'_>, kinds: &[ListKind]) -> Report {
        let lists = scanned.timed("lists", |scanned| Lists::of(&scanned.program, kinds));
        let summary = Summary::of(scanned);
        Report { summary, lists, took: Took::of(scanned) }
    }

    /// Read back.
    fn kept(asked: &Asked, mut kept: KeptScan, kinds: &[ListKind]) -> Result<Report, Damaged> {
        fn part<T: Coded>(kept: &mut KeptScan, name: &str) -> Result<T, Damaged> {
            of_bytes(&kept.part(name)?).ok_or_else(|| kept.damaged(FOREIGN))
        }
        let summary = part(&mut kept, SUMMARY)?;
        let phases = part(&mut kept, PHASES)?;
        let earlier = part(&mut kept, TOOK)?;
        let mut lists = Lists::default();
        for &kind in kinds {
            let bytes = kept.part(kind.name())?;
            lists.take(kind, &bytes).ok_or_else(|| kept.damaged(FOREIGN))?;
        }
        let peak_rss_mb = peak_rss_mb().unwrap_or(0.0);
        let took = Took { seconds: asked.seconds(), phases, peak_rss_mb, earlier: Some(earlier) };
        Ok(Report { summary, lists, took })
    }

    fn keep(&self, asked: &Asked, cache: &Cache, key: Digest) {
        asked.step("keep");
        let Took { seconds, phases, peak_rss_mb, .. } = &self.took;
        let earlier = Earlier { scan_seconds: *seconds, scan_peak_rss_mb: *peak_rss_mb };
        let mut parts =
            vec![(SUMMARY, bytes_of(&self.summary)), (PHASES, bytes_of(phases)), (TOOK, bytes_of(&earlier))];
        let lists = ListKind::ALL.into_iter().filter_map(|it| Some((it.name(), self.lists.bytes(it)?)));
        parts.extend(lists);
        // What was read is what the key says only if nobody has changed it meanwhile.
        if asked.key(cache).is_ok_and(|it| it == key)
            && let Err(error) = cache.keep(key, &parts)
        {
            let place = cache.directory().display();
            screen::note(
                "cache",
                &format!(
                    "this scan cannot be cached in {place}: {error}; set XDG_CACHE_HOME, or give --no-cache"
                ),
            );
        }
    }

    /// Only what was asked for.
    pub fn narrowed(mut self, args: &ScanArgs) -> Report {
        self.lists = self.lists.narrowed(args);
        self
    }
}

impl Took {
    /// Cost of a scan so far.
    pub fn of(scanned: &Scanned<'_>) -> Took {
        let phase = |&(name, seconds): &(&'static str, f64)| Phase { name: name.into(), seconds };
        Took {
            seconds: scanned.asked.seconds(),
            phases: scanned.phases.iter().map(phase).collect(),
            peak_rss_mb: peak_rss_mb().unwrap_or(0.0),
            earlier: None,
        }
    }

    /// For people.
    pub fn show(&self, page: &mut Page) {
        let phases: Vec<String> =
            self.phases.iter().map(|it| format!("{} {:.2}", it.name, it.seconds)).collect();
        let phases = phases.join(", ");
        let note = match &self.earlier {
            Some(it) => format!("from the cache; the scan took {:.2} s: {phases}", it.scan_seconds),
            None => phases,
        };
        page.counted("time", &format!("{:.2} s", self.seconds), &note);
        let note = self.earlier.as_ref().map(|it| format!("the scan took {:.0} MB", it.scan_peak_rss_mb));
        page.counted("peak memory", &format!("{:.0} MB", self.peak_rss_mb), &note.unwrap_or_default());
    }
}
