//! The start of nodes: what prepares them, those that wait for others, and the time until they are ready.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use hypocenter_plan::{CommandLine, End, Node};

use super::{Aside, Event, Play, Preparing, READY_TIME};
use crate::LabError;
use crate::keeper::Spawn;
use crate::output::Output;

impl Play<'_, '_> {
    /// The nodes that have not been started yet, by their numbers among the workload's.
    pub(super) fn not_started(&self) -> Vec<usize> {
        let nodes = self.stage.workload.node.iter().enumerate();
        let is_new = |it: &Node| it.command.is_some() && self.incarnations(&it.name) == 0;
        nodes.filter(|it| is_new(it.1)).map(|it| it.0).collect()
    }

    /// Starts the nodes that are due and those that wait for them, until all of these are ready. An answer ends the trial.
    pub(super) fn start_nodes(&mut self, inbox: &Receiver<Event>) -> Result<Option<End>, LabError> {
        let new = self.not_started();
        self.start_due_nodes()?;
        let limit = self.stage.timeout.unwrap_or_else(|| self.started.elapsed() + READY_TIME);
        loop {
            let (waiting, preparing) = (self.not_ready(&new), self.is_preparing());
            if waiting.is_none() && preparing.is_none() {
                return Ok(None);
            }
            let left = limit.saturating_sub(self.started.elapsed());
            if left.is_zero() {
                match (preparing, waiting) {
                    (Some(part), _) => {
                        let what = format!("did not end in {:.0} s", limit.as_secs_f64());
                        self.say_not_prepared(part, &what);
                    }
                    (None, Some(waiting)) => self.say_not_ready(waiting, limit),
                    (None, None) => {}
                }
                return Ok(Some(End::NotReady));
            }
            if let Some(end) = self.step(inbox, left)? {
                return Ok(Some(end));
            }
            let failed = self.preparing.iter().find_map(|(&part, it)| match it {
                Preparing::Failed(end) => Some((part, *end)),
                _ => None,
            });
            if let Some((part, end)) = failed {
                self.say_not_prepared(part, &end.to_string());
                return Ok(Some(End::NotReady));
            }
            if self.not_ready(&new).is_some_and(|waiting| self.gone(waiting)) {
                return Ok(Some(End::NotReady));
            }
            self.start_due_nodes()?;
        }
    }

    /// Starts the nodes that were not started and wait for nobody. The workload's check says that all are due some time.
    fn start_due_nodes(&mut self) -> Result<(), LabError> {
        let nodes = &self.stage.workload.node;
        let due = |play: &Self| {
            nodes.iter().enumerate().position(|(part, node)| {
                // A client counts as ready: nodes are started only between phases.
                let ready = |name: &String| play.actors.iter().any(|it| it.ready && it.outcome.name == *name);
                let is_prepared = play.preparing.get(&part).is_none_or(|it| *it == Preparing::Done);
                let is_new = node.command.is_some() && play.incarnations(&node.name) == 0;
                is_new && is_prepared && node.after.iter().all(ready)
            })
        };
        // One that is ready at once lets the next go.
        while let Some(part) = due(self) {
            match &nodes[part].before {
                Some(before) if !self.preparing.contains_key(&part) => self.prepare(part, before)?,
                _ => self.start_node(part, &nodes[part])?,
            }
        }
        Ok(())
    }

    /// Starts the command that prepares a node. It is no process of the cluster, and its output goes to files of its own.
    fn prepare(&mut self, part: usize, before: &CommandLine) -> Result<(), LabError> {
        let node = &self.stage.workload.node[part];
        let path = |from: Output| self.stage.directory.join(before_log(&node.name, from));
        let file = |path: PathBuf| {
            File::create(&path)
                .map(OwnedFd::from)
                .map_err(|source| LabError::File { path: path.display().to_string(), source })
        };
        let (stdout, stderr) = (file(path(Output::Stdout))?, file(path(Output::Stderr))?);
        let stdin = File::open("/dev/null")
            .map_err(|source| LabError::File { path: "/dev/null".to_owned(), source })?;
        let (command, variables) = (self.words(before)?, self.variables(&node.env));
        let directory = self.directory_of(node.directory.as_deref());
        let spawn = Spawn { command: &command, variables: &variables, directory: &directory };
        let id = self.stage.keeper.spawn(&spawn, stdin.into(), stdout, stderr)?;
        self.stage.observer.event(&node.name, "is prepared");
        self.asides.insert(id, Aside::Before(part));
        self.preparing.insert(part, Preparing::Running);
        Ok(())
    }

    /// A node whose preparation is not over.
    fn is_preparing(&self) -> Option<usize> {
        self.preparing.iter().find(|(_, it)| **it == Preparing::Running).map(|(&part, _)| part)
    }

    fn say_not_prepared(&mut self, part: usize, what: &str) {
        let node = &self.stage.workload.node[part];
        let before = node.before.as_ref().map_or("", |it| it.0.as_str());
        let logs = [Output::Stdout, Output::Stderr].map(|from| before_log(&node.name, from));
        let what =
            format!("its `before` {what}, so it was not started: `{before}`{}", self.last_line_of(&logs));
        self.problem(&node.name, what);
    }
}

/// The file that has the output of the command that prepares a node, in the trial's directory.
fn before_log(node: &str, from: Output) -> String {
    format!("logs/{node}.before.{}.log", from.name())
}
