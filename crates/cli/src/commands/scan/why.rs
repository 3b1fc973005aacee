//! From log lines back to the faults that can lead to them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use anstyle::Style;
use hypocenter_logs::How;
use hypocenter_plan::Site;
use hypocenter_program::{
    CallId, CausalGraph, EdgeKind, FaultDistances, FaultSite, GraphOptions, Graphs, MethodId, Node, Program,
    Statement, Ways, Words,
};
use hypocenter_ties::copies as copies_of;
use serde::Serialize;

use super::entries::Started;
use super::lists::level_name;
use super::naming;
use super::page::Page;
use crate::args::ScanArgs;
use crate::failure::Failure;
use crate::screen::{self, BOLD, DIM, WARN, thousands};

/// Faults whose way is shown; the document has the ways of all that are listed.
const WAYS_SHOWN: usize = 3;
/// Statements and entries that are shown of a line; of a log all statements are.
const STATEMENTS_SHOWN: usize = 5;

/// Faults that can lead to some log lines.
#[derive(Debug, Serialize)]
pub struct Why {
    entries: Entries,
    statements: Vec<StartedAt>,
    /// Entries that no statement fits.
    not_tied: Vec<NotTied>,
    graph: Size,
    /// The nearest faults.
    nearest: Vec<Near>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges: Option<Vec<Edges>>,
    #[serde(skip)]
    is_log: bool,
}

/// Number of entries, and how they were matched to statements.
#[derive(Debug, Serialize)]
struct Entries {
    total: usize,
    exact: usize,
    several: usize,
    none: usize,
}

/// A statement that was started at.
#[derive(Debug, Serialize)]
struct StartedAt {
    class: String,
    method: String,
    line: u16,
    level: &'static str,
    templates: Vec<String>,
    /// The wrapper that it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<String>,
    /// Number of entries that it can have written.
    entries: usize,
    tied_by: &'static str,
    /// Number of fault sites that lead to it.
    sites: usize,
    /// Distance of the nearest.
    nearest: Option<u32>,
}

#[derive(Debug, Serialize)]
struct NotTied {
    line: u32,
    message: String,
}

/// Size of the causal graph.
#[derive(Debug, Serialize)]
struct Size {
    nodes: usize,
    edges: usize,
    sites: usize,
    /// Fault sites of the whole target.
    sites_total: usize,
    /// True if nothing was left out for its size.
    is_complete: bool,
}

/// A fault that can lead there.
#[derive(Debug, Serialize)]
struct Near {
    distance: u32,
    kind: &'static str,
    exceptions: Vec<String>,
    name: String,
    /// Number of the statements that it leads to.
    statements: usize,
    steps: Vec<String>,
    site: Option<Site>,
}

/// Loss without a kind of edge.
#[derive(Debug, Serialize)]
struct Edges {
    kind: &'static str,
    edges: usize,
    nodes_lost: usize,
    sites_lost: usize,
}

/// A call that leads to a statement: how far it is, by which statement's graph, and from which of its starts.
struct Reached {
    distance: u32,
    graph: usize,
    start: usize,
    statements: usize,
}

impl Why {
    /// Goes back from the lines.
    pub fn of(program: &Program, started: &Started, args: &ScanArgs) -> Result<(Why, CausalGraph), Failure> {
        let tied = started.tie(program)?;
        let all = program.statements.statements();
        let statements: Vec<&Statement> = tied.statements.keys().map(|&it| &all[it as usize]).collect();
        // What a wrapper writes depends on its caller, and on how the wrapper comes to write it.
        let copies = tied.statements.keys().enumerate();
        let copies = copies.flat_map(|(at, &number)| copies_of(program, number).map(move |it| (at, it)));
        let places = copies.flat_map(|(at, it)| {
            let own = (at, (it.method, it.instruction));
            let written = it.via.map(|_| (at, (it.written.method, it.written.instruction)));
            std::iter::once(own).chain(written)
        });
        let (owners, starts): (Vec<usize>, Vec<(MethodId, u16)>) = places.unzip();
        let starts_of = |at: usize| -> Vec<(MethodId, u16)> {
            starts.iter().zip(&owners).filter(|it| *it.1 == at).map(|it| *it.0).collect()
        };
        let (world, faults) = (&program.world, &program.faults);
        let takes = |call, exception| faults.thrown(world, call, exception).is_some();
        let options = GraphOptions { distance_max: args.distance };
        let builder = Graphs::of(program.causes());
        let graph = builder.build(&starts, options, takes);
        // In a graph of several statements the calls of one are taken for those of another: which fault leads to which is
        // said by a graph of each.
        let graphs: Vec<CausalGraph> =
            (0..statements.len()).map(|it| builder.build(&starts_of(it), options, takes)).collect();
        let mut reached: BTreeMap<CallId, Reached> = BTreeMap::new();
        let mut started_at = Vec::new();
        for (at, (statement, (entries, how))) in statements.iter().zip(tied.statements.values()).enumerate() {
            let mut here: BTreeMap<CallId, Reached> = BTreeMap::new();
            let distances = graphs[at].distances_to_faults();
            for start in 0..graphs[at].starts().len() {
                reach(&distances, (at, start), &mut here);
            }
            started_at.push(StartedAt::of(program, statement, *entries, *how, &here));
            for (call, it) in here {
                match reached.entry(call) {
                    Entry::Vacant(slot) => {
                        slot.insert(it);
                    }
                    Entry::Occupied(mut slot) => slot.get_mut().join(it),
                }
            }
        }
        let size = Size {
            nodes: graph.nodes().len(),
            edges: graph.edge_count(),
            sites: reached.len(),
            sites_total: throwing_calls(program),
            is_complete: graph.is_complete(),
        };
        let why = Why {
            entries: Entries {
                total: tied.entries(),
                exact: tied.exact,
                several: tied.several,
                none: tied.none.len(),
            },
            statements: started_at,
            not_tied: tied
                .none
                .iter()
                .map(|(line, it)| NotTied { line: *line, message: it.clone() })
                .collect(),
            nearest: nearest(program, &graphs, &reached, args),
            edges: args.why_edges.then(|| edges(&graph, &size, args.distance)),
            graph: size,
            is_log: matches!(started, Started::File(..)),
        };
        Ok((why, graph))
    }

    /// For people.
    pub fn show(&self, page: &mut Page) {
        if self.is_log {
            self.show_log(page);
        } else {
            self.show_line(page);
        }
        let Size { nodes, edges, sites, sites_total, is_complete } = &self.graph;
        page.gap();
        let cut = if *is_complete { "" } else { "; more distant causes were not searched" };
        page.heading(&format!(
            "causal graph: {} nodes, {} edges, {} of {} fault sites{cut}",
            thousands(*nodes as u64),
            thousands(*edges as u64),
            thousands(*sites as u64),
            thousands(*sites_total as u64)
        ));
        if self.nearest.is_empty() {
            page.indented(2, WARN, "no fault leads there: the line does not depend on any known exception");
        }
        let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
        for (number, it) in self.nearest.iter().enumerate() {
            let mut cells = vec![it.distance.to_string(), it.exceptions.join(", "), format!("'{}'", it.name)];
            if self.is_log {
                cells.push(format!("leads to {} of {}", it.statements, self.statements.len()));
            }
            let steps = it.steps.iter().enumerate().map(|(at, step)| format!("{:>2}. {step}", at + 1));
            rows.push((cells, if number < WAYS_SHOWN { steps.collect() } else { Vec::new() }));
        }
        page.table(&rows, &[BOLD, WARN, Style::new(), DIM]);
        if *sites > self.nearest.len() && !self.nearest.is_empty() {
            let more = thousands((*sites - self.nearest.len()) as u64);
            page.indented(
                2,
                DIM,
                &format!("... {more} more (--top N; --json has the steps of all listed faults)"),
            );
        }
        if let Some(edges) = &self.edges {
            page.gap();
            page.heading("without a kind of edge");
            let mut rows = vec![row(["kind", "edges", "nodes lost", "sites lost"].map(str::to_owned))];
            for it in edges {
                let numbers = [it.edges, it.nodes_lost, it.sites_lost].map(|it| thousands(it as u64));
                let [edges, nodes, sites] = numbers;
                rows.push(row([it.kind.to_owned(), edges, nodes, sites]));
            }
            page.table(&rows, &[BOLD]);
        }
    }

    fn show_line(&self, page: &mut Page) {
        let by = self.statements.first().map_or("text", |it| it.tied_by);
        let title = match self.statements.len() {
            1 => format!("written by (found by {by})"),
            some => format!("written by one of {some} statements (found by {by})"),
        };
        page.heading(&title);
        let rows: Vec<_> = self.statements.iter().take(STATEMENTS_SHOWN).map(|it| row(it.cells())).collect();
        page.table(&rows, &[BOLD]);
        if self.statements.len() > STATEMENTS_SHOWN {
            page.indented(2, DIM, &format!("... {} more", self.statements.len() - STATEMENTS_SHOWN));
        }
    }

    fn show_log(&self, page: &mut Page) {
        let Entries { total, exact, several, none } = &self.entries;
        page.heading(&format!(
            "{total} serious {}: {exact} matched to one statement, {several} to several, {none} to none",
            if *total == 1 { "entry" } else { "entries" }
        ));
        let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
        for it in &self.statements {
            let [level, place, text] = it.cells();
            let nearest = match it.nearest {
                Some(distance) => {
                    let sites = screen::count(it.sites as u64, "fault site", "fault sites");
                    format!("{sites}, the nearest {} away", screen::count(distance.into(), "step", "steps"))
                }
                None => "no fault leads there".to_owned(),
            };
            rows.push(row([format!("{}x", it.entries), level, place, nearest, text]));
        }
        page.table(&rows, &[DIM, BOLD]);
        for it in self.not_tied.iter().take(STATEMENTS_SHOWN) {
            page.indented(2, WARN, &format!("not matched: line {}: {}", it.line, it.message));
        }
        if self.not_tied.len() > STATEMENTS_SHOWN {
            page.indented(2, WARN, &format!("... {} more", self.not_tied.len() - STATEMENTS_SHOWN));
        }
    }
}

fn row(cells: impl IntoIterator<Item = String>) -> (Vec<String>, Vec<String>) {
    (cells.into_iter().collect(), Vec::new())
}

impl StartedAt {
    fn of(
        program: &Program,
        it: &Statement,
        entries: usize,
        how: How,
        reached: &BTreeMap<CallId, Reached>,
    ) -> StartedAt {
        StartedAt {
            class: program.world.show_type(program.world.method(it.method).owner),
            method: String::from_utf8_lossy(program.world.method_name(it.method)).into_owned(),
            line: it.line,
            level: level_name(it.level),
            templates: it.templates.iter().map(ToString::to_string).collect(),
            via: it.via.map(|it| program.world.show_method(it)),
            entries,
            tied_by: match how {
                How::Line => "line",
                How::Text => "text",
            },
            sites: reached.len(),
            nearest: reached.values().map(|it| it.distance).min(),
        }
    }

    fn cells(&self) -> [String; 3] {
        let mut text = self.templates.first().map(|it| format!("{it:?}")).unwrap_or_default();
        if let Some(via) = &self.via {
            text += &format!(", through {via}");
        }
        [self.level.to_uppercase(), format!("{}.{}:{}", self.class, self.method, self.line), text]
    }
}

impl Reached {
    /// Takes what another statement reaches.
    fn join(&mut self, other: Reached) {
        let statements = self.statements + other.statements;
        if other.distance < self.distance {
            *self = other;
        }
        self.statements = statements;
    }
}

/// Number of calls that can throw injected exceptions.
fn throwing_calls(program: &Program) -> usize {
    let throws = |it: &&[FaultSite]| it.iter().any(|it| !it.kind.exceptions().is_empty());
    program.faults.sites().chunk_by(|a, b| a.call == b.call).filter(throws).count()
}

/// Adds the calls that a start leads to, each with its distance.
fn reach(distances: &FaultDistances, (graph, start): (usize, usize), found: &mut BTreeMap<CallId, Reached>) {
    for (at, &call) in distances.calls().iter().enumerate() {
        let Some(distance) = distances.get(at, start) else { continue };
        let here = || Reached { distance, graph, start, statements: 1 };
        let it = found.entry(call).or_insert_with(here);
        if distance < it.distance {
            *it = here();
        }
    }
}

fn nearest(
    program: &Program,
    graphs: &[CausalGraph],
    reached: &BTreeMap<CallId, Reached>,
    args: &ScanArgs,
) -> Vec<Near> {
    let class = |call: CallId| program.world.method(program.facts.call(call).method).owner;
    let is_asked = |it: &(&CallId, &Reached)| args.takes_class(&program.world.show_type(class(*it.0)));
    let mut sorted: Vec<(&CallId, &Reached)> = reached.iter().filter(is_asked).collect();
    // Of those equally near, one that leads to more statements explains more.
    sorted.sort_by_key(|(call, it)| (it.distance, std::cmp::Reverse(it.statements), **call));
    sorted.truncate(args.top);
    let calls: Vec<CallId> = sorted.iter().map(|it| *it.0).collect();
    let named = naming::name(program, &calls);
    let words = Words(program);
    // The ways from one start serve all faults that are nearest to it.
    let mut ways: BTreeMap<(usize, usize), Ways> = BTreeMap::new();
    let near = |((call, it), named): (&(&CallId, &Reached), naming::NamedCall)| {
        let graph = &graphs[it.graph];
        let ways = ways.entry((it.graph, it.start)).or_insert_with(|| graph.ways(it.start));
        let is_nearest = |at: &u32| ways.distance(*at) == Some(it.distance);
        let faults = faults_at(graph, **call).filter(is_nearest).collect::<Vec<u32>>();
        let of = |number: &u32| match graph.nodes()[*number as usize] {
            Node::New(call, it) | Node::External(call, it) => {
                let thrown = program.faults.thrown(&program.world, call, it).unwrap_or(it.class());
                Some(program.world.show_type(thrown))
            }
            _ => None,
        };
        let mut exceptions: Vec<String> = faults.iter().filter_map(of).collect();
        exceptions.sort();
        exceptions.dedup();
        let first = faults.first().copied().unwrap_or(0);
        let is_new = matches!(graph.nodes()[first as usize], Node::New(..));
        Near {
            distance: it.distance,
            kind: if is_new { "new" } else { "external" },
            exceptions,
            name: named.name,
            statements: it.statements,
            steps: words.steps(graph, &ways.path(first)),
            site: named.site,
        }
    };
    sorted.iter().zip(named).map(near).collect()
}

/// The faults of a call, as nodes of the graph.
fn faults_at(graph: &CausalGraph, call: CallId) -> impl Iterator<Item = u32> + '_ {
    let is_here = move |it: &Node| matches!(it, Node::New(at, _) | Node::External(at, _) if *at == call);
    (0..).zip(graph.nodes()).filter(move |it| is_here(it.1)).map(|it| it.0)
}

/// Contribution of each kind of edge.
fn edges(graph: &CausalGraph, size: &Size, distance_max: u32) -> Vec<Edges> {
    let mut counts: BTreeMap<EdgeKind, usize> = BTreeMap::new();
    for node in 0..graph.nodes().len() as u32 {
        graph.priors(node).for_each(|(_, kind)| *counts.entry(kind).or_default() += 1);
    }
    let call_of = |it: Node| match it {
        Node::New(call, _) | Node::External(call, _) => Some(call),
        _ => None,
    };
    let sites: BTreeSet<CallId> = graph.nodes().iter().filter_map(|&it| call_of(it)).collect();
    let lost = |kind: EdgeKind| {
        let (mut nodes, mut calls) = (0, BTreeSet::new());
        for node in graph.without(kind, distance_max) {
            nodes += 1;
            calls.extend(call_of(node));
        }
        Edges {
            kind: kind.name(),
            edges: counts.get(&kind).copied().unwrap_or(0),
            nodes_lost: size.nodes.saturating_sub(nodes),
            sites_lost: sites.len().saturating_sub(calls.len()),
        }
    };
    EdgeKind::ALL.into_iter().map(lost).collect()
}
