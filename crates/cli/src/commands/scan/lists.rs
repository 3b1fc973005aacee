//! Items, one per line.

use anstyle::Style;
use hypocenter_plan::Site;
use hypocenter_program::{
    Api, Bound, CallId, Detector, Effect, FaultKind, Framework, Level, Limit, LoopFact, LoopId, MethodId,
    Program, Reason, StateKind, Statement, TypeId, WaitKind, Words, World,
};
use rayon::prelude::*;
use serde::Serialize;

use super::coding::{Word, bytes_of, coded, of_bytes};
use super::naming::{self, NamedCall};
use super::page::Page;
use super::points::{PointItem, PointList};
use crate::args::ScanArgs;
use crate::screen::{BOLD, DIM, WARN, quoted, thousands};

/// Things that feed a detector that are shown; the document has all.
const FEEDS_SHOWN: usize = 4;

/// A list that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    Sites,
    Dropped,
    Logs,
    States,
    Loops,
    Waits,
    Detectors,
    Tests,
    Points,
}

/// The lists that were asked for.
#[derive(Debug, Default, Serialize)]
pub struct Lists {
    #[serde(skip_serializing_if = "Option::is_none")]
    sites: Option<Vec<SiteItem>>,
    /// Sites that are none, since they work in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<Vec<DroppedItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logs: Option<Vec<LogItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<Vec<StateItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loops: Option<Vec<LoopItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<Vec<WaitItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detectors: Option<Vec<DetectorItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<Vec<TestItem>>,
    /// Points at which faults can feed each other.
    #[serde(rename = "cascade", skip_serializing_if = "Option::is_none")]
    points: Option<PointList>,
}

/// Place.
#[derive(Debug, Clone, Serialize)]
pub struct CodePlace {
    pub class: String,
    pub method: String,
    pub descriptor: String,
    pub line: Option<u16>,
}

#[derive(Debug, Serialize)]
struct SiteItem {
    kind: Word,
    /// As `inject` takes it.
    name: String,
    #[serde(flatten)]
    place: CodePlace,
    callee: Option<String>,
    exceptions: Vec<String>,
    /// The methods that make the exceptions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    creators: Vec<String>,
    /// As a plan names it.
    site: Option<Site>,
}

#[derive(Debug, Serialize)]
struct DroppedItem {
    name: String,
    #[serde(flatten)]
    place: CodePlace,
    exceptions: Vec<String>,
    /// From the call to where its stream was made.
    chain: Vec<String>,
}

#[derive(Debug, Serialize)]
struct LogItem {
    level: Word,
    #[serde(flatten)]
    place: CodePlace,
    /// Its text, with `{}` for unknown parts; several if the code chooses.
    templates: Vec<String>,
    has_exception: bool,
    api: String,
    /// The wrapper that is called.
    via: Option<String>,
    /// The place that a log shows, where it is another: inside a wrapper.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<CodePlace>,
}

#[derive(Debug, Serialize)]
struct StateItem {
    index: u16,
    begins: Word,
    /// The task class; the method may be a helper of it.
    task: String,
    #[serde(flatten)]
    place: CodePlace,
}

#[derive(Debug, Serialize)]
struct LoopItem {
    bound: Word,
    name: String,
    #[serde(flatten)]
    place: CodePlace,
    does: Vec<Does>,
    is_timed: bool,
    size: u32,
    reaches: u32,
    parent: Option<String>,
    called_from: Option<String>,
}

#[derive(Debug, Serialize)]
struct Does {
    what: Word,
    /// Through how many calls.
    depth: u8,
}

#[derive(Debug, Serialize)]
struct WaitItem {
    kind: Word,
    /// Milliseconds, `computed`, or `none`.
    limit: String,
    name: String,
    #[serde(flatten)]
    place: CodePlace,
}

#[derive(Debug, Serialize)]
struct DetectorItem {
    name: String,
    #[serde(flatten)]
    place: CodePlace,
    is_used: bool,
    /// Why it is hardly a detector.
    left_out: Option<Word>,
    fields: Vec<String>,
    calls: Vec<String>,
    parameters: Vec<u16>,
    clock: bool,
    caught: bool,
    constants: bool,
}

#[derive(Debug, Serialize)]
struct TestItem {
    framework: Word,
    /// The class that it is run with.
    test_class: String,
    #[serde(flatten)]
    place: CodePlace,
    has_runner: bool,
    runner: Option<String>,
    is_disabled: bool,
}

coded! {
    CodePlace { class, method, descriptor, line }
    SiteItem { kind, name, place, callee, exceptions, creators, site }
    DroppedItem { name, place, exceptions, chain }
    LogItem { level, place, templates, has_exception, api, via, written }
    StateItem { index, begins, task, place }
    LoopItem { bound, name, place, does, is_timed, size, reaches, parent, called_from }
    Does { what, depth }
    WaitItem { kind, limit, name, place }
    DetectorItem { name, place, is_used, left_out, fields, calls, parameters, clock, caught, constants }
    TestItem { framework, test_class, place, has_runner, runner, is_disabled }
}

/// Makes items of a program.
struct Making<'p> {
    program: &'p Program,
}

/// Cells of a row, and lines below it.
pub type Row = (Vec<String>, Vec<String>);

impl ListKind {
    /// All of them.
    pub const ALL: [ListKind; 9] = [
        ListKind::Sites,
        ListKind::Dropped,
        ListKind::Logs,
        ListKind::States,
        ListKind::Loops,
        ListKind::Waits,
        ListKind::Detectors,
        ListKind::Tests,
        ListKind::Points,
    ];

    /// Those that were asked for.
    pub fn asked(args: &ScanArgs) -> Vec<ListKind> {
        let is_asked = |it: &ListKind| match it {
            ListKind::Sites => args.sites,
            ListKind::Dropped => args.sites && args.dropped,
            ListKind::Logs => args.logs,
            ListKind::States => args.states,
            ListKind::Loops => args.loops,
            ListKind::Waits => args.waits,
            ListKind::Detectors => args.detectors,
            ListKind::Tests => args.tests,
            ListKind::Points => args.cascade,
        };
        ListKind::ALL.into_iter().filter(is_asked).collect()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ListKind::Sites => "sites",
            ListKind::Dropped => "dropped",
            ListKind::Logs => "logs",
            ListKind::States => "states",
            ListKind::Loops => "loops",
            ListKind::Waits => "waits",
            ListKind::Detectors => "detectors",
            ListKind::Tests => "tests",
            ListKind::Points => "cascade",
        }
    }
}

impl Lists {
    /// Makes lists, with all that there is.
    pub fn of(program: &Program, kinds: &[ListKind]) -> Lists {
        let making = Making { program };
        let mut lists = Lists::default();
        for kind in kinds {
            match kind {
                ListKind::Sites => lists.sites = Some(making.sites()),
                ListKind::Dropped => lists.dropped = Some(making.dropped()),
                ListKind::Logs => lists.logs = Some(making.logs()),
                ListKind::States => lists.states = Some(making.states()),
                ListKind::Loops => lists.loops = Some(making.loops()),
                ListKind::Waits => lists.waits = Some(making.waits()),
                ListKind::Detectors => lists.detectors = Some(making.detectors()),
                ListKind::Tests => lists.tests = Some(making.tests()),
                ListKind::Points => lists.points = Some(PointList::of(program)),
            }
        }
        lists
    }

    /// The lists that were asked for, with what was asked for.
    pub fn narrowed(self, args: &ScanArgs) -> Lists {
        let asked = ListKind::asked(args);
        let takes = |class: &str| args.takes_class(class);
        fn only<T>(
            list: Option<Vec<T>>,
            is_asked: bool,
            class: impl Fn(&T) -> &str,
            takes: impl Fn(&str) -> bool,
        ) -> Option<Vec<T>> {
            let mut list = list.filter(|_| is_asked)?;
            list.retain(|it| takes(class(it)));
            Some(list)
        }
        let is = |kind: ListKind| asked.contains(&kind);
        let mut lists = Lists {
            sites: only(self.sites, is(ListKind::Sites), |it| &it.place.class, takes),
            dropped: only(self.dropped, is(ListKind::Dropped), |it| &it.place.class, takes),
            logs: only(self.logs, is(ListKind::Logs), |it| &it.place.class, takes),
            states: only(self.states, is(ListKind::States), |it| &it.task, takes),
            loops: only(self.loops, is(ListKind::Loops), |it| &it.place.class, takes),
            waits: only(self.waits, is(ListKind::Waits), |it| &it.place.class, takes),
            detectors: only(self.detectors, is(ListKind::Detectors), |it| &it.place.class, takes),
            tests: only(self.tests, is(ListKind::Tests), |it| &it.test_class, takes),
            points: self.points.filter(|_| is(ListKind::Points)).map(|it| {
                it.narrowed(|it| takes(&it.place.class) && (args.dropped || it.left_out.is_none()))
            }),
        };
        if let Some(detectors) = lists.detectors.as_mut().filter(|_| !args.dropped) {
            detectors.retain(|it| it.left_out.is_none());
        }
        lists
    }

    /// A list as bytes; none if it was not made.
    pub fn bytes(&self, kind: ListKind) -> Option<Vec<u8>> {
        match kind {
            ListKind::Sites => self.sites.as_ref().map(bytes_of),
            ListKind::Dropped => self.dropped.as_ref().map(bytes_of),
            ListKind::Logs => self.logs.as_ref().map(bytes_of),
            ListKind::States => self.states.as_ref().map(bytes_of),
            ListKind::Loops => self.loops.as_ref().map(bytes_of),
            ListKind::Waits => self.waits.as_ref().map(bytes_of),
            ListKind::Detectors => self.detectors.as_ref().map(bytes_of),
            ListKind::Tests => self.tests.as_ref().map(bytes_of),
            ListKind::Points => self.points.as_ref().map(bytes_of),
        }
    }

    /// Takes a list from its bytes; nothing if they are not such.
    pub fn take(&mut self, kind: ListKind, bytes: &[u8]) -> Option<()> {
        match kind {
            ListKind::Sites => self.sites = Some(of_bytes(bytes)?),
            ListKind::Dropped => self.dropped = Some(of_bytes(bytes)?),
            ListKind::Logs => self.logs = Some(of_bytes(bytes)?),
            ListKind::States => self.states = Some(of_bytes(bytes)?),
            ListKind::Loops => self.loops = Some(of_bytes(bytes)?),
            ListKind::Waits => self.waits = Some(of_bytes(bytes)?),
            ListKind::Detectors => self.detectors = Some(of_bytes(bytes)?),
            ListKind::Tests => self.tests = Some(of_bytes(bytes)?),
            ListKind::Points => self.points = Some(of_bytes(bytes)?),
        }
        Some(())
    }

    /// Length of each requested list.
    fn lengths(&self) -> Vec<usize> {
        let Lists { sites, dropped, logs, states, loops, waits, detectors, tests, points } = self;
        let all = [
            sites.as_ref().map(Vec::len),
            dropped.as_ref().map(Vec::len),
            logs.as_ref().map(Vec::len),
            states.as_ref().map(Vec::len),
            loops.as_ref().map(Vec::len),
            waits.as_ref().map(Vec::len),
            detectors.as_ref().map(Vec::len),
            tests.as_ref().map(Vec::len),
            points.as_ref().map(|it| it.items.len()),
        ];
        all.into_iter().flatten().collect()
    }

    /// Tests whether any was asked for.
    pub fn is_asked(&self) -> bool {
        !self.lengths().is_empty()
    }

    /// Tests whether all that were asked for are empty.
    pub fn is_empty(&self) -> bool {
        self.lengths().iter().all(|&it| it == 0)
    }

    /// For people.
    pub fn show(&self, page: &mut Page) {
        let mut is_first = true;
        let mut list = |title: &str, rows: Option<Vec<Row>>, styles: &[Style]| {
            let Some(rows) = rows else { return };
            if !std::mem::replace(&mut is_first, false) {
                page.gap();
            }
            page.heading(&format!("{title}: {}", thousands(rows.len() as u64)));
            page.table(&rows, styles);
        };
        let plain = Style::new();
        list("faults by site", rows(&self.sites, SiteItem::row), &[BOLD, plain, WARN, DIM]);
        list("left out, in memory", rows(&self.dropped, DroppedItem::row), &[plain, DIM]);
        list("log statements", rows(&self.logs, LogItem::row), &[BOLD, plain, plain, DIM]);
        list("abstract states", rows(&self.states, StateItem::row), &[plain, BOLD, plain]);
        list("loops", rows(&self.loops, LoopItem::row), &[BOLD, plain, plain, DIM]);
        list("waits", rows(&self.waits, WaitItem::row), &[BOLD, WARN, plain]);
        list("error detectors", rows(&self.detectors, DetectorItem::row), &[plain, BOLD, plain]);
        list("tests", rows(&self.tests, TestItem::row), &[BOLD, plain, DIM]);
        let totals = self.points.as_ref().map(PointList::totals);
        list("kinds of points", totals, &[plain, BOLD, DIM]);
        let items = self.points.as_ref().map(|it| it.items.iter().map(PointItem::row).collect());
        list("points", items, &[BOLD, plain, WARN, DIM]);
    }
}

fn rows<T>(items: &Option<Vec<T>>, row: impl Fn(&T) -> Row) -> Option<Vec<Row>> {
    items.as_ref().map(|items| items.iter().map(row).collect())
}

impl Making<'_> {
    fn place(&self, method: MethodId, line: u16) -> CodePlace {
        place_of_method(&self.program.world, method, line)
    }

    fn place_of(&self, call: CallId) -> CodePlace {
        let call = self.program.facts.call(call);
        self.place(call.method, call.line)
    }

    fn types(&self, types: &[TypeId]) -> Vec<String> {
        types.iter().map(|&it| self.program.world.show_type(it)).collect()
    }

    fn sites(&self) -> Vec<SiteItem> {
        let found = self.program.faults.sites();
        let calls: Vec<CallId> = found.iter().map(|it| it.call).collect();
        let named = naming::name(self.program, &calls);
        let item = |(it, NamedCall { site, name }): (&hypocenter_program::FaultSite, NamedCall)| {
            let creators = match &it.kind {
                FaultKind::New { creators, .. } => {
                    creators.iter().map(|&it| self.program.world.show_method(it)).collect()
                }
                _ => Vec::new(),
            };
            SiteItem {
                kind: it.kind.name().into(),
                name,
                place: self.place_of(it.call),
                callee: site.as_ref().and_then(|it| it.callee.clone()),
                exceptions: self.types(it.kind.exceptions()),
                creators,
                site,
            }
        };
        found.par_iter().zip(named).map(item).collect()
    }

    fn dropped(&self) -> Vec<DroppedItem> {
        let Program { world, memory, faults, .. } = self.program;
        let found = faults.dropped();
        let calls: Vec<CallId> = found.iter().map(|it| it.call).collect();
        let named = naming::name(self.program, &calls);
        let item = |(it, named): (&hypocenter_program::Dropped, NamedCall)| DroppedItem {
            name: named.name,
            place: self.place_of(it.call),
            exceptions: self.types(&it.exceptions),
            chain: memory.why(it.call).iter().map(|it| it.show(world).to_string()).collect(),
        };
        found.iter().zip(named).map(item).collect()
    }

    fn logs(&self) -> Vec<LogItem> {
        self.program.statements.statements().par_iter().map(|it| self.log(it)).collect()
    }

    fn log(&self, it: &Statement) -> LogItem {
        let is_elsewhere = (it.written.method, it.written.line) != (it.method, it.line);
        LogItem {
            level: level_name(it.level).into(),
            place: self.place(it.method, it.line),
            templates: it.templates.iter().map(ToString::to_string).collect(),
            has_exception: it.has_exception,
            api: api_name(it.api).to_owned(),
            via: it.via.map(|it| self.program.world.show_method(it)),
            written: is_elsewhere.then(|| self.place(it.written.method, it.written.line)),
        }
    }

    fn states(&self) -> Vec<StateItem> {
        let item = |it: &hypocenter_program::State| StateItem {
            index: it.index,
            begins: match it.kind {
                StateKind::Start => "start",
                StateKind::Branch => "branch",
                StateKind::Handler => "handler",
                StateKind::Helper => "helper",
            }
            .into(),
            task: self.program.world.show_type(it.class),
            place: self.place(it.method, it.line),
        };
        self.program.states.states().iter().map(item).collect()
    }

    fn loop_name(&self, it: &LoopFact) -> String {
        let method = self.program.world.show_method(it.method);
        match it.line {
            0 => format!("{method}{} loop {}", self.place(it.method, 0).descriptor, it.ordinal),
            line => format!("{method}:{line} loop {}", it.ordinal),
        }
    }

    fn loops(&self) -> Vec<LoopItem> {
        let loops = &self.program.loops;
        let name = |id: LoopId| self.loop_name(loops.get(id));
        let item = |it: &LoopFact| {
            let does = [Effect::Io, Effect::Sleep, Effect::Wait, Effect::Clock].into_iter();
            LoopItem {
                bound: bound_name(it.bound).into(),
                name: self.loop_name(it),
                place: self.place(it.method, it.line),
                does: does
                    .filter_map(|effect| {
                        Some(Does { what: effect_name(effect).into(), depth: it.effects.depth(effect)? })
                    })
                    .collect(),
                is_timed: it.is_timed,
                size: it.size,
                reaches: it.reaches,
                parent: it.parent.map(name),
                called_from: it.called_from.map(name),
            }
        };
        loops.all().par_iter().map(item).collect()
    }

    fn waits(&self) -> Vec<WaitItem> {
        let found = self.program.waits.all();
        let calls: Vec<CallId> = found.iter().map(|it| it.call).collect();
        let named = naming::name(self.program, &calls);
        let item = |(it, named): (&hypocenter_program::Wait, NamedCall)| WaitItem {
            kind: wait_name(it.kind).into(),
            limit: match it.limit {
                Limit::None => "none".to_owned(),
                Limit::Millis(ms) => format!("{ms} ms"),
                Limit::Computed => "computed".to_owned(),
            },
            name: named.name,
            place: self.place_of(it.call),
        };
        found.iter().zip(named).map(item).collect()
    }

    fn detectors(&self) -> Vec<DetectorItem> {
        self.program.detectors.all().par_iter().map(|it| self.detector(it)).collect()
    }

    fn detector(&self, it: &Detector) -> DetectorItem {
        let world = &self.program.world;
        let line = world.look(it.method, |view| view.body.line(0)).flatten().unwrap_or(0);
        let place = self.place(it.method, u16::try_from(line).unwrap_or(0));
        let field = |id: &hypocenter_program::FieldId| {
            let owner = Words(self.program).simple(world.field(*id).owner);
            format!("{owner}.{}", text(world.field_name(*id)))
        };
        let mut calls: Vec<String> =
            it.feeds.calls.iter().map(|&id| Words(self.program).callee(id)).collect();
        calls.dedup();
        DetectorItem {
            name: format!("{}{} return", world.show_method(it.method), place.descriptor),
            place,
            is_used: it.is_used,
            left_out: it.reason.map(|it| reason_name(it).into()),
            fields: it.feeds.fields.iter().map(field).collect(),
            calls,
            parameters: it.feeds.parameters.clone(),
            clock: it.feeds.clock,
            caught: it.feeds.caught,
            constants: it.feeds.constants,
        }
    }

    fn tests(&self) -> Vec<TestItem> {
        let tests = &self.program.tests;
        let item = |it: &hypocenter_program::Test| TestItem {
            framework: framework_name(it.framework).into(),
            test_class: self.program.world.show_type(it.class),
            place: self.place(it.method, it.line),
            has_runner: it.has_runner,
            runner: tests.runner(it.class).map(text),
            is_disabled: it.is_disabled,
        };
        tests.all().iter().map(item).collect()
    }
}

/// A line of a method; 0 if there is none.
pub fn place_of_method(world: &World, method: MethodId, line: u16) -> CodePlace {
    CodePlace {
        class: world.show_type(world.method(method).owner),
        method: text(world.method_name(method)),
        descriptor: text(world.method_descriptor(method)),
        line: (line > 0).then_some(line),
    }
}

impl CodePlace {
    /// For people.
    pub fn show(&self) -> String {
        match self.line {
            Some(line) => format!("{}.{}:{line}", self.class, self.method),
            None => format!("{}.{}", self.class, self.method),
        }
    }
}

impl SiteItem {
    fn row(&self) -> Row {
        let mut cells = vec![self.kind.to_string(), quoted(&self.name), self.exceptions.join(", ")];
        if !self.creators.is_empty() {
            cells.push(format!("made in {}", self.creators.join(", ")));
        }
        (cells, Vec::new())
    }
}

impl DroppedItem {
    fn row(&self) -> Row {
        (vec![quoted(&self.name), self.exceptions.join(", ")], self.chain.clone())
    }
}

impl LogItem {
    fn row(&self) -> Row {
        let mut said = self.templates.first().map(|it| format!("{it:?}")).unwrap_or_default();
        if self.templates.len() > 1 {
            said += &format!(" or {} more", self.templates.len() - 1);
        }
        let mut notes = Vec::new();
        if self.has_exception {
            notes.push("with an exception".to_owned());
        }
        notes.extend(self.via.iter().map(|it| format!("through {it}")));
        (vec![self.level.to_uppercase(), self.place.show(), said, notes.join(", ")], Vec::new())
    }
}

impl StateItem {
    fn row(&self) -> Row {
        (
            vec![self.task.clone(), format!("#{}", self.index), self.begins.to_string(), self.place.show()],
            Vec::new(),
        )
    }
}

impl LoopItem {
    fn row(&self) -> Row {
        let effect = |it: &Does| match it.depth {
            0 => it.what.to_string(),
            depth => format!("{} in {depth}", it.what),
        };
        let mut does: Vec<String> = self.does.iter().map(effect).collect();
        if self.is_timed {
            does.push("ends by time".to_owned());
        }
        let mut notes =
            vec![format!("{} instructions, reaches {}", self.size, thousands(self.reaches.into()))];
        notes.extend(self.parent.iter().map(|it| format!("in {it}")));
        notes.extend(self.called_from.iter().map(|it| format!("called from {it}")));
        (vec![self.bound.to_string(), quoted(&self.name), does.join(", "), notes.join(", ")], Vec::new())
    }
}

impl WaitItem {
    fn row(&self) -> Row {
        let limit = if self.limit == "none" { "no limit" } else { &self.limit };
        (vec![self.kind.to_string(), limit.to_owned(), quoted(&self.name)], Vec::new())
    }
}

impl DetectorItem {
    fn row(&self) -> Row {
        let mut feeds = self.fields.clone();
        feeds.extend(self.calls.iter().cloned());
        feeds.extend(self.parameters.iter().map(|it| format!("parameter {it}")));
        for (is_there, name) in [(self.clock, "the clock"), (self.caught, "a caught exception")] {
            if is_there {
                feeds.push(name.to_owned());
            }
        }
        let more = feeds.len().saturating_sub(FEEDS_SHOWN);
        feeds.truncate(FEEDS_SHOWN);
        if more > 0 {
            feeds.push(format!("{more} more"));
        }
        let used = match (&self.left_out, self.is_used) {
            (Some(why), _) => format!("left out: {why}"),
            (None, true) => "used".to_owned(),
            (None, false) => "not used".to_owned(),
        };
        (vec![self.place.show(), used, format!("from {}", feeds.join(", "))], Vec::new())
    }
}

impl TestItem {
    fn row(&self) -> Row {
        let mut notes = Vec::new();
        if self.place.class != self.test_class {
            notes.push(format!("declared in {}", self.place.class));
        }
        notes.extend(self.runner.iter().map(|it| format!("run by {it}")));
        if self.is_disabled {
            notes.push("disabled".to_owned());
        }
        let line = self.place.line.map(|it| format!(":{it}")).unwrap_or_default();
        let name = format!("{}.{}{line}", self.test_class, self.place.method);
        (vec![self.framework.to_string(), name, notes.join(", ")], Vec::new())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The word for a level.
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::Trace => "trace",
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
        Level::Fatal => "fatal",
        Level::Print => "print",
        Level::Unknown => "unknown",
    }
}

/// The word for how often a loop goes round.
pub fn bound_name(bound: Bound) -> &'static str {
    match bound {
        Bound::Constant => "constant",
        Bound::Container => "container",
        Bound::Open => "open",
    }
}

/// The word for why a method is hardly a detector.
pub fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Test => "test",
        Reason::Synthetic => "synthetic",
        Reason::General => "general",
        Reason::Constant => "constant",
        Reason::Final => "final",
        Reason::Primitive => "primitive",
        Reason::Reflection => "reflection",
        Reason::Unused => "unused",
        Reason::TestOnly => "test_only",
    }
}

/// The word for what runs a test.
pub fn framework_name(framework: Framework) -> &'static str {
    match framework {
        Framework::JUnit3 => "junit3",
        Framework::JUnit4 => "junit4",
        Framework::JUnit5 => "junit5",
        Framework::TestNg => "testng",
    }
}

fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Io => "io",
        Effect::Sleep => "sleep",
        Effect::Wait => "wait",
        Effect::Clock => "clock",
    }
}

fn wait_name(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Sleep => "sleep",
        WaitKind::Notify => "notify",
        WaitKind::Queue => "queue",
        WaitKind::End => "end",
        WaitKind::Result => "result",
        WaitKind::Arrival => "arrival",
        WaitKind::Lock => "lock",
        WaitKind::Ready => "ready",
        WaitKind::Connect => "connect",
    }
}

fn api_name(api: Api) -> &'static str {
    match api {
        Api::Slf4j => "slf4j",
        Api::Log4j1 => "log4j1",
        Api::Log4j2 => "log4j2",
        Api::CommonsLogging => "commons_logging",
        Api::JavaUtilLogging => "java_util_logging",
        Api::SystemLogger => "system_logger",
        Api::JBossLogging => "jboss_logging",
        Api::Flogger => "flogger",
        Api::KotlinLogging => "kotlin_logging",
        Api::Akka => "akka",
        Api::Jetty => "jetty",
        Api::Netty => "netty",
        Api::Print => "print",
        Api::StackTrace => "stack_trace",
    }
}
