//! `cargo xtask eval NAME`: one file an evaluation.

mod bugs;
pub mod campaign;
mod cascade;
mod cases;
mod cluster;
mod corpus;
mod cost;
mod demo;
mod emission;
mod exact;
mod explore;
mod force;
mod hdfs;
mod jacoco;
mod jit;
mod lab;
mod logs;
mod newcomer;
mod play;
mod predict;
mod reproduce;
mod results;
mod scan;
mod surefire;
mod targets;
mod unit_tests;
mod zookeeper;

use std::path::PathBuf;

use clap::Subcommand;

use crate::failure::Result;
use crate::{Verdict, root};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct EvalArgs {
    #[command(flatten)]
    all: results::AllArgs,
    #[command(subcommand)]
    one: Option<Eval>,
}

impl EvalArgs {
    pub fn run(&self) -> Result<Verdict> {
        match &self.one {
            Some(one) => one.run(),
            None => results::run(&self.all),
        }
    }
}

#[derive(Debug, Subcommand)]
enum Eval {
    Cluster(cluster::ClusterArgs),
    Force(force::ForceArgs),
    Jacoco(jacoco::JacocoArgs),
    Jit(jit::JitArgs),
    Surefire(surefire::SurefireArgs),
    UnitTests(unit_tests::UnitTestsArgs),
    Corpus(corpus::CorpusArgs),
    Exact(exact::ExactArgs),
    Explore(explore::ExploreArgs),
    Lab(lab::LabArgs),
    Newcomer(newcomer::NewcomerArgs),
    Logs(logs::LogsArgs),
    Play(play::PlayArgs),
    Predict(predict::PredictArgs),
    Scan(scan::ScanArgs),
    Targets(targets::TargetsArgs),
    Bugs(bugs::BugsArgs),
    Cascade(cascade::CascadeArgs),
    Cases(cases::CasesArgs),
    Cost(cost::CostArgs),
    Demo(demo::DemoArgs),
    Emission(emission::EmissionArgs),
    #[command(name = "hdfs-341")]
    Hdfs341(hdfs::HdfsArgs),
    #[command(name = "hdfs-14333")]
    Hdfs14333(reproduce::ReproduceArgs),
    #[command(name = "zookeeper-2247")]
    ZooKeeper2247(reproduce::ReproduceArgs),
    #[command(name = "zookeeper-3157")]
    ZooKeeper3157(reproduce::ReproduceArgs),
    #[command(name = "zookeeper-4203")]
    ZooKeeper4203(reproduce::ReproduceArgs),
}

impl Eval {
    fn run(&self) -> Result<Verdict> {
        match self {
            Eval::Cluster(args) => cluster::run(args),
            Eval::Force(args) => force::run(args),
            Eval::Jacoco(args) => jacoco::run(args),
            Eval::Jit(args) => jit::run(args),
            Eval::Surefire(args) => surefire::run(args),
            Eval::UnitTests(args) => unit_tests::run(args),
            Eval::Corpus(args) => corpus::run(args),
            Eval::Exact(args) => exact::run(args),
            Eval::Explore(args) => explore::run(args),
            Eval::Lab(args) => lab::run(args),
            Eval::Newcomer(args) => newcomer::run(args),
            Eval::Logs(args) => logs::run(args),
            Eval::Play(args) => play::run(args),
            Eval::Predict(args) => predict::run(args),
            Eval::Scan(args) => scan::run(args),
            Eval::Targets(args) => targets::run(args),
            Eval::Bugs(args) => bugs::run(args),
            Eval::Cascade(args) => cascade::run(args),
            Eval::Cases(args) => cases::run(args),
            Eval::Cost(args) => cost::run(args),
            Eval::Demo(args) => demo::run(args),
            Eval::Emission(args) => emission::run(args),
            Eval::Hdfs341(args) => hdfs::run(args),
            Eval::Hdfs14333(args) => reproduce::run("hdfs-14333", args),
            Eval::ZooKeeper2247(args) => reproduce::run("zookeeper-2247", args),
            Eval::ZooKeeper3157(args) => reproduce::run("zookeeper-3157", args),
            Eval::ZooKeeper4203(args) => reproduce::run("zookeeper-4203", args),
        }
    }
}

/// Output directory of an evaluation.
pub fn out(name: &str) -> PathBuf {
    root().join("eval/work/out").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_evaluated() {
        let eval = Eval::augment_subcommands(clap::Command::new("eval"));
        for name in crate::case::names().unwrap() {
            assert!(eval.find_subcommand(&name).is_some(), "no `cargo xtask eval {name}`");
        }
    }
}
