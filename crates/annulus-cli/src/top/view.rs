//! [`View`]: what the user has chosen to see, and what each key changes.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// By what the rings are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Name,
    Kind,
    /// The dead first.
    State,
    /// The fastest first.
    Rate,
    /// The fullest first.
    Depth,
    /// The ring with the slowest reader first.
    Lag,
    Process,
}

impl Sort {
    /// The order that a key stands for.
    fn of_key(key: char) -> Option<Self> {
        Some(match key {
            'n' => Self::Name,
            'k' => Self::Kind,
            's' => Self::State,
            'r' => Self::Rate,
            'd' => Self::Depth,
            'l' => Self::Lag,
            'p' => Self::Process,
            _ => return None,
        })
    }
}

/// What the user has chosen.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    pub(super) sort: Sort,
    /// The other way round.
    pub(super) is_reversed: bool,
    /// Only rings that have this in them are shown.
    pub(super) filter: String,
    /// What is typed goes into the filter.
    pub(super) is_typing: bool,
    /// The name of the ring that is chosen.
    pub(super) chosen: Option<String>,
    /// The page of that ring is shown, not the table.
    pub(super) is_page: bool,
}

/// What a key asks the program to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// To show what is chosen now.
    Show,
    /// To end.
    Quit,
    /// To end as by SIGINT.
    Interrupt,
    /// To stop as by SIGTSTP, until it is told to continue.
    Stop,
}

/// How many rings Page Up and Page Down pass.
const PAGE: usize = 10;

impl View {
    /// The page of a ring, or the table.
    pub(super) fn of(name: Option<String>) -> Self {
        Self { is_page: name.is_some(), chosen: name, ..Self::default() }
    }

    /// The name of the ring whose page is shown.
    pub(super) fn page(&self) -> Option<&str> {
        self.chosen.as_deref().filter(|_| self.is_page)
    }

    /// A key was pressed, while these rings were shown in this order.
    pub(super) fn press(&mut self, key: KeyEvent, shown: &[String]) -> Wish {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if is_control => return Wish::Interrupt,
            KeyCode::Char('z') if is_control => return Wish::Stop,
            KeyCode::Char(_) if is_control || key.modifiers.contains(KeyModifiers::ALT) => {}
            _ if self.is_typing => self.type_key(key.code),
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Esc | KeyCode::Backspace | KeyCode::Left if self.is_page => self.is_page = false,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Enter | KeyCode::Right => {
                self.keep(shown);
                self.is_page = self.chosen.is_some();
            }
            KeyCode::Up => self.go(shown, |at, _| at.saturating_sub(1)),
            KeyCode::Down if self.chosen.is_none() => self.keep(shown),
            KeyCode::Down => self.go(shown, |at, _| at + 1),
            KeyCode::PageUp => self.go(shown, |at, _| at.saturating_sub(PAGE)),
            KeyCode::PageDown => self.go(shown, |at, _| at + PAGE),
            KeyCode::Home => self.go(shown, |_, _| 0),
            KeyCode::End => self.go(shown, |_, last| last),
            KeyCode::Char('/') => (self.is_typing, self.is_page) = (true, false),
            KeyCode::Char(key) => {
                if let Some(sort) = Sort::of_key(key) {
                    self.is_reversed = sort == self.sort && !self.is_reversed;
                    self.sort = sort;
                }
            }
            _ => {}
        }
        Wish::Show
    }

    /// A key while the filter is typed.
    fn type_key(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char(character) => self.filter.push(character),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Esc => {
                self.filter.clear();
                self.is_typing = false;
            }
            KeyCode::Enter => self.is_typing = false,
            _ => {}
        }
    }

    /// Where the chosen ring is among those that are shown.
    pub(super) fn at(&self, shown: &[String]) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        shown.iter().position(|name| name == chosen)
    }

    /// If the chosen ring is not shown, the first one is chosen.
    fn keep(&mut self, shown: &[String]) {
        self.go(shown, |at, _| at);
    }

    fn go(&mut self, shown: &[String], to: impl FnOnce(usize, usize) -> usize) {
        let Some(last) = shown.len().checked_sub(1) else {
            self.chosen = None;
            return;
        };
        let index = to(self.at(shown).unwrap_or(0), last).min(last);
        self.chosen = Some(shown[index].clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    /// Presses keys: a character is itself, words are other keys.
    fn press(view: &mut View, shown: &[String], keys: &str) -> Wish {
        let mut wish = Wish::Show;
        for key in keys.split(' ') {
            let code = match key {
                "up" => KeyCode::Up,
                "down" => KeyCode::Down,
                "home" => KeyCode::Home,
                "end" => KeyCode::End,
                "pgup" => KeyCode::PageUp,
                "pgdn" => KeyCode::PageDown,
                "enter" => KeyCode::Enter,
                "esc" => KeyCode::Esc,
                "back" => KeyCode::Backspace,
                "tab" => KeyCode::Tab,
                key => KeyCode::Char(key.chars().next().unwrap()),
            };
            wish = view.press(KeyEvent::new(code, KeyModifiers::NONE), shown);
        }
        wish
    }

    #[test]
    fn arrows_choose_a_ring_and_stay_with_it() {
        let shown = names(&["a", "b", "c"]);
        let mut view = View::default();
        let mut after = |keys: &str, shown: &[String]| {
            press(&mut view, shown, keys);
            view.chosen.clone().unwrap_or_default()
        };
        assert_eq!(after("down", &shown), "a");
        assert_eq!(after("down", &shown), "b");
        assert_eq!(after("down down down", &shown), "c");
        assert_eq!(after("up", &shown), "b");
        // In another order it is the same one; if it is gone, the first.
        assert_eq!(after("down", &names(&["b", "c", "a"])), "c");
        assert_eq!(after("down", &names(&["a", "b"])), "b");
        assert_eq!(after("home", &shown), "a");
        assert_eq!(after("end", &shown), "c");
        assert_eq!(after("pgup", &shown), "a");
        assert_eq!(after("pgdn", &shown), "c");
        assert_eq!(after("up", &[]), "");
        assert_eq!(after("pgdn tab", &[]), "");
    }

    #[test]
    fn ring_has_a_page() {
        let shown = names(&["a", "b"]);
        let mut view = View::default();
        press(&mut view, &shown, "enter");
        assert_eq!((view.is_page, view.chosen.as_deref()), (true, Some("a")));
        press(&mut view, &shown, "down");
        assert_eq!((view.is_page, view.chosen.as_deref()), (true, Some("b")), "the page of the next");
        press(&mut view, &shown, "esc");
        assert_eq!((view.is_page, view.chosen.as_deref()), (false, Some("b")));
        view = View::default();
        press(&mut view, &[], "enter");
        assert!(!view.is_page, "there is none");
    }

    #[test]
    fn key_sorts_and_again_reverses() {
        let mut view = View::default();
        for (key, sort, is_reversed) in [
            ("n", Sort::Name, true),
            ("r", Sort::Rate, false),
            ("r", Sort::Rate, true),
            ("r", Sort::Rate, false),
            ("k", Sort::Kind, false),
            ("s", Sort::State, false),
            ("d", Sort::Depth, false),
            ("l", Sort::Lag, false),
            ("p", Sort::Process, false),
            ("x", Sort::Process, false),
        ] {
            assert_eq!(press(&mut view, &[], key), Wish::Show);
            assert_eq!((view.sort, view.is_reversed), (sort, is_reversed), "{key}");
        }
    }

    #[test]
    fn typed_keys_are_the_filter() {
        let shown = names(&["a"]);
        let mut view = View::default();
        assert_eq!(press(&mut view, &shown, "/ q n x back up"), Wish::Show);
        assert_eq!((view.filter.as_str(), view.is_typing, view.sort), ("qn", true, Sort::Name));
        press(&mut view, &shown, "enter");
        assert_eq!((view.filter.as_str(), view.is_typing), ("qn", false), "it is kept");
        assert_eq!(press(&mut view, &shown, "q"), Wish::Quit);
        press(&mut view, &shown, "esc");
        assert_eq!(view.filter, "", "all are shown");
        press(&mut view, &shown, "/ a esc");
        assert_eq!((view.filter.as_str(), view.is_typing), ("", false));
        press(&mut view, &shown, "enter /");
        assert!(view.is_typing && !view.is_page);
    }

    #[test]
    fn control_c_ends_it_wherever_it_is() {
        for keys in ["down", "/ a", "enter"] {
            let mut view = View::default();
            press(&mut view, &names(&["a"]), keys);
            let key = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
            assert_eq!(view.press(key('q'), &[]), Wish::Show);
            assert_eq!(view.press(key('c'), &[]), Wish::Interrupt);
            assert!(!view.filter.contains(['q', 'c']));
        }
    }
}
