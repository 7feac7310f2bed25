//! What has a `kind`: an enumeration, and the names of its variants in a configuration.

/// Declares an enumeration that is tagged by `kind`, each variant with its name there.
macro_rules! kinds {
    ($(#[$about:meta])* $enum:ident { $($(#[doc = $doc:literal])* $kind:ident($settings:ty) = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(tag = "kind")]
        pub enum $enum {
            $($(#[doc = $doc])* #[serde(rename = $name)] $kind($settings),)*
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

        /// One of the kinds, each with its keys beside `kind`.
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $enum {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($enum).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let kinds = [$(
                    $crate::settings::reference::kinds::of_kind($name, concat!($($doc),*), <$settings as schemars::JsonSchema>::json_schema(generator)),
                )*];
                schemars::json_schema!({ "oneOf": kinds })
            }
        }
    };
}

/// The schema of a table with its `kind` beside its other keys.
#[cfg(feature = "schema")]
pub(super) fn of_kind(kind: &str, about: &str, mut keys: schemars::Schema) -> schemars::Schema {
    use serde_json::{Map, Value, json};
    let object = keys.ensure_object();
    object.insert("title".into(), kind.into());
    object.insert("description".into(), about.trim().into());
    let mut properties = Map::from_iter([("kind".to_owned(), json!({ "const": kind }))]);
    if let Some(Value::Object(own)) = object.remove("properties") {
        properties.extend(own);
    }
    object.insert("properties".into(), properties.into());
    let mut required = vec![Value::from("kind")];
    if let Some(Value::Array(own)) = object.remove("required") {
        required.extend(own);
    }
    object.insert("required".into(), required.into());
    keys
}
