//! Reads what a trial left behind into an outcome.

mod steering;

use hypocenter_plan::{
    Arm, CandidateOutcome, CandidateResult, End, FORMAT_VERSION, Fault, Frame, Guard, HookTally, Injection,
    JvmOutcome, NodeRule, Outcome, Plan, Problem, Site, StateId, state_names,
};
use hypocenter_trace::{CandidateEnd, Dictionary, Jvm, Map, ReportKind, Trace, TracedInjection};

use crate::stage::Staged;

/// Number of reports of one kind that are listed before the rest is only counted.
const PROBLEMS_LISTED_MAX: usize = 200;

struct Seen {
    jvm: Jvm,
    dictionary: Dictionary,
    counts: Vec<u64>,
}

pub(crate) fn read(
    plan: &Plan,
    map: &Map<'_>,
    trace: &Trace<'_>,
    staged: Staged,
    agent_log: &str,
    instrumented: bool,
) -> Outcome {
    let seen: Vec<Seen> = trace
        .jvms()
        .into_iter()
        .map(|jvm| Seen { dictionary: trace.dictionary(&jvm), counts: trace.counts(&jvm), jvm })
        .collect();
    let ends = trace.candidates();
    let reader = Reader { plan, map, trace, seen: &seen, instrumented };
    let end_of = |number: usize| ends.get(number).copied().unwrap_or(CandidateEnd::Open);
    let candidates = plan.candidates.iter().enumerate().map(|(number, it)| {
        let thrown = matches!(it.fault, Fault::Exception { .. });
        let asked = Asked { number, site: &it.site, when: &it.when, limited: true, thrown };
        CandidateOutcome {
            site: it.site.clone(),
            fault: it.fault.clone(),
            hits: reader.hits(asked),
            result: reader.result(asked, end_of(number)),
        }
    });
    let candidates = candidates.collect();
    let end = staged.end;
    Outcome {
        version: FORMAT_VERSION,
        end,
        wall_ms: staged.wall.as_millis() as u64,
        disk_full: staged.disk_full || seen.iter().any(|it| it.jvm.no_room > 0),
        failure: None,
        processes: staged.processes,
        candidates,
        steering: steering::read(&reader, end_of),
        jvms: (0..seen.len()).map(|index| reader.jvm(index)).collect(),
        problems: staged.problems.into_iter().chain(reader.problems(agent_log, end)).collect(),
    }
}

/// What a plan asks for at a site: a candidate, or what steers the trial.
#[derive(Clone, Copy)]
struct Asked<'a> {
    /// Its number among all that the agent was given.
    number: usize,
    site: &'a Site,
    when: &'a Guard,
    /// True if it takes one of the faults that the plan allows.
    limited: bool,
    /// True if it throws an exception.
    thrown: bool,
}

struct Reader<'a> {
    plan: &'a Plan,
    map: &'a Map<'a>,
    trace: &'a Trace<'a>,
    seen: &'a [Seen],
    /// True if the agent was to be in any process.
    instrumented: bool,
}

impl Reader<'_> {
    fn jvm(&self, index: usize) -> JvmOutcome {
        let it = &self.seen[index];
        let earlier = self.seen[..index].iter().filter(|other| other.jvm.node == it.jvm.node);
        JvmOutcome {
            incarnation: 1 + earlier.count() as u32,
            ended: it.jvm.ended,
            node: it.jvm.node.clone(),
            pid: it.jvm.pid,
            java: it.jvm.java.clone(),
            hooks: HookTally {
                classes: it.jvm.classes,
                placed: it.jvm.placed,
                moved: it.jvm.moved,
                refused: it.jvm.refused,
            },
            hits: it.counts.iter().sum(),
            decision_ns: self.trace.decision_ns(&it.jvm),
            clock_gap_ms: self.trace.clock_gap_ns().map(|it| it as f64 / 1e6),
            events: self.trace.values(&it.jvm).count() as u64,
            dropped: it.jvm.dropped + it.jvm.no_room,
        }
    }

    /// The rule for the node that a candidate waits for, where that node is inside JVMs.
    fn rule(&self, when: &Guard) -> Option<&NodeRule> {
        self.plan.node_rule(when.node.as_deref()?)
    }

    /// The JVMs that have the candidate's node: any of them may if the node is inside JVMs.
    fn on_node<'b>(&'b self, when: &'b Guard) -> impl Iterator<Item = &'b Seen> {
        let wanted = when.node.as_deref().filter(|_| self.rule(when).is_none());
        self.seen.iter().filter(move |it| wanted.is_none_or(|node| node == it.jvm.node))
    }

    fn hits(&self, asked: Asked<'_>) -> u64 {
        let Asked { number, site, when, .. } = asked;
        let filtered = when.thread.is_some()
            || when.state.is_some()
            || when.stack.is_some()
            || when.since.is_some()
            || when.enclosing_loop.is_some()
            || when.resource.is_some()
            || self.plan.arm != Arm::Start
            || site.kind.sees_boolean()
            || site.kind.is_operation()
            || self.rule(when).is_some();
        let Some(site) = self.map.find(site) else { return 0 };
        self.on_node(when)
            .map(|it| match filtered {
                true => self.trace.candidate_hits(&it.jvm, number as u32),
                false => it.counts.get(site.0 as usize).copied().unwrap_or(0),
            })
            .sum()
    }

    fn result(&self, asked: Asked<'_>, end: CandidateEnd) -> CandidateResult {
        match end {
            CandidateEnd::Injected { jvm, occurrence, times, .. } => {
                match self.injected(asked, jvm, occurrence, times) {
                    Some(injection) => CandidateResult::Injected(injection),
                    None => {
                        CandidateResult::Refused { why: "the record of the injection was lost".to_owned() }
                    }
                }
            }
            CandidateEnd::Refused => CandidateResult::Refused { why: self.refusal(asked.number) },
            CandidateEnd::Claimed => CandidateResult::Refused {
                why: "the JVM ended while the fault was being prepared".to_owned(),
            },
            CandidateEnd::Open if asked.limited && self.trace.limit_reached() => CandidateResult::NotNeeded,
            CandidateEnd::Open => match self.unhooked(asked.site) {
                Some(why) => CandidateResult::Refused { why },
                None => CandidateResult::NotReached { why: self.missing(asked) },
            },
        }
    }

    /// The node that a fault happened on: the candidate's own if a rule says which threads that is, else the one whose
    /// rule has the thread's name, else the JVM's.
    fn node_of<'b>(&'b self, when: &Guard, thread: &str, jvm: &'b Jvm) -> &'b str {
        let by_name = || self.plan.nodes.iter().find(|rule| rule.has_thread(thread));
        self.rule(when).or_else(by_name).map_or(&jvm.node, |rule| &rule.name)
    }

    /// What happened; none if its record was lost.
    fn injected(&self, asked: Asked<'_>, jvm: u32, occurrence: u64, times: u64) -> Option<Injection> {
        let index = self.seen.iter().position(|it| it.jvm.number == jvm)?;
        let it = &self.seen[index];
        let is_it = |record: &&TracedInjection| record.candidate as usize == asked.number;
        let record = it.dictionary.injections.iter().find(is_it)?;
        let stack = it.dictionary.stack(record.stack).into_iter();
        let thread = it.dictionary.thread_name(record.thread).to_owned();
        Some(Injection {
            jvm: index,
            node: self.node_of(asked.when, &thread, &it.jvm).to_owned(),
            thread,
            occurrence,
            at_ms: self.trace.ms_since_start(record.ticks),
            times,
            effect: self
                .plan
                .candidates
                .get(asked.number)
                .filter(|it| it.fault.is_lasting())
                .map(|_| self.trace.effect(asked.number)),
            threw: (record.threw != 0).then(|| it.dictionary.string(record.threw).to_owned()),
            state: (record.state != StateId::NO_TASK)
                .then(|| state_names(&self.plan.record.tasks).into_iter().nth(record.state.0 as usize))
                .flatten(),
            stack_hash: record.stack_hash,
            stack: stack.map(|(method, at)| Frame { method, at: (!at.is_empty()).then_some(at) }).collect(),
        })
    }

    fn refusal(&self, number: usize) -> String {
        self.reports()
            .find(|(_, report)| report.kind == ReportKind::Refused && report.subject as usize == number)
            .map_or_else(|| "the agent did not say why".to_owned(), |(_, report)| report.text.clone())
    }

    /// Why the hook of a candidate is in no JVM, if it was left out everywhere.
    fn unhooked(&self, wanted: &Site) -> Option<String> {
        let site = self.map.find(wanted)?;
        if self.hits_anywhere(site.0) {
            return None;
        }
        self.reports()
            .find(|(_, report)| report.kind == ReportKind::Unhooked && report.subject == site.0)
            .map(|(_, report)| {
                let Site { class, method, .. } = wanted;
                format!(
                    "its hook could not be placed: {}; use a site that calls {class}.{method} instead, as in \
                     `CALLER->{class}.{method}`",
                    report.text
                )
            })
    }

    fn hits_anywhere(&self, site: u32) -> bool {
        self.seen.iter().any(|it| it.counts.get(site as usize).is_some_and(|&count| count > 0))
    }

    fn reports(&self) -> impl Iterator<Item = (&Seen, &hypocenter_trace::Report)> {
        self.seen.iter().flat_map(|it| it.dictionary.reports.iter().map(move |report| (it, report)))
    }

    /// Why a candidate's instance never came.
    fn missing(&self, asked: Asked<'_>) -> String {
        let Asked { site, when, .. } = asked;
        if self.trace.agents() == 0 {
            return "the agent did not start in any JVM of the command".to_owned();
        }
        if self.trace.armed_at().is_none() {
            return match &self.plan.arm {
                Arm::After(other) => format!("`{other}` was never reached, and all faults wait for that"),
                _ => "the nodes were never ready, and the plan waits for that".to_owned(),
            };
        }
        if self.seen.is_empty() {
            return "no JVM loaded a class with hooks".to_owned();
        }
        if let Some(node) = &when.node
            && self.on_node(when).next().is_none()
        {
            let nodes: Vec<&str> = self.seen.iter().map(|it| it.jvm.node.as_str()).collect();
            return format!(
                "no JVM of node `{node}` loaded a class with hooks (nodes seen: {})",
                nodes.join(", ")
            );
        }
        let class = self.map.find(site).and_then(|site| self.map.class_of(site));
        let loaded = class.is_some_and(|class| {
            self.on_node(when).any(|it| it.dictionary.patched.contains(&(class as u32)))
        });
        let hits = self.hits(asked);
        match (loaded, hits, when.occurrence) {
            (false, ..) => format!("the class {} was never loaded", site.class),
            (true, 0, _) if self.rule(when).is_some() => {
                let node = when.node.as_deref().unwrap_or_default();
                format!("no thread of node `{node}` reached the site under its guard")
            }
            (true, 0, _) => "the site was never reached under its guard".to_owned(),
            (true, hits, wanted) => {
                let spared = match asked.thrown && !self.plan.never_below.is_empty() {
                    true => ", or only below a method of `never_below` in the plan",
                    false => "",
                };
                let times = if hits == 1 { "once".to_owned() } else { format!("{hits} times") };
                match wanted {
                    Some(wanted) => {
                        let due = format!("and the plan waits for occurrence {wanted} in one JVM");
                        format!("reached {times}, {due}{spared}")
                    }
                    None => format!("reached {times}, and the random draw never selected it{spared}"),
                }
            }
        }
    }

    fn problems(&self, agent_log: &str, end: End) -> Vec<Problem> {
        let mut problems: Vec<Problem> = agent_log
            .lines()
            .map(|line| Problem { place: "agent".to_owned(), what: line.to_owned() })
            .collect();
        if !self.instrumented {
            problems.push(Problem {
                place: "agent".to_owned(),
                what: "all processes ran without the agent".to_owned(),
            });
        } else if self.trace.agents() == 0 {
            problems.push(Problem {
                place: Problem::COMMAND.to_owned(),
                what: "the agent did not start in any JVM: either the command starts no JVM, or its JVM could not load the agent (see its output; `hypocenter doctor` tests the JDKs of this machine)"
                    .to_owned(),
            });
        } else if self.seen.is_empty() && !end.is_well() {
            problems.push(Problem {
                place: Problem::COMMAND.to_owned(),
                what: format!(
                    "it {end} before any class of the target was loaded: see its output; if that is as expected, check the packages"
                ),
            });
        } else if self.seen.is_empty() {
            problems.push(Problem {
                place: Problem::COMMAND.to_owned(),
                what: format!(
                    "the agent started in {} JVM(s), and none loaded a class with hooks: check the packages; if `java` itself starts the JVM of the target, write `env java` to load the agent in both",
                    self.trace.agents()
                ),
            });
        }
        let mut rest = 0;
        for (it, report) in self.reports() {
            let site = || self.map.site(hypocenter_trace::SiteId(report.subject));
            let what = match report.kind {
                ReportKind::Unhooked => format!("hook left out: {}", report.text),
                ReportKind::Moved => format!("hook moved: {}", report.text),
                ReportKind::Trouble => report.text.clone(),
                ReportKind::Refused => continue,
            };
            if problems.len() >= PROBLEMS_LISTED_MAX {
                rest += 1;
                continue;
            }
            let place = site().map_or_else(|| it.jvm.node.clone(), |site| site.to_string());
            let problem = Problem { place, what };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        if rest > 0 {
            problems.push(Problem {
                place: "hooks".to_owned(),
                what: format!("{rest} more such messages are in the trace"),
            });
        }
        for it in self.seen {
            let place = || format!("{} (pid {})", it.jvm.node, it.jvm.pid);
            if it.jvm.dropped > 0 {
                let what = format!(
                    "{} events were dropped: rings were full; record fewer sites, or use --lossless",
                    it.jvm.dropped
                );
                problems.push(Problem { place: place(), what });
            }
            if it.jvm.no_room > 0 {
                let what = format!(
                    "{} records were dropped: the disk of the trial's directory was full; free some space",
                    it.jvm.no_room
                );
                problems.push(Problem { place: place(), what });
            }
        }
        problems
    }
}
