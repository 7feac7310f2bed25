//! What has a `kind`: an enumeration, and the names of its variants in a configuration.

/// Declares an enumeration that is tagged by `kind`, each variant with its name there.
macro_rules! kinds {
    ($(#[$about:meta])* $enum:ident { $($(#[$doc:meta])* $kind:ident($settings:ty) = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(tag = "kind")]
        pub enum $enum {
            $($(#[$doc])* #[serde(rename = $name)] $kind($settings),)*
        }

        impl $enum {
            /// The names of all kinds.
            pub const KINDS: [&'static str; [$($name),*].len()] = [$($name),*];

            /// The name of its kind.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)*
                }
            }
        }
    };
}
