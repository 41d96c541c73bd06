//! Floor 0: what all enums with names have in common.

/// Defines enums whose variants have stable names: `Variant = "name"`, or `"name" | "other"` where `from_name` takes
/// `other` too.
///
/// The order of the variants is that of `ALL`. Names are part of machine output: they do not change.
macro_rules! named {
    (
        $(#[$attribute:meta])*
        $vis:vis enum $Enum:ident {
            $($(#[$of_variant:meta])* $Variant:ident = $name:literal $(| $other:literal)*,)*
        }
    ) => {
        $(#[$attribute])*
        $vis enum $Enum {
            $($(#[$of_variant])* $Variant,)*
        }

        impl $Enum {
            /// All of them, in order.
            pub const ALL: [$Enum; [$($name),*].len()] = [$($Enum::$Variant),*];

            /// The stable name, used in options and in machine output.
            pub const fn name(self) -> &'static str {
                match self { $($Enum::$Variant => $name),* }
            }

            /// The one with this `name` (exactly, in lower case), or `None`.
            pub fn from_name(name: &str) -> Option<$Enum> {
                match name {
                    $($name $(| $other)* => Some($Enum::$Variant),)*
                    _ => None,
                }
            }
        }

        impl core::fmt::Display for $Enum {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
