//! Takes out of a test file what does not compile, so that the rest can show what it can.
//!
//! A file tests many things, and one test that needs a missing part would hide all others. So
//! the items that the compiler complains about are blanked out, until the rest compiles. Bytes
//! keep their places: the compiler's reports fit all versions of the file.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::LexError;

use super::items::{self, Item, Kind};
use super::status::{TestResult, TestStatus};

/// The longest name of a check that is nothing but a call of a macro.
const CHECK_NAME: usize = 100;

/// One report of the compiler: what it says, and the places in the file that it may mean, the
/// most likely first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    pub message: String,
    pub places: Vec<usize>,
}

/// A test file and what was taken out of it.
#[derive(Debug)]
pub struct CutFile {
    original: String,
    text: String,
    items: Vec<Item>,
    /// The tests that were taken out, and why.
    lost: BTreeMap<String, String>,
}

impl CutFile {
    /// The whole file.
    pub fn new(text: String) -> Result<CutFile, LexError> {
        let items = items::items(&text)?;
        Ok(CutFile { original: text.clone(), text, items, lost: BTreeMap::new() })
    }

    /// What is left.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is no test in it that could run: then that it compiles is the test.
    pub fn is_compile_only(&self) -> bool {
        !self.items.iter().flat_map(Item::all).any(|item| item.kind == Kind::Test)
    }

    /// Whether anything was taken out.
    pub fn is_cut(&self) -> bool {
        self.text != self.original
    }

    /// The tests that were taken out.
    pub fn lost(&self) -> Vec<TestResult> {
        let results = self
            .lost
            .iter()
            .map(|(name, why)| TestResult::new(name, TestStatus::NoCompile).with_message(why));
        results.collect()
    }

    /// Gives all tests up that are still there.
    pub fn give_up(&mut self, why: &str) {
        for name in self.items.iter().flat_map(|item| self.tests_in("", item)).collect::<Vec<_>>() {
            self.lost.entry(name).or_insert_with(|| why.to_owned());
        }
    }

    /// Takes out what the compiler complains about. `false` if there was nothing to take out.
    pub fn cut(&mut self, complaints: &[Complaint]) -> bool {
        let mut has_cut = false;
        for complaint in complaints {
            let found = complaint.places.iter().find_map(|place| self.find(*place));
            let Some((path, item)) = found else { continue };
            let names = self.tests_in(&path, &item.item);
            for name in names {
                self.lost.entry(name).or_insert_with(|| complaint.message.clone());
            }
            has_cut |= self.blank(item.bytes);
        }
        has_cut
    }

    /// The innermost item at `place` and the modules around it.
    fn find(&self, place: usize) -> Option<(String, Found)> {
        let mut path = String::new();
        let mut items = &self.items;
        let mut found: Option<&Item> = None;
        while let Some(item) = items.iter().find(|item| item.bytes.contains(&place)) {
            if let Some(outer) = found.filter(|outer| outer.kind == Kind::Module) {
                path.push_str(&outer.name);
                path.push_str("::");
            }
            found = Some(item);
            items = &item.inner;
        }
        // Without its definition, all calls of a macro would be lost: the caller of the macro
        // is among the places too.
        let item = found.filter(|item| item.kind != Kind::MacroRules)?;
        let branch = item.branches.iter().rfind(|branch| branch.contains(&place));
        let bytes = branch.unwrap_or(&item.bytes).clone();
        Some((path, Found { item: item.clone(), bytes }))
    }

    fn tests_in(&self, path: &str, item: &Item) -> Vec<String> {
        let name = || format!("{path}{}", item.name);
        match item.kind {
            Kind::Test => vec![name()],
            // Nobody knows what it would have made: perhaps tests, perhaps a check that is done
            // when it compiles.
            Kind::MacroCall if item.inner.is_empty() => {
                let text = &self.original[item.bytes.clone()];
                let words: Vec<&str> = text.split_whitespace().collect();
                vec![words.join(" ").chars().take(CHECK_NAME).collect()]
            }
            Kind::Module => {
                let path = format!("{}::", name());
                item.inner.iter().flat_map(|inner| self.tests_in(&path, inner)).collect()
            }
            _ => item.inner.iter().flat_map(|inner| self.tests_in(path, inner)).collect(),
        }
    }

    /// `false` if there is nothing left at `bytes`.
    fn blank(&mut self, bytes: Range<usize>) -> bool {
        let old = &self.text[bytes.clone()];
        if old.trim().is_empty() {
            return false;
        }
        let blanks: String = old
            .chars()
            .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()))
            .collect();
        self.text.replace_range(bytes, &blanks);
        true
    }
}

struct Found {
    item: Item,
    /// What to take out: the item, or a branch of it.
    bytes: Range<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts at the `^`s, which stand before what the compiler means.
    fn cut(text: &str) -> (String, Vec<String>) {
        let places: Vec<usize> =
            text.match_indices('^').enumerate().map(|(index, (at, _))| at - index).collect();
        let text = text.replace('^', "");
        let mut file = CutFile::new(text).unwrap();
        let complaint = |place| Complaint { message: "why".into(), places: vec![place] };
        file.cut(&places.into_iter().map(complaint).collect::<Vec<_>>());
        let words: Vec<&str> = file.text().split_whitespace().collect();
        (words.join(" "), file.lost().into_iter().map(|test| test.name).collect())
    }

    fn assert_cut(text: &str, left: &str, lost: &[&str]) {
        let lost = lost.iter().map(|name| name.to_string()).collect();
        assert_eq!(cut(text), (left.to_owned(), lost), "{text}");
    }

    #[test]
    fn a_test_is_lost_and_named() {
        assert_cut("#[test] fn a() { ^b } #[test] fn c() {}", "#[test] fn c() {}", &["a"]);
        assert_cut("#[^x::test] fn a() {} fn b() {}", "fn b() {}", &["a"]);
        assert_cut(
            "mod m { mod n { #[test] fn a() { ^b } } }",
            "mod m { mod n { } }",
            &["m::n::a"],
        );
        assert_cut("m! { #[test] fn a() { ^b } fn c() {} }", "m! { fn c() {} }", &["a"]);
    }

    #[test]
    fn helpers_are_not_named() {
        assert_cut("fn a() { ^b } #[test] fn c() {}", "#[test] fn c() {}", &[]);
        assert_cut("struct ^A; #[test] fn c() {}", "#[test] fn c() {}", &[]);
    }

    #[test]
    fn of_an_import_only_the_branch_goes() {
        assert_cut("use a::{b, ^c};", "use a::{b, };", &[]);
        assert_cut("use a::{^b, c};", "use a::{ c};", &[]);
        assert_cut("use a::{b::{^c, d}, e};", "use a::{b::{ d}, e};", &[]);
        assert_cut("use a::{^b::{c, d}, e};", "use a::{ e};", &[]);
        assert_cut("use ^a::{b, c}; fn d() {}", "fn d() {}", &[]);
    }

    #[test]
    fn with_a_whole_block_all_its_tests_are_lost() {
        let tests = "#[test] fn a() {} mod n { #[test] fn b() {} }";
        assert_cut(&format!("^m! {{ {tests} }}"), "", &["a", "n::b"]);
        assert_cut(&format!("^mod m {{ {tests} }}"), "", &["m::a", "m::n::b"]);
    }

    #[test]
    fn macros_are_not_cut_but_their_callers() {
        let text = "macro_rules! m { () => { bad } } #[test] fn a() { m!() }";
        let mut file = CutFile::new(text.to_owned()).unwrap();
        let at = |word: &str| text.find(word).unwrap();
        let alone = Complaint { message: "why".into(), places: vec![at("bad")] };
        assert!(!file.cut(std::slice::from_ref(&alone)) && !file.is_cut());
        assert_eq!(file.text(), text);
        let both = Complaint { places: vec![at("bad"), at("m!()")], ..alone };
        assert!(file.cut(std::slice::from_ref(&both)) && file.is_cut());
        assert_eq!(file.lost()[0].name, "a");
        assert_eq!(file.lost()[0].message, "why");
        assert!(!file.cut(&[both]), "there is nothing left to cut");
    }

    #[test]
    fn a_call_of_a_macro_may_be_a_test() {
        assert_cut("check!(^a:  B); check!(c: D);", "check!(c: D);", &["check!(a: B);"]);
        assert_cut("check!(^a: B); #[test] fn c() {}", "#[test] fn c() {}", &["check!(a: B);"]);
        assert!(CutFile::new("check!(a);".into()).unwrap().is_compile_only());
        assert!(!CutFile::new("m! { #[test] fn a() {} }".into()).unwrap().is_compile_only());
    }

    #[test]
    fn a_file_that_is_given_up_loses_all_its_tests() {
        let text = "#[test] fn a() { b } mod m { #[test] fn c() {} } fn d() {}";
        let mut file = CutFile::new(text.to_owned()).unwrap();
        file.cut(&[Complaint { message: "first".into(), places: vec![text.find("b }").unwrap()] }]);
        file.give_up("then");
        let lost: Vec<_> = file.lost().into_iter().map(|test| (test.name, test.message)).collect();
        let wanted = [("a", "first"), ("m::c", "then")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(lost, wanted);
    }

    #[test]
    fn bytes_and_lines_keep_their_places() {
        let text = "fn a() {\n    \"–\"\n}\nfn b() {}\n";
        let mut file = CutFile::new(text.to_owned()).unwrap();
        assert!(file.cut(&[Complaint { message: String::new(), places: vec![3] }]));
        assert_eq!(file.text().len(), text.len());
        assert_eq!(file.text().find("fn b"), text.find("fn b"));
        assert_eq!(file.text().lines().count(), text.lines().count());
    }
}
