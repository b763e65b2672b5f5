//! Finds the items of a source file: functions, imports, calls of macros and so on.
//!
//! It works on tokens, not on syntax: many test files put their tests into a call of their own
//! macro, and what stands in there is nothing but tokens to any parser.

use std::ops::Range;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// What an item is, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A function with an attribute that makes it a test.
    Test,
    /// Another function.
    Function,
    /// An import.
    Use,
    /// A call of a macro.
    MacroCall,
    /// The definition of a macro.
    MacroRules,
    /// A module.
    Module,
    /// A type, a constant, an implementation or the like.
    Other,
}

/// An item and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its name, where it has one.
    pub name: String,
    /// Its bytes, with its attributes.
    pub bytes: Range<usize>,
    /// The items within a module, an implementation or the braces of a macro's call.
    pub inner: Vec<Item>,
    /// The branches of an import that can be taken out separately.
    pub branches: Vec<Range<usize>>,
}

/// The items of a file.
pub fn items(text: &str) -> Result<Vec<Item>, LexError> {
    let tokens: Vec<TokenTree> = text.parse::<TokenStream>()?.into_iter().collect();
    Ok(Scanner { tokens: &tokens, at: 0 }.scan().unwrap_or_default())
}

impl Item {
    /// The item and all within it.
    pub fn all(&self) -> Vec<&Item> {
        std::iter::once(self).chain(self.inner.iter().flat_map(Item::all)).collect()
    }
}

struct Scanner<'t> {
    tokens: &'t [TokenTree],
    at: usize,
}

impl Scanner<'_> {
    /// `None` if these are not items but some other language of a macro.
    fn scan(mut self) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            self.skip_inner_attributes();
            if self.at == self.tokens.len() {
                return Some(items);
            }
            items.push(self.item()?);
        }
    }

    fn item(&mut self) -> Option<Item> {
        let start = self.at;
        let is_test = self.skip_attributes();
        self.skip_visibility();
        let keyword = self.ident(self.at)?;
        let mut item = Item {
            kind: Kind::Other,
            name: String::new(),
            bytes: 0..0,
            inner: vec![],
            branches: vec![],
        };
        match keyword.as_str() {
            "use" => {
                item.kind = Kind::Use;
                let end = self.find(|token| is_punct(token, ';'));
                item.branches = branches(&self.tokens[self.at..end]);
                self.at = end + 1;
            }
            "type" | "static" => self.at = self.find(|token| is_punct(token, ';')) + 1,
            "const" if !self.is_function() => {
                self.at = self.find(|token| is_punct(token, ';')) + 1;
            }
            "mod" | "impl" | "trait" | "unsafe" | "fn" | "async" | "const" | "extern"
            | "struct" | "enum" | "union" => self.declaration(&mut item, is_test),
            _ => self.macro_call(&mut item)?,
        }
        self.at = self.at.min(self.tokens.len());
        let last = self.tokens[self.at - 1].span().byte_range();
        item.bytes = self.tokens[start].span().byte_range().start..last.end;
        Some(item)
    }

    /// Whatever ends with a pair of braces or a semicolon, whichever is first.
    fn declaration(&mut self, item: &mut Item, is_test: bool) {
        let end = self.find(|token| is_punct(token, ';') || braces(token).is_some());
        let head = &self.tokens[self.at..end];
        let words: Vec<String> = head.iter().filter_map(word).collect();
        let keyword = words.iter().position(|word| {
            matches!(word.as_str(), "fn" | "mod" | "impl" | "trait" | "struct" | "enum" | "union")
        });
        let keyword = keyword.unwrap_or(0);
        item.name = words.get(keyword + 1).cloned().unwrap_or_default();
        item.kind = match words[keyword].as_str() {
            "fn" if is_test => Kind::Test,
            "fn" => Kind::Function,
            "mod" => Kind::Module,
            _ => Kind::Other,
        };
        let has_items = matches!(words[keyword].as_str(), "mod" | "impl" | "trait");
        if let Some(group) = self.tokens.get(end).and_then(braces).filter(|_| has_items) {
            item.inner = Scanner { tokens: &group, at: 0 }.scan().unwrap_or_default();
        }
        self.at = end + 1;
    }

    /// `path::name! { … }`, `name!(…);` or `macro_rules! name { … }`.
    fn macro_call(&mut self, item: &mut Item) -> Option<()> {
        let bang = self.find(|token| is_punct(token, '!'));
        let is_path = |token: &TokenTree| word(token).is_some() || is_punct(token, ':');
        if bang == self.tokens.len() || !self.tokens[self.at..bang].iter().all(is_path) {
            return None;
        }
        item.name = self.ident(bang - 1)?;
        item.kind = Kind::MacroCall;
        self.at = bang + 1;
        if item.name == "macro_rules" {
            item.kind = Kind::MacroRules;
            item.name = self.ident(self.at)?;
            self.at += 1;
        }
        let TokenTree::Group(group) = self.tokens.get(self.at)? else { return None };
        self.at += 1;
        if group.delimiter() == Delimiter::Brace {
            let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
            if item.kind == Kind::MacroCall {
                item.inner = Scanner { tokens: &tokens, at: 0 }.scan().unwrap_or_default();
            }
        } else if self.tokens.get(self.at).is_some_and(|token| is_punct(token, ';')) {
            self.at += 1;
        }
        Some(())
    }

    fn skip_inner_attributes(&mut self) {
        let is = |at: usize, c| self.tokens.get(at).is_some_and(|token| is_punct(token, c));
        let mut at = self.at;
        while is(at, '#') && is(at + 1, '!') {
            at += 3;
        }
        self.at = at.min(self.tokens.len());
    }

    /// Whether one of them makes a function a test.
    fn skip_attributes(&mut self) -> bool {
        let mut is_test = false;
        while self.tokens.get(self.at).is_some_and(|token| is_punct(token, '#')) {
            if let Some(TokenTree::Group(group)) = self.tokens.get(self.at + 1) {
                is_test |= makes_a_test(group.stream());
            }
            self.at += 2;
        }
        is_test
    }

    fn skip_visibility(&mut self) {
        if self.ident(self.at).as_deref() == Some("pub") {
            self.at += 1;
            let is_group = |token: &TokenTree| matches!(token, TokenTree::Group(_));
            self.at += usize::from(self.tokens.get(self.at).is_some_and(is_group));
        }
    }

    /// Whether `const` begins a function rather than a constant.
    fn is_function(&self) -> bool {
        let next = self.ident(self.at + 1);
        matches!(next.as_deref(), Some("fn" | "async" | "unsafe" | "extern"))
    }

    fn ident(&self, at: usize) -> Option<String> {
        self.tokens.get(at).and_then(word)
    }

    /// The next token that `is` it; else the end.
    fn find(&self, is: impl Fn(&TokenTree) -> bool) -> usize {
        let found = self.tokens[self.at..].iter().position(is);
        found.map_or(self.tokens.len(), |offset| self.at + offset)
    }
}

/// `#[test]`, `#[some::test(…)]`, `#[my_test]`, also as `#[cfg_attr(…, some::test)]`.
fn makes_a_test(attribute: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    let path = tokens.iter().take_while(|token| word(token).is_some() || is_punct(token, ':'));
    let names: Vec<String> = path.filter_map(word).collect();
    match (names.last().map(String::as_str), tokens.last()) {
        (Some("cfg_attr"), Some(TokenTree::Group(group))) => {
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            let parts = inside.split(|token| is_punct(token, ',')).skip(1);
            parts.into_iter().any(|part| makes_a_test(part.iter().cloned().collect()))
        }
        (Some(name), _) => name == "test" || name.ends_with("_test"),
        (None, _) => false,
    }
}

/// The parts between commas within the braces of an import, at every depth, the outer first.
/// Each has its comma.
fn branches(tokens: &[TokenTree]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for group in tokens.iter().filter_map(braces) {
        for branch in group.split_inclusive(|token| is_punct(token, ',')) {
            let first = branch[0].span().byte_range();
            found.push(first.start..branch[branch.len() - 1].span().byte_range().end);
            found.extend(branches(branch));
        }
    }
    found
}

fn word(token: &TokenTree) -> Option<String> {
    match token {
        TokenTree::Ident(ident) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn braces(token: &TokenTree) -> Option<Vec<TokenTree>> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            Some(group.stream().into_iter().collect())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(text: &str) -> Vec<(Kind, String, String)> {
        let items = items(text).unwrap();
        let all = items.iter().flat_map(Item::all);
        all.map(|item| (item.kind, item.name.clone(), text[item.bytes.clone()].to_owned()))
            .collect()
    }

    fn assert_scanned(text: &str, wanted: &[(Kind, &str, &str)]) {
        let wanted: Vec<_> = wanted
            .iter()
            .map(|(kind, name, text)| (*kind, name.to_string(), text.to_string()))
            .collect();
        assert_eq!(scanned(text), wanted, "{text}");
    }

    #[test]
    fn declarations_end_where_they_should() {
        for (kind, name, text) in [
            (Kind::Function, "a", "fn a() -> [u8; 3] { [1; 3] }"),
            (Kind::Function, "a", "pub(crate) async unsafe fn a<T>() where T: B {}"),
            (Kind::Function, "a", "const fn a() {}"),
            (Kind::Test, "a", "#[test] fn a() {}"),
            (
                Kind::Test,
                "a",
                "/// Doc.\n#[tokio::test(flavor = \"x\")]\n#[cfg(b)] async fn a() {}",
            ),
            (Kind::Test, "a", "#[my_test] fn a() {}"),
            (Kind::Test, "a", "#[cfg_attr(x, inline, some::test(y))] fn a() {}"),
            (Kind::Function, "a", "#[cfg(test)] #[cfg_attr(test, inline)] fn a() {}"),
            (Kind::Use, "", "use a::{b, c::{d, e}};"),
            (Kind::Other, "", "const A: u8 = { 1 };"),
            (Kind::Other, "", "static A: [u8; 1] = [1];"),
            (Kind::Other, "", "type A = B;"),
            (Kind::Other, "A", "struct A { b: u8 }"),
            (Kind::Other, "A", "pub struct A(u8);"),
            (Kind::Other, "A", "unsafe impl A for B {}"),
            (Kind::Module, "a", "mod a;"),
            (Kind::MacroCall, "a", "a!(b; c);"),
            (Kind::MacroCall, "c", "b::c! { not, items }"),
            (Kind::MacroRules, "a", "macro_rules! a { () => { fn b() {} } }"),
        ] {
            let twice = format!("{text}\n{text}");
            assert_scanned(&twice, &[(kind, name, text), (kind, name, text)]);
        }
    }

    #[test]
    fn items_within_items() {
        let test = "#[test]\n fn t() { fn not_this() {} }";
        for (kind, name, head) in [
            (Kind::Module, "m", "mod m"),
            (Kind::MacroCall, "m", "m!"),
            (Kind::Other, "m", "impl m"),
        ] {
            let text = format!("{head} {{ {test} }}");
            assert_scanned(&text, &[(kind, name, &text), (Kind::Test, "t", test)]);
        }
    }

    #[test]
    fn attributes_of_the_file_belong_to_no_item() {
        let text = "#![cfg(x)]\n//! Doc.\nfn a() {}";
        assert_scanned(text, &[(Kind::Function, "a", "fn a() {}")]);
    }

    #[test]
    fn branches_of_imports() {
        let text = "use a::{b, c::{d, e},};";
        let item = &items(text).unwrap()[0];
        let found: Vec<&str> = item.branches.iter().map(|bytes| &text[bytes.clone()]).collect();
        assert_eq!(found, ["b,", "c::{d, e},", "d,", "e"]);
        assert!(items("use a::b;").unwrap()[0].branches.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        assert!(items("fn a() { ( }").is_err());
        assert_eq!(items("1 + 1").unwrap(), []);
    }
}
