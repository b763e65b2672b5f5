//! Where the generated code finds heist.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The name that the Cargo.toml of the package being compiled gives to heist.
pub fn default_path() -> TokenStream {
    path_of(crate_name("heist").ok())
}

/// Examples and tests of heist itself see it from the outside, as `::heist`. A build without cargo
/// has no manifest; `::heist` is the best guess.
fn path_of(found: Option<FoundCrate>) -> TokenStream {
    match found {
        Some(FoundCrate::Name(name)) => {
            let name = Ident::new(&name, Span::call_site());
            quote!(::#name)
        }
        Some(FoundCrate::Itself) | None => quote!(::heist),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_the_manifest_is_taken() {
        let renamed = path_of(Some(FoundCrate::Name("tokio".into())));
        assert_eq!(renamed.to_string(), ":: tokio");
    }

    #[test]
    fn otherwise_it_is_heist() {
        assert_eq!(path_of(Some(FoundCrate::Itself)).to_string(), ":: heist");
        assert_eq!(path_of(None).to_string(), ":: heist");
        // This package does not depend on heist.
        assert_eq!(default_path().to_string(), ":: heist");
    }
}
