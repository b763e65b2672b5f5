//! The arguments of the attributes.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, Meta, Path, Token};

const KNOWN: &str = "`flavor`, `worker_threads`, `name`, `start_paused` and `crate`";

/// Which runtime is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// A pool of worker threads.
    MultiThread,
    /// The calling thread alone.
    CurrentThread,
}

/// What the arguments ask for.
pub struct Settings {
    pub flavor: Flavor,
    pub worker_threads: Option<usize>,
    pub name: Option<String>,
    pub start_paused: bool,
    pub krate: Option<Path>,
}

impl Settings {
    pub fn with_flavor(flavor: Flavor) -> Settings {
        Settings { flavor, worker_threads: None, name: None, start_paused: false, krate: None }
    }

    /// Reads the arguments. The error has everything that is wrong with them.
    pub fn parse(tokens: TokenStream, default: Flavor) -> syn::Result<Settings> {
        let arguments = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens)?;
        let mut given = Given::default();
        let mut errors = Errors(None);
        for argument in &arguments {
            errors.add_from(given.take(argument));
        }
        let flavor = given.flavor.unwrap_or(default);
        errors.add_from(given.fits(flavor));
        let worker_threads = given.worker_threads.map(|(count, _)| count);
        let start_paused = given.start_paused.is_some_and(|(is_so, _)| is_so);
        let Given { name, krate, .. } = given;
        errors.or(Settings { flavor, worker_threads, name, start_paused, krate })
    }
}

/// Every mistake at once: nobody wants to compile once for each.
struct Errors(Option<Error>);

impl Errors {
    fn add_from(&mut self, result: syn::Result<()>) {
        match (&mut self.0, result) {
            (Some(errors), Err(error)) => errors.combine(error),
            (none, Err(error)) => *none = Some(error),
            (_, Ok(())) => {}
        }
    }

    fn or<T>(self, value: T) -> syn::Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}

/// The arguments as written, each at most once. The expressions are kept for their places.
#[derive(Default)]
struct Given<'a> {
    flavor: Option<Flavor>,
    worker_threads: Option<(usize, &'a Expr)>,
    name: Option<String>,
    start_paused: Option<(bool, &'a Expr)>,
    krate: Option<Path>,
}

impl<'a> Given<'a> {
    fn take(&mut self, argument: &'a Meta) -> syn::Result<()> {
        let Meta::NameValue(pair) = argument else { return Err(not_a_pair(argument)) };
        let (name, value) = (&pair.path, &pair.value);
        match name_of(name).as_str() {
            "flavor" => set(&mut self.flavor, name, flavor(value)?),
            "worker_threads" => set(&mut self.worker_threads, name, (count(value)?, value)),
            "name" => set(&mut self.name, name, runtime_name(value)?),
            "start_paused" => set(&mut self.start_paused, name, (switch(value)?, value)),
            "crate" => set(&mut self.krate, name, path(value)?),
            "core_threads" | "threads" | "workers" => {
                Err(Error::new_spanned(name, "the number of workers is called `worker_threads`"))
            }
            other => Err(unknown(name, other)),
        }
    }

    /// Whether the arguments go together.
    fn fits(&self, flavor: Flavor) -> syn::Result<()> {
        match (flavor, self.worker_threads, self.start_paused) {
            (Flavor::CurrentThread, Some((_, at)), _) => {
                let message = "a `current_thread` runtime has no workers: write \
                               `flavor = \"multi_thread\"` as well, or remove `worker_threads`";
                Err(Error::new_spanned(at, message))
            }
            (Flavor::MultiThread, _, Some((_, at))) => {
                let message = "the clock of a `multi_thread` runtime cannot be paused: write \
                               `flavor = \"current_thread\"` as well, or remove `start_paused`";
                Err(Error::new_spanned(at, message))
            }
            _ => Ok(()),
        }
    }
}

fn set<T>(slot: &mut Option<T>, name: &Path, value: T) -> syn::Result<()> {
    if slot.is_some() {
        let message = format!("`{}` is given twice: keep one of them", name_of(name));
        return Err(Error::new_spanned(name, message));
    }
    *slot = Some(value);
    Ok(())
}

fn flavor(value: &Expr) -> syn::Result<Flavor> {
    let wanted = "write `flavor = \"multi_thread\"` or `flavor = \"current_thread\"`";
    let Some(Lit::Str(text)) = literal(value) else {
        let message = format!("a flavor stands in quotes: {wanted}");
        return Err(Error::new_spanned(value, message));
    };
    let message = match text.value().as_str() {
        "multi_thread" => return Ok(Flavor::MultiThread),
        "current_thread" => return Ok(Flavor::CurrentThread),
        "local" => "heist has no `local` flavor: write `flavor = \"current_thread\"` and spawn \
                    what is not Send in a `task::LocalSet`"
            .to_owned(),
        other => format!("there is no flavor `{other}`: {wanted}"),
    };
    Err(Error::new_spanned(value, message))
}

fn count(value: &Expr) -> syn::Result<usize> {
    let wanted = "write a number from 1 on, such as `worker_threads = 4`";
    let message = match literal(value) {
        Some(Lit::Int(number)) => match number.base10_parse::<usize>() {
            Ok(0) => format!("a runtime without workers runs nothing: {wanted}"),
            Ok(count) => return Ok(count),
            Err(error) => format!("`{number}` workers cannot be had ({error}): {wanted}"),
        },
        _ => format!("this is no integer: {wanted}"),
    };
    Err(Error::new_spanned(value, message))
}

fn runtime_name(value: &Expr) -> syn::Result<String> {
    let text = match literal(value) {
        Some(Lit::Str(text)) => text.value(),
        _ => String::new(),
    };
    if text.trim().is_empty() {
        let message = "this is no name in quotes: write `name = \"orders\"`";
        return Err(Error::new_spanned(value, message));
    }
    Ok(text)
}

fn switch(value: &Expr) -> syn::Result<bool> {
    match literal(value) {
        Some(Lit::Bool(switch)) => Ok(switch.value),
        _ => {
            let message = "this is neither true nor false: write `start_paused = true`";
            Err(Error::new_spanned(value, message))
        }
    }
}

fn path(value: &Expr) -> syn::Result<Path> {
    let parsed = match literal(value) {
        Some(Lit::Str(text)) => text.parse_with(Path::parse_mod_style).ok(),
        _ => None,
    };
    parsed.ok_or_else(|| {
        let message = "this is no path in quotes: write where heist is, such as \
                       `crate = \"framework::heist\"`";
        Error::new_spanned(value, message)
    })
}

fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => Some(lit),
        // A value that came through a `macro_rules!` is wrapped in an invisible group.
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

fn not_a_pair(argument: &Meta) -> Error {
    let name = name_of(argument.path());
    let message = match name.as_str() {
        "multi_thread" | "current_thread" => format!("write `flavor = \"{name}\"`"),
        "flavor" => "write `flavor = \"multi_thread\"` or `flavor = \"current_thread\"`".into(),
        "worker_threads" => "write the number of workers: `worker_threads = 4`".into(),
        "name" => "write the runtime's name in quotes: `name = \"orders\"`".into(),
        "start_paused" => "write `start_paused = true`".into(),
        "crate" => "write where heist is: `crate = \"framework::heist\"`".into(),
        other => return unknown(argument, other),
    };
    Error::new(argument.span(), message)
}

fn unknown(at: impl ToTokens, name: &str) -> Error {
    Error::new_spanned(at, format!("there is no argument `{name}`: there are {KNOWN}"))
}

fn name_of(path: &Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    names.join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> syn::Result<Settings> {
        Settings::parse(text.parse().unwrap(), Flavor::MultiThread)
    }

    /// The messages, each with the text it points at.
    fn errors(text: &str) -> Vec<(String, String)> {
        let errors = parse(text).err().expect(text);
        let place = |error: &Error| {
            let columns = error.span().start().column..error.span().end().column;
            text.chars().skip(columns.start).take(columns.len()).collect()
        };
        errors.into_iter().map(|error| (place(&error), error.to_string())).collect()
    }

    fn assert_refused(text: &str, place: &str, what: &str) {
        let errors = errors(text);
        assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        assert_eq!(errors[0].0, place, "{text}: {errors:?}");
        assert!(errors[0].1.contains(what), "{text}: {errors:?}");
    }

    #[test]
    fn nothing_is_the_default() {
        let settings = Settings::parse(TokenStream::new(), Flavor::CurrentThread).unwrap();
        assert_eq!(settings.flavor, Flavor::CurrentThread);
        assert_eq!(settings.worker_threads, None);
        assert!(settings.krate.is_none());
    }

    #[test]
    fn every_argument_is_read() {
        let settings = parse("flavor = \"multi_thread\", worker_threads = 3,").unwrap();
        assert_eq!((settings.flavor, settings.worker_threads), (Flavor::MultiThread, Some(3)));
        for is_so in [false, true] {
            let text = format!("start_paused = {is_so}, flavor = \"current_thread\"");
            let settings = parse(&text).unwrap();
            assert_eq!((settings.flavor, settings.start_paused), (Flavor::CurrentThread, is_so));
        }
        for path in ["heist", "::a::b", "crate::a", "self::a", "super::a"] {
            let settings = parse(&format!("crate = \"{path}\"")).unwrap();
            let printed = settings.krate.unwrap().to_token_stream().to_string();
            assert_eq!(printed.replace(' ', ""), path);
        }
        assert_eq!(parse("worker_threads = 2_usize").unwrap().worker_threads, Some(2));
        assert_eq!(parse("name = \"two words\"").unwrap().name.as_deref(), Some("two words"));
    }

    #[test]
    fn a_flavor_is_one_of_two() {
        let wanted = "write `flavor = \"multi_thread\"` or `flavor = \"current_thread\"`";
        assert_refused("flavor = \"many\"", "\"many\"", "there is no flavor `many`");
        assert_refused("flavor = \"many\"", "\"many\"", wanted);
        assert_refused("flavor = multi_thread", "multi_thread", wanted);
        assert_refused("flavor = 1", "1", wanted);
        assert_refused("flavor", "flavor", wanted);
        assert_refused("flavor(x)", "flavor(x)", wanted);
        assert_refused("flavor = \"local\"", "\"local\"", "LocalSet");
        assert_refused("current_thread", "current_thread", "write `flavor = \"current_thread\"`");
        assert_refused("multi_thread", "multi_thread", "write `flavor = \"multi_thread\"`");
    }

    #[test]
    fn worker_threads_are_a_number_from_one_on() {
        let wanted = "`worker_threads = 4`";
        for value in ["0", "\"2\"", "-1", "1.5", "true", "N", "99999999999999999999999999"] {
            assert_refused(&format!("worker_threads = {value}"), value, wanted);
        }
        assert_refused("worker_threads", "worker_threads", wanted);
        for old in ["core_threads", "threads", "workers"] {
            assert_refused(&format!("{old} = 2"), old, "called `worker_threads`");
        }
    }

    #[test]
    fn workers_need_a_pool() {
        let text = "worker_threads = 2, flavor = \"current_thread\"";
        assert_refused(text, "2", "write `flavor = \"multi_thread\"`");
        let default = Settings::parse("worker_threads = 2".parse().unwrap(), Flavor::CurrentThread);
        assert!(default.is_err());
    }

    #[test]
    fn a_clock_is_paused_on_one_thread_only() {
        let wanted = "write `flavor = \"current_thread\"`";
        assert_refused("start_paused = true", "true", wanted);
        assert_refused("start_paused = false", "false", wanted);
        for value in ["1", "\"true\"", "yes"] {
            let text = format!("start_paused = {value}");
            assert_refused(&text, value, "write `start_paused = true`");
        }
        assert_refused("start_paused", "start_paused", "write `start_paused = true`");
    }

    #[test]
    fn a_name_is_a_text_that_says_something() {
        for value in ["orders", "1", "\"\"", "\" \"", "true"] {
            assert_refused(&format!("name = {value}"), value, "`name = \"orders\"`");
        }
        assert_refused("name", "name", "`name = \"orders\"`");
    }

    #[test]
    fn a_crate_is_a_path_in_quotes() {
        for value in ["heist", "1", "\"\"", "\"a b\"", "\"a::\"", "\"a<b>\""] {
            assert_refused(&format!("crate = {value}"), value, "`crate = \"framework::heist\"`");
        }
        assert_refused("crate", "crate", "`crate = \"framework::heist\"`");
    }

    #[test]
    fn nothing_is_given_twice() {
        let arguments =
            ["flavor = \"multi_thread\"", "worker_threads = 2", "name = \"a\"", "crate = \"a\""];
        for argument in arguments {
            let text = format!("{argument}, {argument}");
            let name = argument.split(' ').next().unwrap();
            assert_refused(&text, name, "is given twice: keep one of them");
        }
        let twice = errors("start_paused = false, start_paused = false");
        assert!(twice[0].1.contains("is given twice"), "{twice:?}");
    }

    #[test]
    fn unknown_arguments_are_named() {
        assert_refused("color = \"red\"", "color", "there is no argument `color`");
        assert_refused("color", "color", KNOWN);
        assert_refused("a::b = 1", "a::b", "there is no argument `a::b`");
        assert_refused("color(red)", "color(red)", KNOWN);
    }

    #[test]
    fn every_mistake_is_reported_at_once() {
        let errors = errors("flavor = \"many\", worker_threads = 0, color = 1");
        let places: Vec<&str> = errors.iter().map(|(place, _)| place.as_str()).collect();
        assert_eq!(places, ["\"many\"", "0", "color"]);
    }

    #[test]
    fn what_is_no_list_of_arguments_is_refused() {
        for text in ["1", "flavor =", "flavor = \"multi_thread\" worker_threads = 2"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
