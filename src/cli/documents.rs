//! Shell completions and manual pages, generated from the command-line definition.

use clap::Args;
use clap_complete::Shell;

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

#[derive(Args, Clone, Copy, Debug)]
pub struct CompletionsArgs {
    /// Print the script for this shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Args, Clone, Debug)]
pub struct ManArgs {
    /// Print the page of this command [default: the page about tflock itself]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

impl CompletionsArgs {
    pub fn render(self) -> String {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::program(), "tflock", &mut script);
        String::from_utf8_lossy(&script).into_owned()
    }
}

impl ManArgs {
    /// Returns the page in roff format. If there is no such command, the error contains the names of all commands.
    pub fn render(&self) -> Result<String, Vec<String>> {
        let mut whole = super::program().disable_help_subcommand(true);
        // Adds the global options to the page of each command.
        whole.build();
        let (title, command) = match &self.command {
            None => ("tflock".to_owned(), &whole),
            Some(name) => {
                let names = whole.get_subcommands().map(clap::Command::get_name);
                let names = || names.map(str::to_owned).collect::<Vec<_>>();
                let command = whole.find_subcommand(name).ok_or_else(names)?;
                (format!("tflock-{name}"), command)
            }
        };
        let mut page = Vec::new();
        let examples = command.get_before_long_help().cloned();
        let end = examples
            .into_iter()
            .chain(command.get_after_long_help().cloned());
        let end: Vec<String> = end.map(|text| text.to_string()).collect();
        let command = command.clone().after_long_help(end.join("\n\n"));
        let man = clap_mangen::Man::new(command).title(title);
        // Writing to memory cannot fail.
        let _ = man.render(&mut page);
        Ok(String::from_utf8_lossy(&page).into_owned())
    }
}
