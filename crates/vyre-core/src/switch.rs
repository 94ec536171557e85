//! Variables of the environment that are on or off.

/// A variable of the environment that is neither on nor off.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "{variable} is `{value}`; set it to 1, true, on or yes, to 0, false, off or no, or not at all"
)]
pub struct InvalidSwitch {
    /// The variable.
    pub variable: &'static str,
    /// What it holds.
    pub value: String,
}

/// Whether `variable`, which holds `value`, is on. Unset or empty is off; letter case does not matter.
///
/// # Errors
/// [`InvalidSwitch`] if the value is no word for on or off.
pub fn switch(variable: &'static str, value: Option<&str>) -> Result<bool, InvalidSwitch> {
    let value = value.unwrap_or_default();
    match value.trim().to_lowercase().as_str() {
        "1" | "true" | "on" | "yes" => Ok(true),
        "" | "0" | "false" | "off" | "no" => Ok(false),
        _ => Err(InvalidSwitch {
            variable,
            value: value.to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switch_knows_the_words_for_on_and_off_and_no_others() {
        for (words, on) in [("1 true on yes ON", true), ("0 false off no Off", false)] {
            for word in words.split(' ') {
                assert_eq!(switch("VYRE_X", Some(word)), Ok(on), "{word}");
            }
        }
        assert_eq!(switch("VYRE_X", None), Ok(false));
        assert_eq!(switch("VYRE_X", Some(" ")), Ok(false));
        for word in ["2", "enabled", "o n"] {
            let error = switch("VYRE_X", Some(word)).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("VYRE_X is `{word}`; set it to 1")),
                "{error}"
            );
        }
    }
}
