//! The tables were computed with Python 3, numpy 2.4.6 and scipy 1.17.1; numbers are rounded to 8 digits:
//!
//! ```python
//! import numpy as np
//! from scipy.cluster.hierarchy import linkage, fcluster
//! from scipy.spatial.distance import pdist
//! rng = np.random.default_rng(seed)                  # 4 for the first table, 5 for the second
//! kinds = [[0, 1, 2], [3, 4], [4, 5, 6]]          # consequences of three kinds of faults
//! runs = []                                       # (fault, test, consequences)
//! for fault in range(12):
//!     for test in sorted(rng.choice(9, rng.integers(1, 4), replace=False)):
//!         tokens = {t for t in kinds[fault % 3] if rng.random() < 0.9} | {t for t in range(7, 10) if rng.random() < 0.15}
//!         runs.append((fault, int(test), sorted(tokens) if fault % 6 != 5 else []))
//! N = len(runs)
//! idf = np.array([np.log((1 + N) / (1 + sum(t in r[2] for r in runs))) for t in range(10)])
//! def vector(tokens):
//!     v = np.zeros(10); v[sorted(tokens)] = idf[sorted(tokens)]
//!     return v / np.linalg.norm(v) if v.any() else v
//! unions = {f: set().union(*(r[2] for r in runs if r[0] == f)) for f in range(12)}
//! faults = [f for f in unions if vector(unions[f]).any()]
//! distances = pdist(np.array([vector(unions[f]) for f in faults]), "cosine")
//! tree = linkage(distances, "average")
//! ends = np.concatenate([[0], tree[:, 2], [1]])
//! cut = ends[np.argmax(np.diff(ends))]
//! labels = fcluster(tree, cut + 1e-9, "distance")
//! clusters = sorted([f for f, l in zip(faults, labels) if l == label] for label in set(labels))
//! clusters.append([f for f in unions if f not in faults])
//! def similarity(a, b):
//!     if not a.any() or not b.any(): return float(not a.any() and not b.any())
//!     return 1 - pdist(np.array([a, b]), "cosine")[0]
//! def score(cluster):
//!     v = [vector(r[2]) for r in runs if r[0] in cluster]
//!     pairs = [similarity(v[i], v[j]) for i in range(len(v)) for j in range(i)]
//!     return np.mean(pairs) if pairs else 1.0
//! # runs; idf; distances; tree[:, 2]; clusters; [score(it) for it in clusters]
//! ```

use super::*;
use proptest::prelude::*;

struct Table {
    /// Faults, tests and consequences.
    experiments: Vec<(FaultNo, TestNo, Vec<Token>)>,
    /// Weights of the consequences from 0.
    idf: Vec<f64>,
    distances: Vec<f64>,
    heights: Vec<f64>,
    /// Faults and score; the last are those without an effect.
    clusters: Vec<(Vec<FaultNo>, f64)>,
}

fn tables() -> [Table; 2] {
    [
        Table {
            experiments: vec![
                (0, 4, vec![0, 1, 2]),
                (0, 6, vec![0, 2]),
                (0, 7, vec![0]),
                (1, 1, vec![3, 4]),
                (1, 7, vec![3, 4]),
                (2, 0, vec![5, 6]),
                (2, 4, vec![4, 5, 6]),
                (3, 1, vec![0, 1]),
                (3, 6, vec![0, 1]),
                (3, 7, vec![1, 2, 8]),
                (4, 1, vec![3, 4]),
                (4, 6, vec![3, 4, 9]),
                (4, 8, vec![3, 4]),
                (5, 3, vec![]),
                (5, 4, vec![]),
                (5, 5, vec![]),
                (6, 6, vec![0, 1, 2]),
                (7, 6, vec![3, 4]),
                (7, 8, vec![3, 4]),
                (8, 3, vec![4, 5]),
                (8, 5, vec![4, 5, 6, 7]),
                (8, 8, vec![5, 6]),
                (9, 7, vec![0, 1, 2]),
                (10, 0, vec![4]),
                (10, 6, vec![3, 4]),
                (11, 2, vec![]),
                (11, 5, vec![]),
            ],
            idf: vec![
                1.25276297, 1.38629436, 1.54044504, 1.13497993, 0.76725515, 1.54044504, 1.7227666,
                2.63905733, 2.63905733, 2.63905733,
            ],
            distances: vec![
                1.0, 1.0, 0.32390001, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.82353773, 1.0, 0.53926271, 1.0, 0.0,
                0.88033518, 1.0, 0.0, 1.0, 0.91869725, 1.0, 0.82353773, 0.32186739, 1.0, 0.82353773, 1.0,
                0.32390001, 1.0, 1.0, 0.32390001, 1.0, 1.0, 0.53926271, 0.94486595, 1.0, 0.53926271, 1.0,
                1.0, 0.0, 1.0, 0.88033518, 1.0, 0.0, 1.0, 0.88033518, 1.0,
            ],
            heights: vec![0.0, 0.0, 0.0, 0.0, 0.32186739, 0.32390001, 0.53926271, 0.87189774, 1.0],
            clusters: vec![
                (vec![0, 3, 6, 9], 0.64335931),
                (vec![1, 4, 7, 10], 0.78898663),
                (vec![2, 8], 0.72427287),
                (vec![5, 11], 1.0),
            ],
        },
        Table {
            experiments: vec![
                (0, 0, vec![0, 1, 2, 8, 9]),
                (0, 5, vec![1, 2]),
                (0, 7, vec![0, 1, 2, 8]),
                (1, 1, vec![3, 4]),
                (1, 2, vec![3, 4, 7]),
                (1, 7, vec![3, 4, 9]),
                (2, 6, vec![4, 5, 6]),
                (3, 4, vec![0, 1, 7]),
                (4, 3, vec![3, 4]),
                (4, 5, vec![3, 4, 8]),
                (4, 6, vec![3, 4]),
                (5, 7, vec![]),
                (6, 1, vec![0, 1, 2]),
                (6, 6, vec![0, 1, 2]),
                (7, 5, vec![4]),
                (7, 7, vec![3, 4, 8]),
                (8, 1, vec![4, 5, 6, 8, 9]),
                (8, 4, vec![4, 5]),
                (8, 8, vec![4, 5, 6]),
                (9, 4, vec![0, 1, 2, 7]),
                (9, 5, vec![0, 1, 2]),
                (9, 8, vec![0, 1, 2]),
                (10, 3, vec![3, 4]),
                (11, 2, vec![]),
                (11, 3, vec![]),
                (11, 5, vec![]),
            ],
            idf: vec![
                1.09861229, 0.99325177, 1.09861229, 1.09861229, 0.65677954, 1.68639895, 1.9095425, 1.9095425,
                1.5040774, 1.9095425,
            ],
            distances: vec![
                0.6000961, 1.0, 0.70250221, 0.62457395, 0.39561266, 0.62457395, 0.45935224, 0.58015653, 1.0,
                0.94513645, 0.49509762, 0.72242398, 1.0, 0.72242398, 0.61906706, 0.54036581, 0.57170062, 1.0,
                0.91698225, 1.0, 0.91698225, 0.26550764, 1.0, 0.87190373, 1.0, 0.50776966, 1.0, 1.0,
                0.08965731, 1.0, 1.0, 0.0, 0.61923812, 1.0, 0.35191123, 1.0, 1.0, 0.30534039, 1.0,
                0.61923812, 1.0, 0.35191123, 1.0, 0.90591427, 1.0,
            ],
            heights: vec![
                0.0, 0.08965731, 0.26550764, 0.35191123, 0.39561266, 0.51773171, 0.61597748, 0.80837646,
                0.89157009,
            ],
            clusters: vec![
                (vec![0, 1, 3, 6, 9], 0.42338632),
                (vec![2, 8], 0.72500365),
                (vec![4, 7, 10], 0.67286678),
                (vec![5, 11], 1.0),
            ],
        },
    ]
}

fn experiments(list: &[(FaultNo, TestNo, Vec<Token>)]) -> Experiments {
    list.iter().map(|(fault, test, tokens)| ((*fault, *test), tokens.iter().copied().collect())).collect()
}

/// One experiment for each fault, numbered from 0.
fn one_each(tokens: &[&[Token]]) -> Experiments {
    let numbered = (0..).zip(tokens);
    numbered.map(|(fault, tokens)| ((fault, 0), tokens.iter().copied().collect())).collect()
}

fn clustered(experiments: &Experiments) -> Vec<Vec<FaultNo>> {
    let clusters = Clusters::new(experiments).expect("there are few");
    clusters.list().iter().map(|it| it.faults.clone()).collect()
}

/// Vectors of the faults that have an effect.
fn vectors(experiments: &Experiments) -> Vec<Vector> {
    let idf = Idf::new(experiments);
    let mut of_fault: BTreeMap<FaultNo, BTreeSet<Token>> = BTreeMap::new();
    for ((fault, _), tokens) in experiments {
        of_fault.entry(*fault).or_default().extend(tokens);
    }
    of_fault.values().map(|it| idf.vector(it)).filter(|it| !it.is_empty()).collect()
}

#[track_caller]
fn are_near(found: impl IntoIterator<Item = f64>, expected: &[f64], within: f64) {
    let found: Vec<f64> = found.into_iter().collect();
    assert_eq!(found.len(), expected.len());
    for (at, (one, other)) in found.iter().zip(expected).enumerate() {
        assert!((one - other).abs() <= within, "{at}: {one}, not {other}");
    }
}

#[test]
fn weights_are_those_of_numpy() {
    for table in tables() {
        let idf = Idf::new(&experiments(&table.experiments));
        are_near((0..10).map(|it| idf.weight(it)), &table.idf, 1e-8);
    }
}

#[test]
fn distances_and_heights_are_those_of_scipy() {
    for table in tables() {
        let vectors = vectors(&experiments(&table.experiments));
        are_near(distances(&vectors).into_iter().map(f64::from), &table.distances, 1e-6);
        are_near(tree(&vectors).steps().iter().map(|it| f64::from(it.dissimilarity)), &table.heights, 1e-6);
    }
}

#[test]
fn clusters_and_scores_are_those_of_scipy() {
    for table in tables() {
        let clusters = Clusters::new(&experiments(&table.experiments)).expect("there are few");
        let faults: Vec<&Vec<FaultNo>> = clusters.list().iter().map(|it| &it.faults).collect();
        assert_eq!(faults, table.clusters.iter().map(|it| &it.0).collect::<Vec<_>>());
        let scores: Vec<f64> = table.clusters.iter().map(|it| it.1).collect();
        are_near(clusters.list().iter().map(|it| it.score), &scores, 1e-8);
        let last = clusters.list().len() - 1;
        for (at, cluster) in clusters.list().iter().enumerate() {
            assert_eq!(cluster.has_effect, at != last);
            let is_member = |it: &&(FaultNo, TestNo, Vec<Token>)| cluster.faults.contains(&it.0);
            assert_eq!(cluster.experiments, table.experiments.iter().filter(is_member).count());
            for fault in &cluster.faults {
                assert_eq!(clusters.index_of(*fault), Some(at));
                assert_eq!(clusters.scores()[fault], cluster.score);
            }
        }
        assert_eq!(clusters.scores().len(), 12);
        assert_eq!(clusters.index_of(12), None);
    }
}

#[test]
fn a_consequence_of_every_experiment_weighs_nothing() {
    let all = one_each(&[&[1, 2], &[1, 2], &[1]]);
    let idf = Idf::new(&all);
    assert_eq!((idf.weight(1), idf.weight(2)), (0.0, (4.0_f64 / 3.0).ln()));
    assert_eq!(idf.vector(&[1, 2].into()), [(2, 1.0)]);
    assert_eq!(clustered(&all), [vec![0, 1], vec![2]]);
    assert!(!Clusters::new(&all).expect("there are few").list()[1].has_effect);
}

#[test]
fn the_cut_is_in_the_largest_gap() {
    for (heights, expected) in [
        (&[][..], 0.0),
        // Two faults: together below one half.
        (&[0.49], 0.49),
        (&[0.51], 0.0),
        // A tie goes to more clusters.
        (&[0.5], 0.0),
        (&[0.25, 0.25, 0.625, 0.625], 0.25),
        (&[0.2, 0.4, 0.6, 0.8], 0.0),
        // Rounding is no gap.
        (&[0.2, 0.400_001, 0.6, 0.8], 0.0),
        // All distances equal.
        (&[0.3, 0.3, 0.3], 0.3),
        (&[0.7, 0.7, 0.7], 0.0),
        (&[0.0, 0.0, 0.0], 0.0),
        (&[1.0, 1.0, 1.0], 0.0),
        // The ordinary case.
        (&[0.0, 0.0, 0.1, 0.2, 0.8, 1.0], 0.2),
        (&[0.0, 0.7, 0.75, 0.8, 0.85], 0.0),
    ] {
        assert_eq!(cut(heights.iter().copied()), expected, "{heights:?}");
    }
}

#[test]
fn a_few_faults_are_clustered() {
    for (tokens, expected) in [
        (&[][..], vec![]),
        (&[&[][..]], vec![vec![0]]),
        // One experiment: its consequences are those of every experiment.
        (&[&[1]], vec![vec![0]]),
        (&[&[], &[]], vec![vec![0, 1]]),
        (&[&[1], &[2]], vec![vec![0], vec![1]]),
        (&[&[1], &[]], vec![vec![0], vec![1]]),
        (&[&[], &[1]], vec![vec![1], vec![0]]),
        (&[&[1], &[2], &[1], &[2], &[3]], vec![vec![0, 2], vec![1, 3], vec![4]]),
        // All distances equal: each has something of its own besides what all but one have.
        (
            &[&[1, 2, 9], &[1, 3, 9], &[1, 4, 9], &[8], &[7], &[6]],
            vec![vec![0], vec![1], vec![2], vec![3], vec![4], vec![5]],
        ),
    ] {
        assert_eq!(clustered(&one_each(tokens)), expected, "{tokens:?}");
    }
}

#[test]
fn many_equal_distances_do_not_depend_on_rounding() {
    // Pairs of faults have a distance of d each, with d below and above one half: all together, or all apart.
    for (common, own, together) in [(0..40, 1, true), (0..2, 9, false)] {
        let of = |fault: u32| common.clone().chain((0..own).map(move |it| 1000 + fault * own + it)).collect();
        let mut all: Experiments = (0..97).map(|fault| ((fault, 0), of(fault))).collect();
        all.extend((97..400).map(|fault| ((fault, 0), BTreeSet::new())));
        let list = clustered(&all);
        assert_eq!(list.len(), if together { 2 } else { 98 }, "{list:?}");
    }
}

#[test]
fn a_score_compares_experiments_of_one_fault_too() {
    for (list, expected) in [
        // Alike, and unlike. The other fault gives the consequences a weight.
        (vec![(0, 0, vec![1]), (0, 1, vec![1]), (1, 0, vec![])], 1.0),
        (vec![(0, 0, vec![1]), (0, 1, vec![2]), (1, 0, vec![])], 0.0),
        (vec![(0, 0, vec![1]), (0, 1, vec![]), (1, 0, vec![])], 0.0),
        // One of three pairs is alike, of effects and of none.
        (vec![(0, 0, vec![1]), (0, 1, vec![1]), (0, 2, vec![2]), (1, 0, vec![])], 1.0 / 3.0),
        (vec![(0, 0, vec![1]), (0, 1, vec![]), (0, 2, vec![]), (1, 0, vec![])], 1.0 / 3.0),
        // A single experiment.
        (vec![(0, 0, vec![1]), (1, 0, vec![])], 1.0),
    ] {
        let clusters = Clusters::new(&experiments(&list)).expect("there are few");
        are_near([clusters.scores()[&0], clusters.scores()[&1]], &[expected, 1.0], 1e-12);
    }
}

#[test]
fn too_many_faults_are_refused() {
    let effects = |faults: usize| -> Experiments {
        (0..faults as u32).map(|it| ((it, 0), BTreeSet::from([it]))).collect()
    };
    let error = Clusters::new(&effects(FAULTS_MAX + 1)).expect_err("they are too many");
    assert_eq!(error, TooManyFaults { faults: FAULTS_MAX + 1 });
    assert_eq!(error.to_string(), "20001 faults cannot be clustered: use at most 20000");
    // Those without an effect need no distances.
    let none: Experiments = (0..FAULTS_MAX as u32 + 1).map(|it| ((it, 0), BTreeSet::new())).collect();
    assert_eq!(clustered(&none).len(), 1);
}

fn any_experiments() -> impl Strategy<Value = Experiments> {
    let tokens = prop::collection::btree_set(0_u32..8, 0..5);
    prop::collection::btree_map((0_u32..12, 0_u32..4), tokens, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_fault_is_in_one_cluster(all in any_experiments()) {
        let clusters = Clusters::new(&all).expect("there are few");
        let mut members: Vec<FaultNo> = clusters.list().iter().flat_map(|it| it.faults.clone()).collect();
        members.sort_unstable();
        let faults: BTreeSet<FaultNo> = all.keys().map(|it| it.0).collect();
        prop_assert_eq!(members, faults.into_iter().collect::<Vec<_>>());
        prop_assert!(clusters.list().iter().all(|it| (0.0..=1.0).contains(&it.score)));
        prop_assert_eq!(clusters.list().iter().map(|it| it.experiments).sum::<usize>(), all.len());
    }

    #[test]
    fn equal_consequences_are_together_and_those_without_effect_apart(all in any_experiments()) {
        let idf = Idf::new(&all);
        let clusters = Clusters::new(&all).expect("there are few");
        let vector = |fault: FaultNo| {
            let of = all.range((fault, 0)..=(fault, u32::MAX));
            idf.vector(&of.flat_map(|it| it.1).copied().collect())
        };
        for one in 0..12 {
            for other in one + 1..12 {
                let (Some(a), Some(b)) = (clusters.index_of(one), clusters.index_of(other)) else { continue };
                let (v, w) = (vector(one), vector(other));
                if v == w {
                    prop_assert_eq!(a, b);
                }
                if v.is_empty() != w.is_empty() {
                    prop_assert_ne!(a, b);
                }
                let is_empty = |it: usize| !clusters.list()[it].has_effect;
                prop_assert_eq!((is_empty(a), is_empty(b)), (v.is_empty(), w.is_empty()));
            }
        }
    }

    #[test]
    fn a_score_is_the_mean_over_all_pairs(all in any_experiments()) {
        let idf = Idf::new(&all);
        let similarity = |one: &Vector, other: &Vector| match (one.is_empty(), other.is_empty()) {
            (true, true) => 1.0,
            _ => one.iter().flat_map(|a| other.iter().filter(|b| a.0 == b.0).map(|b| a.1 * b.1)).sum::<f64>(),
        };
        for cluster in Clusters::new(&all).expect("there are few").list() {
            let of_cluster = all.iter().filter(|it| cluster.faults.contains(&it.0.0));
            let vectors: Vec<Vector> = of_cluster.map(|it| idf.vector(it.1)).collect();
            let pairs: Vec<f64> = (0..vectors.len())
                .flat_map(|a| (0..a).map(move |b| (a, b)))
                .map(|(a, b)| similarity(&vectors[a], &vectors[b]))
                .collect();
            let mean = if pairs.is_empty() { 1.0 } else { pairs.iter().sum::<f64>() / pairs.len() as f64 };
            prop_assert!((cluster.score - mean).abs() < 1e-9, "{} {}", cluster.score, mean);
        }
    }
}
