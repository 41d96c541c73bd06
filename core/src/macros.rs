//! What all enums with names, and all options, have in common.

/// Defines enums whose variants have stable names: `Variant = "name"`, or `"name" | "other"` where `from_name` takes
/// `other` too. The documentation of a variant ends with its name.
///
/// The order of the variants is that of `ALL`. Names are part of machine output: they do not change.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$attribute:meta])*
        $vis:vis enum $Enum:ident {
            $($(#[$of_variant:meta])* $Variant:ident = $name:literal $(| $other:literal)*,)*
        }
    ) => {
        $(#[$attribute])*
        $vis enum $Enum {
            $(
                $(#[$of_variant])*
                #[doc = ""]
                #[doc = concat!("`", $name, "`")]
                $Variant,
            )*
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

/// Defines structs of counts, which add up: `all += &part`.
#[cfg(feature = "bulk")]
#[doc(hidden)]
#[macro_export]
macro_rules! counts {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $Counts:ident {
            $($(#[$of_field:meta])* $of:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$attribute])*
        $vis struct $Counts { $($(#[$of_field])* $of $field: $type,)* }

        impl core::ops::AddAssign<&$Counts> for $Counts {
            fn add_assign(&mut self, other: &$Counts) {
                $(self.$field += &other.$field;)*
            }
        }
    };
}

/// Defines methods that set a field each, for options: `field: Type` takes the value, under `into` what converts to the
/// type, and under `some` the value of an `Option`.
///
/// Fields are public and have the documentation; structs that may get more fields cannot be written out elsewhere.
#[cfg(feature = "bulk")]
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    (
        $Options:ident $(<$life:lifetime>)?
        $({ $($field:ident: $type:ty),* $(,)? })?
        $(into { $($into:ident: $target:ty),* $(,)? })?
        $(some { $($some:ident: $inner:ty),* $(,)? })?
    ) => {
        impl $(<$life>)? $Options $(<$life>)? {
            $($(
                #[doc = concat!("Sets the field `", stringify!($field), "`.")]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*)?
            $($(
                #[doc = concat!("Sets the field `", stringify!($into), "`.")]
                pub fn $into(mut self, $into: impl Into<$target>) -> Self {
                    self.$into = $into.into();
                    self
                }
            )*)?
            $($(
                #[doc = concat!("Sets the field `", stringify!($some), "`.")]
                pub fn $some(mut self, $some: $inner) -> Self {
                    self.$some = Some($some);
                    self
                }
            )*)?
        }
    };
}
