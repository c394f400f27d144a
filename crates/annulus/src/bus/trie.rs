//! [`Trie`]: topics by name, a map that is never changed: with one topic more or less it is another map,
//! which shares all but the way to that topic.
//!
//! A branch has 32 children, and each level takes five bits of the hash. Topics whose hashes are equal
//! are in one list. To add or to remove one of n topics copies O(log n) branches.
//!
//! P. Bagwell, *Ideal Hash Trees*, 2001; without the bitmaps, because a bus has few branches.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use super::topic::Topic;

/// Topics, each with another name.
#[derive(Clone)]
pub(super) enum Trie {
    Empty,
    One(Arc<Topic>),
    /// More than one, all with the same hash.
    Same(Arc<Vec<Arc<Topic>>>),
    /// At least two topics in all.
    Branch(Arc<[Trie; WAYS]>),
}

const BITS: u32 = 5;
const WAYS: usize = 1 << BITS;

/// Which child of a branch `depth` levels down.
#[inline]
fn way(hash: u64, depth: u32) -> usize {
    (hash >> (BITS * depth)) as usize % WAYS
}

impl Trie {
    /// The topic of that name.
    #[inline]
    pub(super) fn find(&self, name: &str, hash: u64) -> Option<&Arc<Topic>> {
        let (mut trie, mut rest) = (self, hash);
        loop {
            match trie {
                Self::Empty => return None,
                Self::One(topic) => {
                    return (topic.hash() == hash && is_same(topic.bytes(), name.as_bytes()))
                        .then_some(topic);
                }
                Self::Same(topics) => {
                    return topics.iter().find(|topic| is_same(topic.bytes(), name.as_bytes()));
                }
                Self::Branch(children) => {
                    trie = &children[rest as usize % WAYS];
                    rest >>= BITS;
                }
            }
        }
    }

    /// With this topic, in the place of any other of its name.
    pub(super) fn with(&self, topic: Arc<Topic>) -> Self {
        self.with_below(topic, 0)
    }

    fn with_below(&self, topic: Arc<Topic>, depth: u32) -> Self {
        let hash = topic.hash();
        match self {
            Self::Empty => Self::One(topic),
            Self::One(other) if other.name() == topic.name() => Self::One(topic),
            Self::One(other) if other.hash() == hash => Self::Same(Arc::new([other.clone(), topic].into())),
            Self::One(other) => self.branch(other.hash(), depth).with_below(topic, depth),
            Self::Same(topics) if topics[0].hash() != hash => {
                self.branch(topics[0].hash(), depth).with_below(topic, depth)
            }
            Self::Same(topics) => {
                let others = topics.iter().filter(|other| other.name() != topic.name()).cloned();
                Self::Same(Arc::new(others.chain([topic.clone()]).collect()))
            }
            Self::Branch(children) => {
                let mut children = (**children).clone();
                let child = &mut children[way(hash, depth)];
                *child = child.with_below(topic, depth + 1);
                Self::Branch(Arc::new(children))
            }
        }
    }

    /// A branch with nothing but this, whose topics have that hash. (Two hashes that differ do so in one of
    /// the thirteen levels.)
    fn branch(&self, hash: u64, depth: u32) -> Self {
        let mut children = [const { Self::Empty }; WAYS];
        children[way(hash, depth)] = self.clone();
        Self::Branch(Arc::new(children))
    }

    /// Without the topic of that name.
    pub(super) fn without(&self, name: &str, hash: u64) -> Self {
        self.without_below(name, hash, 0)
    }

    fn without_below(&self, name: &str, hash: u64, depth: u32) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::One(topic) if topic.name() == name => Self::Empty,
            Self::One(_) => self.clone(),
            Self::Same(topics) => {
                let mut left: Vec<_> = topics.iter().filter(|topic| topic.name() != name).cloned().collect();
                if left.len() > 1 {
                    Self::Same(Arc::new(left))
                } else {
                    left.pop().map_or(Self::Empty, Self::One)
                }
            }
            Self::Branch(children) => {
                let mut children = (**children).clone();
                let child = &mut children[way(hash, depth)];
                *child = child.without_below(name, hash, depth + 1);
                Self::shrunk(children)
            }
        }
    }

    /// A branch with these children; or what is in it, if that needs no branch.
    fn shrunk(mut children: [Self; WAYS]) -> Self {
        let mut there = children.iter_mut().filter(|child| !matches!(child, Self::Empty));
        match (there.next(), there.next()) {
            // Unreached: says that it can't happen: a branch has two topics below it, and loses one at a time
            (None, _) => Self::Empty,
            (Some(only), None) if !matches!(only, Self::Branch(_)) => mem::replace(only, Self::Empty),
            _ => Self::Branch(Arc::new(children)),
        }
    }

    /// Shows each topic, in no particular order.
    pub(super) fn each<'t>(&'t self, show: &mut dyn FnMut(&'t Arc<Topic>)) {
        match self {
            Self::Empty => {}
            Self::One(topic) => show(topic),
            Self::Same(topics) => topics.iter().for_each(show),
            Self::Branch(children) => children.iter().for_each(|child| child.each(show)),
        }
    }
}

/// Whether two names are equal. They are short, so it takes less time to compare them word by word than to
/// call what compares bytes.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let (Some(one_last), Some(other_last)) = (one.last_chunk::<WORD>(), other.last_chunk::<WORD>()) else {
        return few(one) == few(other);
    };
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    one_last == other_last
        && one.chunks_exact(WORD).zip(other.chunks_exact(WORD)).all(|(one, other)| word(one) == word(other))
}

const WORD: usize = 8;

/// Fewer bytes than a word has, as a number.
#[inline]
fn few(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The hash of a name: words of eight bytes, each multiplied to 128 bits whose halves are folded together.
/// The last word may overlap with the one before.
///
/// The multiplication is Wang Yi's, of wyhash. Without `seed`, names that collide are not easily made; it is
/// no cryptographic hash. Names that collide all the same are in one list.
#[inline]
pub(super) fn hash(name: &str, seed: u64) -> u64 {
    let name = name.as_bytes();
    let mut hash = seed ^ (name.len() as u64).wrapping_mul(FACTOR);
    let Some(last) = name.last_chunk::<WORD>() else { return folded(hash ^ few(name)) };
    for bytes in name[..name.len() - 1].chunks_exact(WORD) {
        hash = folded(hash ^ bytes.try_into().map_or(0, u64::from_le_bytes));
    }
    folded(hash ^ u64::from_le_bytes(*last))
}

/// The fraction of the golden ratio; odd.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn folded(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(FACTOR);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::broadcast::Lossy;
    use crate::settings::Settings;

    /// Miri is slow at strings.
    const NAMES: u8 = if cfg!(miri) { 12 } else { 40 };
    const STEPS: usize = if cfg!(miri) { 15 } else { 120 };

    /// A hash with collisions, and with equal beginnings.
    fn poor(name: u8) -> u64 {
        match name % 4 {
            0 => 7,
            1 => 7 | u64::from(name) << 60,
            2 => u64::from(name),
            _ => u64::from(name % 16) << 32,
        }
    }

    fn all(trie: &Trie) -> HashMap<String, *const Topic> {
        let mut all = HashMap::new();
        trie.each(&mut |topic| {
            assert!(all.insert(topic.name().to_string(), Arc::as_ptr(topic)).is_none(), "twice");
        });
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 500 }))]
        #[test]
        fn trie_agrees_with_a_hash_map(steps in prop::collection::vec((any::<bool>(), 0_u8..NAMES), 0..STEPS)) {
            let (mut trie, mut model) = (Trie::Empty, HashMap::new());
            for (adds, name) in steps {
                let (before, was) = (trie.clone(), model.clone());
                let (text, hash) = (name.to_string(), poor(name));
                if adds {
                    let topic = Topic::make::<u64, Lossy>(&text, hash, Settings::new(2)).unwrap();
                    model.insert(text, Arc::as_ptr(&topic));
                    trie = trie.with(topic);
                } else {
                    trie = trie.without(&text, hash);
                    model.remove(&text);
                }
                prop_assert_eq!(all(&before), was, "the one before is as it was");
                prop_assert_eq!(all(&trie), model.clone());
                for name in 0..NAMES {
                    let found = trie.find(&name.to_string(), poor(name)).map(Arc::as_ptr);
                    prop_assert_eq!(found, model.get(&name.to_string()).copied());
                }
                prop_assert_eq!(matches!(trie, Trie::Empty), model.is_empty());
                prop_assert_eq!(matches!(trie, Trie::One(_)), model.len() == 1, "no branch is left behind");
            }
        }
    }

    /// Names of each length that differ in one place, or in none.
    #[test]
    fn names_are_compared_as_a_whole() {
        for length in 0..if cfg!(miri) { 18 } else { 40 } {
            let name = "a".repeat(length);
            let is_same = |one: &str, other: &str| is_same(one.as_bytes(), other.as_bytes());
            assert!(is_same(&name, &"a".repeat(length)));
            assert_eq!(hash(&name, 7), hash(&"a".repeat(length), 7));
            assert!(!is_same(&name, &"a".repeat(length + 1)) && !is_same(&"a".repeat(length + 1), &name));
            for place in 0..length {
                let mut other = name.clone();
                other.replace_range(place..=place, "b");
                assert!(!is_same(&name, &other), "{length} {place}");
                assert_ne!(hash(&name, 7), hash(&other, 7), "{length} {place}");
            }
        }
    }

    #[test]
    fn names_have_hashes_of_their_own() {
        for seed in [0, 1, u64::MAX] {
            let mut seen = HashMap::new();
            for length in 0..if cfg!(miri) { 10 } else { 20 } {
                for byte in (0..=b'z').step_by(if cfg!(miri) { 40 } else { 1 }) {
                    let name = String::from_utf8([byte].repeat(length)).unwrap();
                    let other = seen.insert(hash(&name, seed), name.clone());
                    assert!(other.is_none_or(|other| other == name));
                }
            }
        }
    }
}
