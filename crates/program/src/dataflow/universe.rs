//! All exceptions that the analysis of one program can meet, as bits: sets of them are joined and divided by words.

use rustc_hash::FxHashMap;

use crate::dataflow::exceptions::{Exception, narrow};
use crate::facts::known;
use crate::loading::world::{Origin, TypeId, World};

/// All exceptions, numbered in their order.
pub(crate) struct Universe {
    all: Vec<Exception>,
    /// Exceptions that each caught class covers, and those that each class of a cast lets through.
    catches: FxHashMap<TypeId, Sieve>,
    casts: FxHashMap<TypeId, Sieve>,
}

/// Subset of a set of exceptions that a class catches.
pub(crate) struct Sieve {
    /// The exceptions that it takes whole.
    pub whole: Box<[u64]>,
    /// Those of which it takes a part: what is of the class.
    pub part: Box<[u64]>,
    /// The number of that part.
    pub itself: u32,
}

impl Universe {
    /// Of these exceptions, and of those that handlers and casts make of them.
    pub fn of(
        world: &World,
        mut all: Vec<Exception>,
        mut caught: Vec<TypeId>,
        mut cast: Vec<TypeId>,
    ) -> Universe {
        for list in [&mut caught, &mut cast] {
            list.sort_unstable();
            list.dedup();
        }
        all.extend(caught.iter().chain(&cast).map(|&it| Exception::below(it)));
        all.sort_unstable();
        all.dedup();
        let mut universe = Universe { all, catches: FxHashMap::default(), casts: FxHashMap::default() };
        let catches = caught.into_iter().map(|class| {
            let is_general = known::is_general(world.type_name(class));
            let takes = |it: Exception| {
                let is_phantom = world.get(it.class()).origin == Origin::Phantom;
                // What extends what is not known, but everything that can be thrown is one of these.
                world.is_subtype(it.class(), class) || (is_phantom && is_general)
            };
            (class, universe.sieve(world, class, takes))
        });
        let catches = catches.collect();
        let casts = cast.into_iter().map(|class| {
            let takes = |it: Exception| narrow(world, it, Some(class)) == Some(it);
            (class, universe.sieve(world, class, takes))
        });
        let casts = casts.collect();
        universe.catches = catches;
        universe.casts = casts;
        universe
    }

    fn sieve(&self, world: &World, class: TypeId, takes: impl Fn(Exception) -> bool) -> Sieve {
        let (mut whole, mut part) = (self.empty(), self.empty());
        for (at, &it) in self.all.iter().enumerate() {
            if takes(it) {
                whole[at / 64] |= 1 << (at % 64);
            } else if !it.is_exact() && world.is_subtype(class, it.class()) {
                part[at / 64] |= 1 << (at % 64);
            }
        }
        Sieve { whole: whole.into(), part: part.into(), itself: self.number(Exception::below(class)) }
    }

    /// Number of words of a set, at least one.
    pub fn words(&self) -> usize {
        self.all.len().div_ceil(64).max(1)
    }

    /// A set of none.
    pub fn empty(&self) -> Vec<u64> {
        vec![0; self.words()]
    }

    /// The number of an exception, which must be one of these.
    pub fn number(&self, exception: Exception) -> u32 {
        self.all.binary_search(&exception).expect("every exception was collected") as u32
    }

    /// The exceptions of a set, sorted.
    pub fn list<'a>(&'a self, set: &'a [u64]) -> impl Iterator<Item = Exception> + 'a {
        set.iter().enumerate().flat_map(move |(word, &bits)| {
            let bits = std::iter::successors(Some(bits).filter(|&it| it != 0), |&it| {
                Some(it & (it - 1)).filter(|&it| it != 0)
            });
            bits.map(move |it| self.all[word * 64 + it.trailing_zeros() as usize])
        })
    }

    /// Exceptions that a caught class covers.
    pub fn catch(&self, class: TypeId) -> &Sieve {
        &self.catches[&class]
    }

    /// Leaves of a set what passes a cast.
    pub fn narrow(&self, set: &mut [u64], cast: Option<TypeId>) {
        let Some(sieve) = cast.map(|it| &self.casts[&it]) else { return };
        let mut has_part = false;
        for (word, (whole, part)) in set.iter_mut().zip(sieve.whole.iter().zip(&sieve.part)) {
            has_part |= *word & part != 0;
            *word &= whole;
        }
        if has_part {
            insert(set, sieve.itself);
        }
    }
}

/// Adds an exception to a set.
pub(crate) fn insert(set: &mut [u64], number: u32) {
    set[number as usize / 64] |= 1 << (number % 64);
}

/// Adds one set to another, and says whether there was something new.
pub(crate) fn join(set: &mut [u64], other: &[u64]) -> bool {
    let mut new = 0;
    for (word, &other) in set.iter_mut().zip(other) {
        new |= other & !*word;
        *word |= other;
    }
    new != 0
}
