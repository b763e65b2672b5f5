//! The function that the attribute stands on.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Meta, ReturnType, Signature, Visibility, braced, token};

use crate::expand::Kind;

/// A function whose body is left as it is: an editor expands the attribute while the body is
/// being typed, and a body that does not parse yet must not take the function away.
pub struct Function {
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub signature: Signature,
    pub brace: token::Brace,
    /// `#![allow(…)]` and the like, which may stand in a function but not in an async block.
    pub inner_attributes: Vec<Attribute>,
    pub body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> syn::Result<Function> {
        let content;
        Ok(Function {
            attributes: Attribute::parse_outer(input)?,
            visibility: input.parse()?,
            signature: input.parse()?,
            brace: braced!(content in input),
            inner_attributes: Attribute::parse_inner(&content)?,
            body: content.parse()?,
        })
    }
}

impl Function {
    /// What the attribute cannot work with.
    pub fn check(&self, kind: Kind) -> syn::Result<()> {
        let signature = &self.signature;
        if signature.asyncness.is_none() {
            let message = "this attribute is for async functions: write `async fn`";
            return Err(Error::new(signature.fn_token.span, message));
        }
        let takes_arguments = !signature.inputs.is_empty();
        if takes_arguments && kind == Kind::Test {
            let message = "a test gets no arguments: build the values inside of it";
            return Err(Error::new_spanned(&signature.inputs, message));
        }
        if takes_arguments && signature.ident == "main" {
            let message = "`main` takes no arguments: read std::env::args() inside of it, or give \
                           the function another name";
            return Err(Error::new_spanned(&signature.inputs, message));
        }
        match self.attributes.iter().find(|attribute| is_test(attribute)) {
            Some(second) if kind == Kind::Test => {
                let message = "this makes it a test a second time: remove `#[test]`";
                Err(Error::new_spanned(second, message))
            }
            _ => Ok(()),
        }
    }

    /// The return type, if it can be named outside of a signature: neither `!` nor anything
    /// with `impl Trait` in it.
    pub fn nameable_output(&self) -> Option<TokenStream> {
        match &self.signature.output {
            ReturnType::Default => Some(quote!(())),
            ReturnType::Type(_, output) => {
                let tokens = output.to_token_stream();
                let is_never = matches!(**output, syn::Type::Never(_));
                (!is_never && !mentions_impl(tokens.clone())).then_some(tokens)
            }
        }
    }

    /// Where the last statement is. The compiler reports there what is wrong with the result.
    pub fn end(&self) -> Span {
        let last = self.body.clone().into_iter().last();
        last.map_or_else(|| self.brace.span.close(), |token| token.span())
    }
}

/// `#[test]`, by itself or with the path of a prelude.
fn is_test(attribute: &Attribute) -> bool {
    let Meta::Path(path) = &attribute.meta else { return false };
    let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    match segments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => path.leading_colon.is_none(),
        ["core" | "std", "prelude", _, "test"] => true,
        _ => false,
    }
}

fn mentions_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == "impl",
        TokenTree::Group(group) => mentions_impl(group.stream()),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_str;

    use super::*;

    fn checked(kind: Kind, text: &str) -> Result<(), String> {
        let function: Function = parse_str(text).unwrap();
        function.check(kind).map_err(|error| error.to_string())
    }

    #[test]
    fn async_functions_are_fine() {
        for text in [
            "async fn main() {}",
            "#[test] async fn main() {}",
            "pub(crate) async fn run<T>(a: T, b: &str) -> Result<T, E> where T: Copy { a }",
        ] {
            assert_eq!(checked(Kind::Main, text), Ok(()), "{text}");
        }
        for text in ["async fn main() {}", "#[should_panic] async fn works() -> R { Ok(()) }"] {
            assert_eq!(checked(Kind::Test, text), Ok(()), "{text}");
        }
    }

    #[test]
    fn others_are_refused() {
        for (kind, text, what) in [
            (Kind::Main, "fn main() {}", "write `async fn`"),
            (Kind::Test, "fn works() {}", "write `async fn`"),
            (Kind::Main, "async fn main(a: u8) {}", "read std::env::args()"),
            (Kind::Test, "async fn works(a: u8) {}", "build the values inside"),
            (Kind::Test, "#[test] async fn works() {}", "remove `#[test]`"),
            (Kind::Test, "#[core::prelude::v1::test] async fn works() {}", "remove `#[test]`"),
            (Kind::Test, "#[::std::prelude::v1::test] async fn works() {}", "remove `#[test]`"),
        ] {
            let error = checked(kind, text).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn only_test_attributes_are_test_attributes() {
        for text in ["#[other::test]", "#[test(a)]", "#[::test]", "#[testing]"] {
            let text = format!("{text} async fn works() {{}}");
            assert_eq!(checked(Kind::Test, &text), Ok(()), "{text}");
        }
    }

    #[test]
    fn outputs_that_have_a_name() {
        for (output, nameable) in [
            ("", true),
            ("-> Result<(), E>", true),
            ("-> Box<dyn Fn(u8) -> u8>", true),
            ("-> !", false),
            ("-> impl Copy", false),
            ("-> Result<(impl Copy, u8), E>", false),
        ] {
            let function: Function = parse_str(&format!("async fn f() {output} {{}}")).unwrap();
            assert_eq!(function.nameable_output().is_some(), nameable, "{output}");
        }
    }

    #[test]
    fn a_body_that_is_being_typed_is_kept() {
        let function: Function = parse_str("async fn f() { #![allow(x)] a. }").unwrap();
        assert_eq!(function.body.to_string(), "a .");
        assert_eq!(function.inner_attributes.len(), 1);
    }
}
