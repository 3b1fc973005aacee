//! Points at which faults can feed each other, as a list.

use std::collections::BTreeMap;

use hypocenter_plan::Site;
use hypocenter_program::{LeftOut, Point, PointKind, Points, Program};
use serde::Serialize;

use super::coding::{Coded, Decoder, Word, Writer, coded};
use super::lists::{CodePlace, Row, place_of_method, reason_name};
use crate::screen::{quoted, thousands};

/// The points, and the branches that tell their conditions apart.
#[derive(Debug, Serialize)]
pub struct PointList {
    branches: u32,
    /// Points that may matter, by kind.
    counts: BTreeMap<Word, u32>,
    /// Points that hardly matter, by kind and reason.
    left_out: BTreeMap<Word, BTreeMap<Word, u32>>,
    pub items: Vec<PointItem>,
}

/// A point.
#[derive(Debug, Serialize)]
pub struct PointItem {
    kind: Word,
    #[serde(flatten)]
    pub place: CodePlace,
    /// The class that is thrown.
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<String>,
    /// False for what is thrown whenever the method is called.
    is_guarded: bool,
    /// Why it hardly matters.
    pub left_out: Option<Word>,
    /// The sites at which its fault is injected.
    inject: Vec<Site>,
    /// The sites at which it is seen when it happens by itself.
    observe: Vec<Site>,
}

coded! {
    PointItem { kind, place, exception, is_guarded, left_out, inject, observe }
}

// The counts follow from the items.
impl Coded for PointList {
    fn write(&self, to: &mut Writer) {
        self.branches.write(to);
        self.items.write(to);
    }

    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        let branches = u32::read(from)?;
        Some(PointList::new(branches, Vec::read(from)?))
    }
}

impl PointList {
    /// All points of a program.
    pub fn of(program: &Program) -> PointList {
        let points = Points::of(program);
        let items = points.all().iter().map(|it| PointItem::of(program, it)).collect();
        PointList::new(points.branches(), items)
    }

    fn new(branches: u32, items: Vec<PointItem>) -> PointList {
        let mut list = PointList { branches, counts: BTreeMap::new(), left_out: BTreeMap::new(), items };
        for it in &list.items {
            let count = match &it.left_out {
                Some(why) => {
                    list.left_out.entry(it.kind.clone()).or_default().entry(why.clone()).or_default()
                }
                None => list.counts.entry(it.kind.clone()).or_default(),
            };
            *count += 1;
        }
        list
    }

    /// The same list with these items alone. The counts stay: they are of the whole system.
    pub fn narrowed(mut self, takes: impl Fn(&PointItem) -> bool) -> PointList {
        self.items.retain(takes);
        self
    }

    /// Lines above the items: what there is, and what was left out.
    pub fn totals(&self) -> Vec<Row> {
        let number = |it: u32| thousands(it.into());
        let row = |kind: &str, count: u32, left_out: Option<&BTreeMap<Word, u32>>| {
            let parts =
                left_out.into_iter().flatten().map(|(why, count)| format!("{} {why}", number(*count)));
            let parts: Vec<String> = parts.collect();
            let left_out =
                if parts.is_empty() { String::new() } else { format!("left out: {}", parts.join(", ")) };
            (vec![kind.to_owned(), number(count), left_out], Vec::new())
        };
        let kinds = ["loop", "throw", "library", "detector"];
        let of_kind = |it: &&str| row(it, self.counts.get(*it).copied().unwrap_or(0), self.left_out.get(*it));
        let mut rows: Vec<Row> = kinds.iter().map(of_kind).collect();
        rows.push(row("branch", self.branches, None));
        rows
    }
}

impl PointItem {
    fn of(program: &Program, it: &Point) -> PointItem {
        let (kind, exception, is_guarded) = match it.kind {
            PointKind::Throw { class, is_guarded } => ("throw", Some(class), is_guarded),
            PointKind::Library { class, .. } => ("library", Some(class), true),
            PointKind::Loop(_) => ("loop", None, true),
            PointKind::Detector => ("detector", None, true),
        };
        PointItem {
            kind: kind.into(),
            place: place_of_method(&program.world, it.method, it.line),
            exception: exception.map(|it| program.world.show_type(it)),
            is_guarded,
            left_out: it.left_out.map(|it| left_out_name(it).into()),
            inject: it.inject.clone(),
            observe: it.observe.clone(),
        }
    }

    pub fn row(&self) -> Row {
        let mut notes = Vec::new();
        if !self.is_guarded {
            notes.push("no branch guards it: injected at the entry of its method".to_owned());
        }
        notes.extend(self.left_out.iter().map(|it| format!("left out: {it}")));
        let callee = self.inject.first().and_then(|it| it.callee.as_deref());
        let what = self.exception.as_deref().or(callee).unwrap_or_default();
        (
            vec![self.kind.to_string(), quoted(&self.place.show()), what.to_owned(), notes.join(", ")],
            Vec::new(),
        )
    }
}

/// The word for why a point hardly matters.
fn left_out_name(it: LeftOut) -> &'static str {
    match it {
        LeftOut::Detector(why) => reason_name(why),
        _ => it.name(),
    }
}
