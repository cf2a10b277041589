//! The description of a storage system, in TOML.
//!
//! [`read`] parses the text of a model file. The result is either a [`Model`] that can be simulated, or
//! [`ModelErrors`] with the location of each mistake. The types of [`Model`] define the file format; its
//! reference and its schema are generated from them.
//!
//! ```
//! let text = r#"
//!     model = { name = "one disk" }
//!     node = { processors = 4 }
//!
//!     [[device]]
//!     name = "disk"
//!     read = { time = "8ms", rate = "200MB/s" }
//!     write = { time = "8ms", rate = "200MB/s" }
//!
//!     [[layout]]
//!     name = "ext4"
//!     devices = "disk"
//! "#;
//! let model = simulate::read("disk.toml".as_ref(), text)?;
//! assert_eq!(model.layout_of("data").map(|layout| layout.name.as_str()), Some("ext4"));
//! let errors = simulate::read("disk.toml".as_ref(), &text.replace("devices = \"disk\"", "devices = \"disc\""));
//! assert!(errors.unwrap_err().to_string().contains("`disc`"));
//! # Ok::<(), simulate::ModelErrors>(())
//! ```

mod check;
mod mistake;
mod parts;
mod reference;
mod trouble;
mod units;

use std::path::Path;

use mistake::line_of;
pub use mistake::{Mistake, ModelErrors};
pub use parts::{
    Cache, Description, Device, Distribution, Layout, Limits, Link, Metadata, Model, Node, Server, Service,
    WriteCache,
};
pub use reference::{reference, schema};
pub use trouble::{Trouble, TroubleKind};
pub use units::{Bandwidth, Size, Time};

/// Maximum size of a model file in bytes.
const FILE_BYTES_MAX: usize = 1 << 20;

/// Parses the model in `text`, the contents of the file `path`.
///
/// # Errors
/// Errors if the text is not a model, or describes an invalid one. Returns all mistakes that can be
/// distinguished.
pub fn read(path: &Path, text: &str) -> Result<Model, ModelErrors> {
    let wrong = |mistakes| ModelErrors { path: path.display().to_string(), mistakes };
    if text.len() > FILE_BYTES_MAX {
        let message = format!("the file has {} bytes, but a model has at most {FILE_BYTES_MAX}", text.len());
        return Err(wrong(vec![Mistake { line: 1, message }]));
    }
    let model: Model = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line_of(text, span.start));
        wrong(vec![Mistake { line, message: error.message().to_owned() }])
    })?;
    let mistakes = check::check(&model, text);
    if mistakes.is_empty() { Ok(model) } else { Err(wrong(mistakes)) }
}

impl Model {
    /// The layout of the target with this name. The empty name belongs to the first layout that does not list
    /// any targets.
    #[must_use]
    pub fn layout_of(&self, target: &str) -> Option<&Layout> {
        self.layouts.iter().find(|layout| {
            layout.targets.iter().any(|pattern| plan::fits(pattern.as_bytes(), target.as_bytes()))
        })
    }

    /// Describes how many devices each of `targets` is on, where the study does not say it.
    pub fn describe(&self, targets: &mut [plan::TargetDescription]) {
        for target in targets.iter_mut().filter(|target| target.devices == 0) {
            let layout = self.layout_of(&target.name);
            target.devices =
                layout.and_then(|layout| self.group(&layout.devices)).map_or(0, |group| group.count);
        }
    }

    /// The group of devices with this name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// How many links, servers or devices have this name; 1 if there are none.
    #[must_use]
    pub fn count_of(&self, name: &str) -> u32 {
        let links = self.links.iter().map(|link| (&link.name, link.count));
        let servers = self.servers.iter().map(|server| (&server.name, server.count));
        let devices = self.devices.iter().map(|device| (&device.name, device.count));
        let mut all = links.chain(servers).chain(devices);
        all.find(|(known, _)| *known == name).map_or(1, |(_, count)| count)
    }

    /// The service for names of `layout`.
    #[must_use]
    pub fn metadata_of(&self, layout: &Layout) -> Option<&Metadata> {
        let name = layout.metadata.as_ref()?;
        self.metadata.iter().find(|service| service.name == *name)
    }
}
