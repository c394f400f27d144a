//! CPUs that share as little as can be are chosen exactly, by dynamic programming over the tree of what is
//! inside of what (decision 0078).
//!
//! The *cost* of a choice is a list of numbers, of which the first that differs decides. Each number is a sum
//! over the parts of the machine (packages, NUMA nodes in these, caches in these, cores), and what a part
//! adds depends only on which of its CPUs are taken. So the best choice of `k` CPUs of a part consists of
//! best choices of its own parts, and it is enough to know, for each part and each `k`, the best one.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::cpu::Cpu;
use super::error::SpreadError;

/// Which CPUs are better, among choices that share equally few cores: see
/// [`spread`](super::spread()).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Spread {
    /// Near each other: in one package, one NUMA node, and under one last-level cache, if they fit there. For
    /// threads that send to each other, since a message goes from cache to cache.
    #[default]
    Near,
    /// Far from each other: over all packages, nodes and caches evenly. For threads that have little to say
    /// to each other, and each of which needs much cache or memory bandwidth.
    Far,
}

/// What parts of a machine have in common, from the largest to the smallest; and then the CPUs.
const LEVELS: usize = 5;
const CORE: usize = LEVELS - 1;

/// The part of this level in which a CPU is: among CPUs that are together in the parts above.
fn part(cpu: &Cpu, level: usize) -> Option<usize> {
    let first = |list: &Option<Vec<usize>>| list.as_ref().and_then(|list| list.first().copied());
    match level {
        0 => cpu.package,
        1 => cpu.node,
        2 => first(&cpu.same_cache),
        3 => first(&cpu.same_l2),
        CORE => first(&cpu.same_core),
        _ => Some(cpu.number),
    }
}

/// What is bad about a choice, the worst first: pairs on one core; CPUs that are not isolated; capacity that
/// they lack; packages, nodes, and caches of both kinds; those on the core of CPU 0; the sum of the numbers.
type Cost = [usize; 9];

/// `count` of the CPUs that are wanted.
pub(super) fn choose(wanted: Vec<&Cpu>, count: usize, how: Spread) -> Result<Vec<usize>, SpreadError> {
    let numbers = |cpus: &[&Cpu]| cpus.iter().map(|cpu| cpu.number).collect::<Vec<_>>();
    if count > wanted.len() {
        return Err(SpreadError::TooMany { asked: count, cpus: numbers(&wanted) });
    }
    let (known, hidden): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|cpu| cpu.same_core.is_some());
    if count > known.len() {
        return Err(SpreadError::Hidden { asked: count, known: numbers(&known), hidden: numbers(&hidden) });
    }
    let mut best = best_of(known, 0, count, how);
    let mut chosen = best.pop().map(|choice| choice.cpus).unwrap_or_default();
    // How many of its core come before it.
    let mut cores = BTreeSet::new();
    chosen.sort_by_key(|cpu| cpu.number);
    let is_sibling: BTreeMap<usize, bool> =
        chosen.iter().map(|cpu| (cpu.number, !cores.insert(part(cpu, CORE)))).collect();
    chosen.sort_by_key(|cpu| {
        (is_sibling[&cpu.number], core::array::from_fn::<_, { LEVELS + 1 }, _>(|level| part(cpu, level)))
    });
    Ok(numbers(&chosen))
}

/// Some CPUs, and what is bad about them.
#[derive(Clone)]
struct ChosenCpus<'a> {
    cost: Cost,
    cpus: Vec<&'a Cpu>,
}

/// The best choices of 0, 1, 2, … CPUs among these, which are in one part of each level above: all that there
/// are, but not more than `most`.
fn best_of(cpus: Vec<&Cpu>, level: usize, most: usize, how: Spread) -> Vec<ChosenCpus<'_>> {
    let nothing = ChosenCpus { cost: Cost::default(), cpus: Vec::new() };
    if level > LEVELS {
        let cost = cost_of(cpus[0]);
        return [nothing, ChosenCpus { cost, cpus }].into_iter().take(most + 1).collect();
    }
    let mut parts: BTreeMap<Option<usize>, Vec<&Cpu>> = BTreeMap::new();
    for cpu in cpus {
        parts.entry(part(cpu, level)).or_default().push(cpu);
    }
    let mut best = [nothing].to_vec();
    for part in parts.into_values() {
        let mut of_part = best_of(part, level + 1, most, how);
        for (taken, choice) in of_part.iter_mut().enumerate() {
            charge(&mut choice.cost, level, taken, how);
        }
        best = together(&best, &of_part, most);
    }
    best
}

/// The best choices of two parts: for each number of CPUs, the best way to take some of the one, and the rest
/// of the other.
fn together<'a>(some: &[ChosenCpus<'a>], others: &[ChosenCpus<'a>], most: usize) -> Vec<ChosenCpus<'a>> {
    let sum = |a: &Cost, b: &Cost| -> Cost { core::array::from_fn(|index| a[index] + b[index]) };
    let best = |count: usize| {
        let fewest = count.saturating_sub(others.len() - 1);
        let ways = (fewest..=count.min(some.len() - 1)).map(|of_some| {
            let (one, other) = (&some[of_some], &others[count - of_some]);
            (sum(&one.cost, &other.cost), one, other)
        });
        let (cost, one, other) = ways.min_by_key(|(cost, ..)| *cost)?;
        Some(ChosenCpus { cost, cpus: one.cpus.iter().chain(&other.cpus).copied().collect() })
    };
    let all = (some.len() + others.len() - 2).min(most);
    (0..=all).map_while(best).collect()
}

/// What this CPU costs by itself.
fn cost_of(cpu: &Cpu) -> Cost {
    let mut cost = Cost::default();
    cost[1] = usize::from(cpu.is_isolated != Some(true));
    cost[2] = cpu.capacity.map_or(0, |capacity| 1024_usize.saturating_sub(capacity));
    cost[7] = usize::from(cpu.same_core.as_ref().is_some_and(|core| core.contains(&0)));
    cost[8] = cpu.number;
    cost
}

/// Adds what it costs to take so many CPUs of one part of this level.
fn charge(cost: &mut Cost, level: usize, taken: usize, how: Spread) {
    // So many of them share it.
    let pairs = taken * taken.saturating_sub(1) / 2;
    match (level, how) {
        (CORE, _) => cost[0] += pairs,
        (_, Spread::Near) if level < CORE => {
            cost[3 + level] += usize::from(taken > 0);
        }
        (_, Spread::Far) if level < CORE => cost[3 + level] += pairs,
        // A CPU is not shared.
        _ => {}
    }
}

#[cfg(all(test, not(any(miri, annulus_loom))))]
mod tests {
    use alloc::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::affinity::Topology;

    /// Where a CPU lies: the numbers of its package, node, cache, level 2 cache and core; each counts within
    /// what is around it.
    type Place = [usize; LEVELS];

    /// A made-up machine, with a CPU at each of these places.
    fn machine(places: &[Place]) -> Topology {
        let mut cpus: Vec<Cpu> = Vec::new();
        for (number, place) in places.iter().enumerate() {
            let same = |level: usize| {
                let same = |other: &&usize| places[**other][..=level] == place[..=level];
                Some((0..places.len()).collect::<Vec<_>>().iter().filter(same).copied().collect())
            };
            cpus.push(Cpu {
                is_allowed: true,
                is_available: true,
                package: Some(place[0]),
                node: Some(10 * place[0] + place[1]),
                same_cache: same(2),
                same_l2: same(3),
                same_core: same(CORE),
                ..Cpu::unknown(number)
            });
        }
        Topology { cpus, hidden: Vec::new() }
    }

    /// What the rules say of a choice, counted from scratch.
    fn count_cost(topology: &Topology, places: &[Place], chosen: &[usize], how: Spread) -> Vec<usize> {
        let cpus: Vec<_> = chosen.iter().map(|&number| topology.cpu(number).unwrap()).collect();
        let shared = |level: usize| {
            let all = chosen.iter().enumerate();
            let pairs = all.flat_map(|(at, one)| chosen[at + 1..].iter().map(move |other| (one, other)));
            pairs.filter(|(one, other)| places[**one][..=level] == places[**other][..=level]).count()
        };
        let parts = |level: usize| {
            chosen.iter().map(|&number| &places[number][..=level]).collect::<BTreeSet<_>>().len()
        };
        let mut cost = vec![
            shared(CORE),
            cpus.iter().filter(|cpu| cpu.is_isolated != Some(true)).count(),
            cpus.iter().map(|cpu| 1024 - cpu.capacity.unwrap_or(1024)).sum(),
        ];
        cost.extend((0..CORE).map(|level| if how == Spread::Near { parts(level) } else { shared(level) }));
        cost.push(chosen.iter().filter(|&&number| places[number] == places[0]).count());
        cost.push(chosen.iter().sum());
        cost
    }

    fn any_machine() -> impl Strategy<Value = (Vec<Place>, Topology)> {
        let cpu =
            ([0..2_usize, 0..2, 0..2, 0..2, 0..3], 0..4_usize, prop::sample::select(vec![1024, 1024, 512]));
        (prop::collection::vec(cpu, 1..=9), 0..2_usize, any::<bool>()).prop_map(|(cpus, depth, is_plain)| {
            // Fewer levels make more CPUs that share a core.
            let place = |mut place: Place| {
                place[..3 * depth].fill(0);
                place
            };
            let places: Vec<Place> = cpus.iter().map(|cpu| place(cpu.0)).collect();
            let mut topology = machine(&places);
            for (cpu, (_, special, capacity)) in topology.cpus.iter_mut().zip(&cpus) {
                cpu.is_allowed = *special != 0;
                cpu.is_isolated = Some(*special == 1 && !is_plain);
                cpu.capacity = (!is_plain).then_some(*capacity);
            }
            (places, topology)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        /// No choice is better: all others are tried.
        #[test]
        fn no_choice_is_better((places, topology) in any_machine(), is_near: bool) {
            let how = if is_near { Spread::Near } else { Spread::Far };
            let allowed: Vec<_> = topology.cpus.iter().filter(|cpu| cpu.is_allowed).collect();
            for count in 0..=allowed.len() {
                let chosen = topology.spread(count, how).unwrap();
                let different: BTreeSet<_> = chosen.iter().copied().collect();
                prop_assert_eq!((chosen.len(), different.len()), (count, count));
                prop_assert!(chosen.iter().all(|&number| topology.cpu(number).unwrap().is_allowed));
                let mut all = (0..1_u32 << allowed.len()).filter(|set| set.count_ones() as usize == count);
                let best = all.by_ref().map(|set| {
                    let numbers = allowed.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1);
                    let numbers: Vec<_> = numbers.map(|(_, cpu)| cpu.number).collect();
                    count_cost(&topology, &places, &numbers, how)
                });
                prop_assert_eq!(Some(count_cost(&topology, &places, &chosen, how)), best.min());
                // Those that are alone on their core so far come first.
                let core = |number: usize| topology.cpu(number).unwrap().same_core.clone();
                let is_second = |at: usize| chosen[..at].iter().any(|&other| core(other) == core(chosen[at]));
                prop_assert!((0..count).is_sorted_by_key(is_second), "{:?}", chosen);
            }
            let error = topology.spread(allowed.len() + 1, how).unwrap_err();
            let is_named = matches!(&error, SpreadError::TooMany { cpus, .. } if cpus.len() == allowed.len());
            prop_assert!(is_named, "{}", error);
        }
    }

    /// Eight packages of 128 hardware threads.
    #[test]
    fn large_machine() {
        let place = |cpu: usize| [cpu / 128, cpu / 64 % 2, cpu / 16 % 4, cpu / 2 % 8, cpu / 2 % 8];
        let places: Vec<Place> = (0..1024).map(place).collect();
        let topology = machine(&places);
        let near = topology.spread(64, Spread::Near).unwrap();
        assert_eq!(near, (128..256).step_by(2).collect::<Vec<_>>());
        let far = topology.spread(64, Spread::Far).unwrap();
        let caches: BTreeSet<_> = far.iter().map(|&cpu| &places[cpu][..3]).collect();
        assert_eq!(caches.len(), 64);
        assert_eq!(topology.spread(1024, Spread::Far).unwrap().len(), 1024);
    }
}
