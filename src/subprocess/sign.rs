//! Recognizes the cause of a failure in the messages of programs.

/// Finds the first of `signs`, parts of messages with their meanings, that a line of `message` contains. Returns the meaning and the
/// trimmed line.
pub fn find_sign<'m, P: Copy>(message: &'m str, signs: &[(&str, P)]) -> Option<(P, &'m str)> {
    signs.iter().find_map(|(sign, meaning)| {
        let line = message.lines().find(|line| line.contains(sign))?;
        Some((*meaning, line.trim()))
    })
}
