//! From an `async fn` to a function that builds a runtime and blocks on it.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Error;

use crate::args::{Flavor, Settings};
use crate::function::Function;

/// Which attribute it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Main,
    Test,
}

impl Kind {
    fn default_flavor(self) -> Flavor {
        match self {
            Kind::Main => Flavor::MultiThread,
            Kind::Test => Flavor::CurrentThread,
        }
    }
}

/// Expands the attribute. After a mistake the function is still there, as well as it can be:
/// otherwise the compiler would go on to complain that there is no `main`.
pub fn expand(
    kind: Kind,
    args: TokenStream,
    item: TokenStream,
    default_crate: impl Fn() -> TokenStream,
) -> TokenStream {
    let function: Function = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return with_error(item, &error),
    };
    if let Err(error) = function.check(kind) {
        return with_error(item, &error);
    }
    let (settings, error) = match Settings::parse(args, kind.default_flavor()) {
        Ok(settings) => (settings, None),
        Err(error) => (Settings::with_flavor(kind.default_flavor()), Some(error)),
    };
    let expanded = generate(kind, &settings, function, default_crate);
    error.map_or(expanded.clone(), |error| with_error(expanded, &error))
}

fn with_error(mut tokens: TokenStream, error: &Error) -> TokenStream {
    tokens.extend(error.to_compile_error());
    tokens
}

fn generate(
    kind: Kind,
    settings: &Settings,
    mut function: Function,
    default_crate: impl Fn() -> TokenStream,
) -> TokenStream {
    function.signature.asyncness = None;
    let end = Span::call_site().located_at(function.end());
    let future = future(kind, &function, end);
    let runtime = runtime(settings, &default_crate);
    // `return`, so that a result of the wrong type is reported as such, and not as a block that
    // ends in the wrong way.
    let run = quote_spanned!(end=> return runtime.block_on(future););
    let test = (kind == Kind::Test).then(|| quote!(#[::core::prelude::v1::test]));
    let Function { attributes, visibility, signature, inner_attributes, .. } = &function;
    quote! {
        #test
        #(#attributes)*
        #visibility #signature {
            #(#inner_attributes)*
            #future
            #[allow(
                clippy::expect_used,
                clippy::diverging_sub_expression,
                clippy::needless_return,
                clippy::unwrap_in_result
            )]
            {
                let runtime = #runtime;
                #run
            }
        }
    }
}

/// Binds `future` to the body.
fn future(kind: Kind, function: &Function, end: Span) -> TokenStream {
    let body = &function.body;
    let mut block = TokenStream::new();
    function.brace.surround(&mut block, |inside| inside.extend(body.clone()));
    let future = quote!(let future = async #block;);
    // A package has hundreds of tests: behind one type they share one copy of `block_on`.
    match function.nameable_output().filter(|_| kind == Kind::Test) {
        Some(output) => quote_spanned! {end=>
            #future
            let future: ::core::pin::Pin<&mut dyn ::core::future::Future<Output = #output>> =
                ::core::pin::pin!(future);
        },
        None => future,
    }
}

fn runtime(settings: &Settings, default_crate: impl Fn() -> TokenStream) -> TokenStream {
    let krate = settings.krate.as_ref().map_or_else(default_crate, |path| quote!(#path));
    let constructor = match settings.flavor {
        Flavor::MultiThread => quote!(new_multi_thread),
        Flavor::CurrentThread => quote!(new_current_thread),
    };
    let workers = settings.worker_threads.map(|count| quote!(.worker_threads(#count)));
    let name = settings.name.as_ref().map(|name| quote!(.name(#name)));
    // The method is there with the feature `test-util` only.
    let paused = settings.start_paused.then(|| quote!(.start_paused(true)));
    quote! {
        #krate::runtime::Builder::#constructor()
            #workers
            #name
            #paused
            .enable_all()
            .build()
            .expect("failed to build the heist runtime")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> String {
        text.parse::<TokenStream>().unwrap().to_string()
    }

    fn expanded(kind: Kind, args: &str, item: &str) -> String {
        let expanded =
            expand(kind, args.parse().unwrap(), item.parse().unwrap(), || quote!(::heist));
        expanded.to_string()
    }

    /// Blanks between punctuation marks differ with where the tokens come from.
    fn squeezed(text: &str) -> String {
        text.replace(' ', "")
    }

    fn assert_has(text: &str, part: &str) {
        assert!(squeezed(text).contains(&squeezed(part)), "{part}\nis not in\n{text}");
    }

    #[test]
    fn all_of_it() {
        let item = "async fn main() -> io::Result<()> { a()?; Ok(()) }";
        let wanted = "
            fn main() -> io::Result<()> {
                let future = async { a()?; Ok(()) };
                #[allow(
                    clippy::expect_used,
                    clippy::diverging_sub_expression,
                    clippy::needless_return,
                    clippy::unwrap_in_result
                )]
                {
                    let runtime = ::heist::runtime::Builder::new_multi_thread()
                        .enable_all()
                        .build()
                        .expect(\"failed to build the heist runtime\");
                    return runtime.block_on(future);
                }
            }";
        assert_eq!(expanded(Kind::Main, "", item), tokens(wanted));
    }

    #[test]
    fn a_test_is_one_and_stays_on_its_thread() {
        let text = expanded(Kind::Test, "", "async fn works() -> R<()> { Ok(()) }");
        assert_has(&text, "#[::core::prelude::v1::test] fn works() -> R<()>");
        assert_has(&text, "::heist::runtime::Builder::new_current_thread().enable_all()");
        assert_has(&text, "dyn ::core::future::Future<Output = R<()>>");
        let text = expanded(Kind::Test, "", "async fn works() {}");
        assert_has(&text, "dyn ::core::future::Future<Output = ()>");
        let text = expanded(Kind::Test, "", "async fn works() -> impl Termination {}");
        assert!(!text.contains("dyn"), "{text}");
    }

    #[test]
    fn arguments_reach_the_builder() {
        for (args, wanted) in [
            ("flavor = \"current_thread\"", "::heist::runtime::Builder::new_current_thread()"),
            ("flavor = \"multi_thread\"", "Builder::new_multi_thread().enable_all()"),
            ("worker_threads = 3", "new_multi_thread().worker_threads(3usize).enable_all()"),
            ("name = \"a\"", "new_multi_thread().name(\"a\").enable_all()"),
            ("crate = \"a::heist\"", "= a::heist::runtime::Builder::new_multi_thread()"),
            (
                "flavor = \"current_thread\", start_paused = false",
                "new_current_thread().enable_all()",
            ),
            (
                "flavor = \"current_thread\", start_paused = true",
                "().start_paused(true).enable_all()",
            ),
        ] {
            assert_has(&expanded(Kind::Main, args, "async fn main() {}"), wanted);
        }
        let args = "flavor = \"multi_thread\", worker_threads = 2";
        let text = expanded(Kind::Test, args, "async fn works() {}");
        assert_has(&text, "Builder::new_multi_thread().worker_threads(2usize)");
    }

    #[test]
    fn the_rest_of_the_function_stays() {
        let head = "#[inline] #[doc = \"x\"] pub(crate) async unsafe fn run<'a, T: A>(self, a: &'a T) \
                    -> Result<T, E> where T: Copy";
        let text = expanded(Kind::Main, "", &format!("{head} {{ #![allow(x)] b(a).await }}"));
        assert!(squeezed(&text).starts_with(&squeezed(&head.replace("async ", ""))), "{text}");
        assert_has(&text, "#![allow(x)] let future = async { b(a).await };");
    }

    #[test]
    fn after_a_wrong_argument_the_function_is_still_there() {
        let text = expanded(Kind::Main, "color = 1", "async fn main() {}");
        assert!(text.starts_with("fn main ()"), "{text}");
        assert_has(&text, "let future = async {};");
        assert_has(&text, "::core::compile_error!");
        assert!(text.contains("there is no argument `color`"), "{text}");
        let text = expanded(Kind::Test, "worker_threads = 2", "async fn works() {}");
        assert_has(&text, "#[::core::prelude::v1::test] fn works()");
        assert!(text.contains("a `current_thread` runtime has no workers"), "{text}");
    }

    #[test]
    fn a_function_that_does_not_fit_is_left_alone() {
        for (kind, item, what) in [
            (Kind::Main, "fn main() {}", "write `async fn`"),
            (Kind::Main, "async fn main(a: u8) {}", "`main` takes no arguments"),
            (Kind::Test, "fn works() {}", "write `async fn`"),
            (Kind::Test, "struct A;", "expected"),
        ] {
            let text = expanded(kind, "", item);
            assert!(text.starts_with(&tokens(item)), "{text}");
            assert!(text.contains("compile_error") && text.contains(what), "{text}");
        }
    }
}
