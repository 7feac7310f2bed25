//! The preferred input and the weights of redundant inputs.

use nalgebra::DVector;

use super::{ControllerSettings, PreferredInput, SettingsError, finite, positive};

impl ControllerSettings {
    /// Checks everything that does not depend on the number of inputs.
    pub(super) fn check_preference(&self) -> Result<(), SettingsError> {
        if let Some(weights) = &self.input_weights {
            for weight in weights.as_slice() {
                positive("input_weights", *weight)?;
            }
        }
        match &self.preferred_input {
            PreferredInput::Each(numbers) => finite("preferred_input", numbers),
            PreferredInput::Hover | PreferredInput::Previous => Ok(()),
        }
    }

    /// R of this many inputs, its diagonal.
    ///
    /// # Errors
    /// A list of another length.
    pub(super) fn weights(&self, inputs: usize) -> Result<DVector<f64>, SettingsError> {
        let Some(weights) = &self.input_weights else {
            return Ok(DVector::repeat(inputs, 1.0));
        };
        weights
            .expand(inputs)
            .map(DVector::from_vec)
            .ok_or_else(|| {
                let found = weights.as_slice().len();
                SettingsError::new(
                    "input_weights",
                    format!(
                        "expected one number, or one for each of {inputs} inputs, found {found}"
                    ),
                )
            })
    }

    /// `u_ref` for this many inputs, with `hover` computed by the closure if requested, and whether the previous step's input replaces it.
    ///
    /// # Errors
    /// A list of another length.
    pub(super) fn preferred(
        &self,
        inputs: usize,
        hover: impl FnOnce() -> DVector<f64>,
    ) -> Result<(DVector<f64>, bool), SettingsError> {
        match &self.preferred_input {
            PreferredInput::Hover => Ok((hover(), false)),
            PreferredInput::Previous => Ok((hover(), true)),
            PreferredInput::Each(numbers) if numbers.len() == inputs => {
                Ok((DVector::from_column_slice(numbers), false))
            }
            PreferredInput::Each(numbers) => {
                let found = numbers.len();
                Err(SettingsError::new(
                    "preferred_input",
                    format!("expected a number for each of {inputs} inputs, found {found}"),
                ))
            }
        }
    }
}
