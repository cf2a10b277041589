//! The steps of each recipe.

use std::path::PathBuf;

use super::files::wipe;
use super::{Layout, Recipe, Step};

impl Layout {
    /// What is done to make it over `devices`: the nodes of [`Layout::devices`], in their order.
    #[must_use]
    pub fn steps(&self, devices: &[PathBuf]) -> Vec<Step> {
        let mut steps: Vec<Step> = match self.recipe {
            Recipe::Existing => Vec::new(),
            _ => devices.iter().map(|device| wipe(device)).collect(),
        };
        match &self.recipe {
            Recipe::PerDevice { file_system } => {
                steps.extend(devices.iter().map(|device| file_system.make(device, None)));
                let places = self.directories();
                for (device, place) in devices.iter().zip(&places) {
                    steps.extend(file_system.mount(device, place));
                }
            }
            _ => {}
        }
        steps
    }
}
