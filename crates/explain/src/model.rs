//! The part of a program that can matter to a symptom: the methods of its static slice, and the sites that record their runs.

use std::collections::BTreeSet;

use hypocenter_plan::Site;
use hypocenter_program::{Act, MethodId, Outline, Program, Slice, SliceLimits};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// An instruction, by the index of its method in the model and by its number there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodePlace {
    /// The method.
    pub method: u32,
    /// The instruction.
    pub instruction: u32,
}

/// The methods that can matter to a symptom.
#[derive(Debug, Default)]
pub struct SliceModel {
    methods: Vec<Outline>,
    numbers: FxHashMap<MethodId, u32>,
    /// The first instructions of the symptom.
    symptom: Vec<CodePlace>,
    points: u64,
    is_complete: bool,
}

impl SliceModel {
    /// The static slice of some instructions up to a distance. Methods of `drivers` are left out: they are the steps of a workload, and differ
    /// between workloads that do the same to the system.
    pub fn of(
        program: &Program,
        symptom: &[(MethodId, u16)],
        distance_max: u32,
        drivers: &BTreeSet<String>,
    ) -> SliceModel {
        let causes = program.causes();
        let limits = SliceLimits { distance_max, aborts: false, ..SliceLimits::default() };
        let slice = Slice::backward(causes, symptom, limits);
        let is_driver = |it: MethodId| {
            let class = program.world.show_type(program.world.method(it).owner);
            drivers.contains(class.split('$').next().unwrap_or(&class))
        };
        let mut ids: Vec<MethodId> = slice.points().iter().map(|it| it.method).collect();
        ids.dedup();
        ids.retain(|&it| !is_driver(it));
        let outlines: Vec<(MethodId, Outline)> =
            ids.par_iter().filter_map(|&it| Some((it, Outline::of(causes, it)?))).collect();
        let model = SliceModel::with(outlines, symptom.iter().map(|it| (it.0, u32::from(it.1))));
        SliceModel { points: slice.points().len() as u64, is_complete: slice.is_complete(), ..model }
    }

    /// A model of these methods.
    pub fn with(
        outlines: Vec<(MethodId, Outline)>,
        symptom: impl Iterator<Item = (MethodId, u32)>,
    ) -> SliceModel {
        let numbers: FxHashMap<MethodId, u32> = outlines.iter().map(|it| it.0).zip(0..).collect();
        let place = |(method, instruction): (MethodId, u32)| {
            Some(CodePlace { method: *numbers.get(&method)?, instruction })
        };
        SliceModel {
            symptom: symptom.filter_map(place).collect(),
            methods: outlines.into_iter().map(|it| it.1).collect(),
            numbers,
            points: 0,
            is_complete: true,
        }
    }

    /// The methods.
    pub fn methods(&self) -> &[Outline] {
        &self.methods
    }

    /// A method by its index.
    pub(crate) fn method(&self, index: u32) -> &Outline {
        &self.methods[index as usize]
    }

    /// Index of a method of the program.
    pub(crate) fn number(&self, method: MethodId) -> Option<u32> {
        self.numbers.get(&method).copied()
    }

    /// Places of the symptom.
    pub fn symptom(&self) -> &[CodePlace] {
        &self.symptom
    }

    /// Number of points of the static slice.
    pub fn points(&self) -> u64 {
        self.points
    }

    /// True if the static slice ends by itself, and not at its distance.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The sites that are recorded with objects and values, or those without.
    pub fn sites(&self, with_values: bool) -> impl Iterator<Item = &Site> {
        let all = self.methods.iter().flat_map(|it| &it.sites);
        all.filter(move |it| it.1.has_values() == with_values).map(|it| &it.0)
    }

    /// The act of an instruction.
    pub(crate) fn act(&self, place: CodePlace) -> &Act {
        &self.method(place.method).steps[place.instruction as usize].act
    }
}
