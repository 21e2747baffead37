//! The structures that are generated from the option table: one layer of values for each source, and the effective values.

macro_rules! layered_options {
    ($($field:ident: $type:ty = $spec:expr;)*) => {
        /// The values that one source sets, such as the command line or one config file.
        #[derive(Clone, Debug, Default)]
        pub struct OptionLayer {
            $(pub $field: Option<Sourced<$type>>,)*
        }

        #[derive(Clone, Debug)]
        pub struct EffectiveOptions {
            $(pub $field: Sourced<$type>,)*
        }

        struct OptionTable {
            $($field: OptionSpec<$type>,)*
        }

        const TABLE: OptionTable = OptionTable { $($field: $spec,)* };

        impl OptionLayer {
            /// Sets `key` to a value from a config file. Returns false if there is no such key.
            pub fn set(&mut self, key: &str, value: &TomlValue<'_>, origin: ValueOrigin) -> Result<bool, RejectedValue> {
                $(if key == TABLE.$field.key {
                    self.$field = Some(Sourced { value: TABLE.$field.parse_toml(value)?, origin });
                    return Ok(true);
                })*
                Ok(false)
            }

            /// Drops the values that an untrusted config file may not set: those that make a run check less, keep less or accept
            /// more.
            pub fn without_loosening(self) -> Self {
                Self { $($field: self.$field.filter(|set| (TABLE.$field.counts_if_untrusted)(&set.value)),)* }
            }

            fn from_matches(command: u8, matches: &clap::ArgMatches) -> Result<Self, RejectedArgument> {
                Ok(Self { $($field: TABLE.$field.given(command, matches)?,)* })
            }
        }

        impl EffectiveOptions {
            /// Merges the command line and the config files. `files` starts with the nearest file.
            pub fn merge(command_line: &OptionLayer, files: &[&OptionLayer]) -> Self {
                Self {
                    $($field: TABLE.$field.choose(
                        command_line.$field.as_ref(),
                        files.iter().filter_map(|file| file.$field.as_ref()),
                    ),)*
                }
            }

            /// Returns the values as `tflock config` shows them.
            pub fn rows(&self) -> Vec<OptionRow> {
                vec![$(TABLE.$field.row(&self.$field),)*]
            }
        }

        /// Returns the keys of all options in a config file, in alphabetical order.
        pub fn option_keys() -> Vec<&'static str> {
            let mut keys = vec![$(TABLE.$field.key,)*];
            keys.sort_unstable();
            keys
        }

        /// Returns whether the option table declares the command-line option `--name`.
        pub fn is_layered_option(name: &str) -> bool {
            [$(TABLE.$field.option,)*].contains(&name)
        }

        fn command_arguments(command: u8) -> Vec<clap::Arg> {
            [$(TABLE.$field.arguments(command),)*].concat()
        }
    };
}
