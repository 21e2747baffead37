//! Checks that blocks have the expected number of labels, and that labels are valid names.

use crate::syntax::{Block, Body, is_identifier};

use super::{BlockProblem, ConfigError};

impl<'a> Body<'a> {
    /// Returns the blocks of a kind. Fails if any of them does not have exactly `labels` labels.
    pub(super) fn labelled_blocks(
        &self,
        kind: &str,
        labels: usize,
    ) -> Result<Vec<Block<'a>>, ConfigError> {
        let blocks = self.blocks(kind, labels)?;
        match blocks.iter().find(|block| block.labels().len() != labels) {
            None => Ok(blocks),
            Some(block) => {
                let problem = BlockProblem::Labels {
                    kind: kind.to_owned(),
                    required: labels,
                    found: block.labels().len(),
                };
                Err(block.invalid(problem))
            }
        }
    }
}

impl Block<'_> {
    /// Returns a label. Fails if it is not an identifier.
    pub(super) fn name(&self, label: usize) -> Result<String, ConfigError> {
        let name = self.label(label);
        if is_identifier(name) {
            return Ok(name.to_owned());
        }
        let problem = BlockProblem::Name(name.to_owned());
        Err(ConfigError::invalid(
            self.label_range(label).place(),
            problem,
        ))
    }

    pub(super) fn invalid(&self, problem: BlockProblem) -> ConfigError {
        ConfigError::invalid(self.place(), problem)
    }
}
