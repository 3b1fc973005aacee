//! Clusters of faults with similar consequences (CSNAKE 5.1, 5.2 and A.1).
//!
//! A consequence that most experiments have says little, so each is weighted by how rare it is ([`Idf`]). The vector of a fault has
//! the weights of all consequences that its experiments had. Faults are clustered by cosine distance and average linkage. All faults
//! without an effect are one cluster of their own: without a vector they have no distance to the others.
//!
//! **Cut.** The paper does not say where it cuts the tree of merges. A fixed threshold would have to be tuned for each target, so the cut is
//! in the largest gap between successive merge heights: of all thresholds, those in the widest range give the same clusters. The heights are
//! bracketed by 0 (the same consequences) and 1 (none in common), the ends of the scale. This decides the cases in which heights have no gap
//! between them: two faults, or all distances equal, are one cluster if the distance is below one half, and apart otherwise. Faults with
//! the same consequences are always together, and faults with none in common never merge at a height of 1. Of gaps that are equally wide
//! the lowest is taken, which gives more clusters: a fault among others unlike it is rarely drawn, while a needless cluster costs a few
//! experiments.
//!
//! The cut has a limit: among thousands of faults whose consequences are largely noise, heights fill the scale, and the largest gap is chance.
//! Then each fault may be a cluster, or all of them one, and the allocation is close to a random one.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use kodama::{Dendrogram, Method, linkage};
use rustc_hash::FxHashMap;

/// Number of a fault.
pub type FaultNo = u32;
/// Number of a test.
pub type TestNo = u32;
/// Number of a consequence: an affected fault with the kind of the effect.
pub type Token = u32;
/// Experiments, each a fault injected into a test, with their consequences.
pub type Experiments = BTreeMap<(FaultNo, TestNo), BTreeSet<Token>>;

/// Maximum number of faults that are clustered. Their distances take n(n-1)/2 numbers of 4 bytes: 800 MB for so many.
pub(crate) const FAULTS_MAX: usize = 20_000;

/// Differences between gaps up to this size are rounding. It is below the least width of the largest of [`FAULTS_MAX`] gaps.
const GAP_ROUNDING: f32 = 1e-5;

/// Refusal to cluster more than [`FAULTS_MAX`] faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyFaults {
    /// Number of faults.
    pub faults: usize,
}

impl fmt::Display for TooManyFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} faults cannot be clustered: use at most {FAULTS_MAX}", self.faults)
    }
}

impl Error for TooManyFaults {}

/// A cluster of faults.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Its faults, in ascending order.
    pub faults: Vec<FaultNo>,
    /// Number of experiments with its faults.
    pub experiments: usize,
    /// Mean similarity of the consequences of two different experiments with its faults, from 0 to 1; 1 if there is only one
    /// experiment (`SimScore`, CSNAKE formula 6). Two experiments with one fault are compared too, as in CSNAKE 5.2: the formula leaves
    /// them out, and then a cluster of one fault would have no score.
    pub score: f64,
    /// False for the cluster of faults without an effect.
    pub has_effect: bool,
}

/// All faults of some experiments in clusters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clusters {
    list: Vec<Cluster>,
    of_fault: BTreeMap<FaultNo, usize>,
}

impl Clusters {
    /// Clusters the faults of experiments. Fails if more than [`FAULTS_MAX`] faults have an effect.
    pub fn new(experiments: &Experiments) -> Result<Clusters, TooManyFaults> {
        let idf = Idf::new(experiments);
        let mut consequences: BTreeMap<FaultNo, BTreeSet<Token>> = BTreeMap::new();
        for (&(fault, _), tokens) in experiments {
            consequences.entry(fault).or_default().extend(tokens);
        }
        let (mut faults, mut vectors, mut without_effect) = (Vec::new(), Vec::new(), Vec::new());
        for (fault, tokens) in consequences {
            let vector = idf.vector(&tokens);
            if vector.is_empty() {
                without_effect.push(fault);
            } else {
                faults.push(fault);
                vectors.push(vector);
            }
        }
        if faults.len() > FAULTS_MAX {
            return Err(TooManyFaults { faults: faults.len() });
        }
        let merged = groups(&tree(&vectors), vectors.len());
        let mut members: Vec<(Vec<FaultNo>, bool)> =
            merged.iter().map(|group| (group.iter().map(|&it| faults[it]).collect(), true)).collect();
        if !without_effect.is_empty() {
            members.push((without_effect, false));
        }
        Ok(Clusters::scored(members, experiments, &idf))
    }

    fn scored(members: Vec<(Vec<FaultNo>, bool)>, experiments: &Experiments, idf: &Idf) -> Clusters {
        let numbered = members.iter().enumerate();
        let of_fault: BTreeMap<FaultNo, usize> =
            numbered.flat_map(|(at, it)| it.0.iter().map(move |&fault| (fault, at))).collect();
        let mut sums = vec![Similarity::default(); members.len()];
        for ((fault, _), tokens) in experiments {
            sums[of_fault[fault]].add(&idf.vector(tokens));
        }
        let scored = members.into_iter().zip(sums).map(|((faults, has_effect), sum)| {
            let experiments = sum.with_effect + sum.without_effect;
            Cluster { faults, experiments, score: sum.mean(), has_effect }
        });
        Clusters { list: scored.collect(), of_fault }
    }

    /// The clusters, in ascending order of their first faults; that of the faults without an effect is last.
    pub fn list(&self) -> &[Cluster] {
        &self.list
    }

    /// Index of the cluster of a fault; absent if no experiment had it.
    pub fn index_of(&self, fault: FaultNo) -> Option<usize> {
        self.of_fault.get(&fault).copied()
    }

    /// Score of the cluster of each fault that was in an experiment.
    pub fn scores(&self) -> BTreeMap<FaultNo, f64> {
        self.of_fault.iter().map(|(&fault, &it)| (fault, self.list[it].score)).collect()
    }
}

/// Weights of the dimensions of a vector that are not 0, in ascending order; its length is 1, or it is empty.
type Vector = Vec<(Token, f64)>;

/// Weights of consequences by how rare they are: the inverse document frequency (CSNAKE formula 3).
#[derive(Debug)]
struct Idf {
    /// Number of experiments.
    all: usize,
    /// Number of experiments with each consequence.
    with: FxHashMap<Token, usize>,
}

impl Idf {
    fn new(experiments: &Experiments) -> Idf {
        let mut with: FxHashMap<Token, usize> = FxHashMap::default();
        for token in experiments.values().flatten() {
            *with.entry(*token).or_default() += 1;
        }
        Idf { all: experiments.len(), with }
    }

    /// `log((1 + N) / (1 + N_f))`, formula 3: 0 for a consequence of every experiment.
    fn weight(&self, token: Token) -> f64 {
        let with = self.with.get(&token).copied().unwrap_or(0);
        ((1.0 + self.all as f64) / (1.0 + with as f64)).ln()
    }

    /// Weights divided by their L2 norm, formula 4. Empty without consequences, and where all experiments have the same ones.
    fn vector(&self, tokens: &BTreeSet<Token>) -> Vector {
        let mut vector: Vector = tokens.iter().map(|&it| (it, self.weight(it))).collect();
        vector.retain(|it| it.1 > 0.0);
        let norm = vector.iter().map(|it| it.1 * it.1).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|it| it.1 /= norm);
        vector
    }
}

/// Sum from which the mean similarity of all pairs follows, without looking at each pair: the square of a sum of vectors has the product
/// of each pair twice, besides the square of each vector.
#[derive(Debug, Clone, Default)]
struct Similarity {
    sum: BTreeMap<Token, f64>,
    squares: f64,
    with_effect: usize,
    without_effect: usize,
}

impl Similarity {
    fn add(&mut self, vector: &Vector) {
        if vector.is_empty() {
            self.without_effect += 1;
            return;
        }
        self.with_effect += 1;
        for &(token, weight) in vector {
            *self.sum.entry(token).or_default() += weight;
            self.squares += weight * weight;
        }
    }

    /// Mean over all pairs. Two empty vectors are alike; an empty one is not like any other.
    fn mean(&self) -> f64 {
        let ordered_pairs = |count: usize| count as f64 * count.saturating_sub(1) as f64;
        let pairs = ordered_pairs(self.with_effect + self.without_effect);
        if pairs == 0.0 {
            return 1.0;
        }
        let products = self.sum.values().map(|it| it * it).sum::<f64>() - self.squares;
        ((products + ordered_pairs(self.without_effect)) / pairs).clamp(0.0, 1.0)
    }
}

/// Cosine distances (CSNAKE formula 5) of vectors that are not empty: each with all after it. Vectors with nothing in common have
/// a distance of exactly 1.
fn distances(vectors: &[Vector]) -> Vec<f32> {
    let mut with: FxHashMap<Token, Vec<(usize, f64)>> = FxHashMap::default();
    for (at, vector) in vectors.iter().enumerate() {
        for &(token, weight) in vector {
            with.entry(token).or_default().push((at, weight));
        }
    }
    let count = vectors.len();
    let mut distances = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    let mut products = vec![0.0; count];
    for (at, vector) in vectors.iter().enumerate() {
        products.fill(0.0);
        for (token, weight) in vector {
            let list = &with[token];
            let after = list.partition_point(|it| it.0 <= at);
            list[after..].iter().for_each(|&(other, it)| products[other] += weight * it);
        }
        distances.extend(products[at + 1..].iter().map(|it| (1.0 - it).clamp(0.0, 1.0) as f32));
    }
    distances
}

/// Tree of merges by average linkage.
fn tree(vectors: &[Vector]) -> Dendrogram<f32> {
    linkage(&mut distances(vectors), vectors.len(), Method::Average)
}

/// Height at which a tree is cut: the lower end of the largest gap. Merges up to this height are made.
fn cut(heights: impl Iterator<Item = f32>) -> f32 {
    let (mut lower, mut widest, mut cut) = (0.0, 0.0, 0.0);
    for height in heights.chain([1.0]) {
        if height - lower > widest + GAP_ROUNDING {
            (widest, cut) = (height - lower, lower);
        }
        lower = height.max(lower);
    }
    cut
}

/// Vectors that a tree has together below its cut, in ascending order of the first of each group.
fn groups(tree: &Dendrogram<f32>, vectors: usize) -> Vec<Vec<usize>> {
    let steps = tree.steps();
    let cut = cut(steps.iter().map(|it| it.dissimilarity));
    let mut groups: Vec<Vec<usize>> = (0..vectors).map(|it| vec![it]).collect();
    for step in steps.iter().take_while(|it| it.dissimilarity <= cut) {
        let mut one = std::mem::take(&mut groups[step.cluster1]);
        one.append(&mut groups[step.cluster2]);
        groups.push(one);
    }
    groups.retain(|it| !it.is_empty());
    groups.iter_mut().for_each(|it| it.sort_unstable());
    groups.sort_unstable();
    groups
}

#[cfg(test)]
mod tests;
