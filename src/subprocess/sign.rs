//! Recognizes the cause of a failure in the messages of programs.

/// Finds the cause of a failure in `message`. `signs` are parts of messages, each with its meaning. Returns the meaning of the first sign
/// that occurs in a line, and this line without surrounding whitespace.
pub fn find_sign<'m, P: Copy>(message: &'m str, signs: &[(&str, P)]) -> Option<(P, &'m str)> {
    signs.iter().find_map(|(sign, meaning)| {
        let line = message.lines().find(|line| line.contains(sign))?;
        Some((*meaning, line.trim()))
    })
}
