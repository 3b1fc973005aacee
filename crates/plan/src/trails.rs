//! Where threads are: in which calls, loops and iterations, and by which branches they came there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Site;

/// A method by its full name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MethodName {
    /// The class, with dots.
    pub class: String,
    /// The method.
    pub method: String,
    /// Its descriptor, as in the class file.
    pub descriptor: String,
}

impl MethodName {
    /// The method that a site is in.
    pub fn of(site: &Site) -> MethodName {
        let Site { class, method, descriptor, .. } = site;
        MethodName { class: class.clone(), method: method.clone(), descriptor: descriptor.clone() }
    }
}

/// What the agent follows of the way of each thread. Events then name their calling context.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trails {
    /// The methods whose calls are followed: those that can reach what is of interest.
    pub methods: Vec<MethodName>,
    /// Whether each run of a loop of these methods is recorded, with its iterations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loops: bool,
    /// Whether the iterations of these loops are counted by calling context.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loop_counts: bool,
    /// With this, each new sequence of branches in an iteration of a loop is recorded once, and those of a method that no loop is around
    /// likewise. Branches of called methods belong to the iteration, so many calls deep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_depth: Option<u32>,
    /// Sites of these methods at which the way there is told: the branches of the iteration, or of the call, up to the site, each that is new
    /// in its context once. The value that the site sees, such as that of a boolean return, is the last of them. A fault that is injected at
    /// such a site names its way. A site of kind `entry` marks where its call begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<Site>,
}

impl Trails {
    /// Follows all that others follow, too.
    pub(crate) fn add(&mut self, others: &Trails) {
        self.methods.extend(others.methods.iter().cloned());
        self.points.extend(others.points.iter().cloned());
        self.loops |= others.loops;
        self.loop_counts |= others.loop_counts;
        self.path_depth = self.path_depth.max(others.path_depth);
    }

    /// Whether loops are followed; paths are those of their iterations.
    pub fn has_loops(&self) -> bool {
        self.loops || self.loop_counts || self.path_depth.is_some()
    }
}
