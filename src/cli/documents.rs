//! What is made of the command line itself: shell completions and manual pages.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  tflock completions bash > ~/.local/share/bash-completion/completions/tflock
  tflock completions zsh > \"${fpath[1]}/_tflock\"
  tflock completions fish > ~/.config/fish/completions/tflock.fish
  tflock completions powershell >> $PROFILE";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  tflock man lock | man -l -
  tflock man > /usr/local/share/man/man1/tflock.1";

/// Options of `tflock completions`.
#[derive(Args, Clone, Copy, Debug)]
pub struct CompletionsArgs {
    /// For which shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Options of `tflock man`.
#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// The page of this command [default: the one about tflock itself]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl CompletionsArgs {
    /// The script.
    pub fn render(self) -> String {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "tflock", &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }
}

impl ManArgs {
    /// The page as roff; the names of all pages where there is none of that name.
    pub fn render(&self) -> Result<String, Vec<String>> {
        let mut whole = Cli::command().disable_help_subcommand(true);
        // Options that all commands have belong to their pages as well.
        whole.build();
        let (title, command) = match &self.command {
            None => ("tflock".to_owned(), &whole),
            Some(name) => {
                let names = || whole.get_subcommands().map(|one| one.get_name().to_owned());
                let found = whole.find_subcommand(name);
                let found = found.ok_or_else(|| names().collect::<Vec<_>>())?;
                (format!("tflock-{name}"), found)
            }
        };
        let mut page = Vec::new();
        let man = clap_mangen::Man::new(command.clone()).title(title);
        // Writing to memory cannot fail.
        let _ = man.render(&mut page);
        Ok(String::from_utf8_lossy(&page).into_owned())
    }
}
