//! Which contender has which colour.

use crate::results::Results;
use crate::row::Kind;

/// A contender has the same colour everywhere.
pub struct Colours(Vec<String>);

impl Colours {
    /// How many there are before they come again.
    const COUNT: usize = 8;

    pub fn of(results: &Results) -> Self {
        let mut names = vec![];
        for entry in results.rows.iter().flat_map(|row| &row.entries) {
            if entry.kind == Kind::Rival && !names.contains(&entry.name) {
                names.push(entry.name.clone());
            }
        }
        Self(names)
    }

    /// The class that has it.
    pub fn class(&self, name: &str, kind: Kind) -> String {
        match kind {
            Kind::Ours => "ours".to_owned(),
            Kind::Floor => "floor".to_owned(),
            Kind::Other => "other".to_owned(),
            Kind::Rival => {
                let place = self.0.iter().position(|known| known == name).unwrap_or_default();
                format!("rival{}", place % Self::COUNT)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{results, row};

    #[test]
    fn contender_keeps_its_colour() {
        let colours = Colours(["a", "b"].map(str::to_owned).into());
        assert_eq!(colours.class("b", Kind::Rival), "rival1");
        assert_eq!(colours.class("b", Kind::Ours), "ours");
        let results = results(vec![row(1.0, 2.0, true)]);
        assert_eq!(Colours::of(&results).0, ["a rival"]);
    }
}
