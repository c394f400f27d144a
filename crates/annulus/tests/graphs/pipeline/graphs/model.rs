//! What a graph makes of a vector, with a stage that panics or without.

use super::parts::{Fault, Part, fold, mix};

/// The same graph, of a vector.
///
/// At the stage that panics, a message at which it panics is `None`. What was before comes out; what is
/// behind does not. Where the order depends on which thread is faster, there are two bounds.
pub(super) struct Model {
    next: usize,
    fault: Option<Fault>,
    bound: Bound,
    /// Whether both bounds are the same.
    pub(super) is_exact: bool,
    /// Whether the stage panics.
    pub(super) panics: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Bound {
    /// What comes out in any case.
    Least,
    /// What may come out.
    Most,
}

/// What comes out of a model, and whether in this order.
pub(super) struct Modelled {
    pub(super) out: Vec<u64>,
    pub(super) is_ordered: bool,
}

impl Model {
    pub(super) fn new(fault: Option<Fault>, bound: Bound) -> Self {
        Self { next: 0, fault, bound, is_exact: true, panics: false }
    }

    /// What the next stage makes of a message before it does anything else.
    fn stage(&mut self) -> impl Fn(u64) -> Option<u64> + use<> {
        let fault = self.fault.filter(|fault| fault.stage == self.next);
        self.next += 1;
        move |x| fault.is_none_or(|fault| x % 16 != fault.at % 16).then_some(x)
    }

    /// What a branch makes of a message that has one result for each.
    fn in_step(&mut self, parts: &[Part]) -> impl Fn(u64) -> Option<u64> + use<> {
        let stages: Vec<_> = parts.iter().cloned().map(|part| (self.stage(), part)).collect();
        move |x| {
            stages.iter().try_fold(x, |x, (look, part)| {
                let by = if let Part::Then(by) = part { *by } else { 5 };
                look(x).map(|x| mix(x, by))
            })
        }
    }

    /// `results` up to the first panic. `is_shared` says that other threads go on.
    fn until_panic(&mut self, results: Vec<Option<u64>>, is_ordered: bool, is_shared: bool) -> Vec<u64> {
        if results.iter().all(Option::is_some) {
            return results.into_iter().flatten().collect();
        }
        self.panics = true;
        self.is_exact &= is_ordered && !is_shared;
        match self.bound {
            Bound::Most if !is_ordered || is_shared => results.into_iter().flatten().collect(),
            Bound::Least if !is_ordered => Vec::new(),
            _ => results.into_iter().map_while(|result| result).collect(),
        }
    }

    pub(super) fn parts(&mut self, messages: Modelled, parts: &[Part]) -> Modelled {
        let Modelled { mut out, mut is_ordered } = messages;
        for part in parts {
            let each = |model: &mut Self, is_shared, f: &dyn Fn(u64) -> Option<u64>| {
                let results = out.iter().map(|x| f(*x)).collect();
                model.until_panic(results, is_ordered, is_shared)
            };
            out = match part {
                Part::Then(by) => {
                    let look = self.stage();
                    each(self, false, &|x| look(x).map(|x| mix(x, *by)))
                }
                Part::Filter(by) => {
                    let look = self.stage();
                    each(self, false, &look).into_iter().filter(|x| x % (by + 2) != 0).collect()
                }
                Part::Repeat(most) => {
                    let look = self.stage();
                    let repeat = |x| std::iter::repeat_n(x, (x % (most + 1)) as usize);
                    each(self, false, &look).into_iter().flat_map(repeat).collect()
                }
                Part::Batch => {
                    let look = self.stage();
                    each(self, false, &|x| look(x).map(|x| x.wrapping_add(1)))
                }
                Part::Parallel(_) => {
                    let look = self.stage();
                    each(self, false, &|x| look(x).map(|x| mix(x, 5)))
                }
                Part::Unordered(threads) => {
                    let look = self.stage();
                    let results = each(self, *threads > 1, &|x| look(x).map(|x| mix(x, 6)));
                    is_ordered &= *threads == 1;
                    results
                }
                Part::Lossy => out,
                Part::Merge(left, right) | Part::Cloned(left, right) | Part::LossyBranches(left, right) => {
                    let mut all = self.parts(Modelled { out: out.clone(), is_ordered }, left).out;
                    all.extend(self.parts(Modelled { out, is_ordered }, right).out);
                    is_ordered = false;
                    let look = self.stage();
                    self.until_panic(all.into_iter().map(look).collect(), is_ordered, false)
                }
                Part::Zip(left, right) => {
                    let (left, right) = (self.in_step(left), self.in_step(right));
                    let look = self.stage();
                    let join = |x| Some((left(x)?, right(x)?));
                    each(self, false, &|x| join(x).and_then(|(a, b)| Some(look(a)?.wrapping_sub(b))))
                }
                Part::Rows(branches) => {
                    let branches: Vec<_> = branches.iter().map(|parts| self.in_step(parts)).collect();
                    let look = self.stage();
                    let row = |x| branches.iter().map(|branch| branch(x)).collect::<Option<Vec<_>>>();
                    each(self, false, &|x| look(fold(&row(x)?)))
                }
            };
        }
        Modelled { out, is_ordered }
    }
}

/// What comes out of so many messages if nothing is lost.
pub(super) fn model(sent: u64, parts: &[Part]) -> Modelled {
    Model::new(None, Bound::Most).parts(Modelled { out: (0..sent).collect(), is_ordered: true }, parts)
}
