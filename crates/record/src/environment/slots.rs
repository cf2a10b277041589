//! The slots of a machine: which cards they contain, and which are free.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Fact, HostFacts, LinkFacts, PcieFacts};

/// The value of [`Inventory::schema`] written by this program. It changes if a field changes its meaning
/// or is removed.
pub const INVENTORY_SCHEMA: &str = "ioproof-host/1";

/// All that can be said of a host: what `ioproof host facts` shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inventory {
    /// The version of this form.
    #[schemars(extend("const" = INVENTORY_SCHEMA))]
    pub schema: String,
    /// The host, with all its block devices and all mounts of real file systems.
    pub host: HostFacts,
    /// Its slots.
    pub slots: SlotMap,
}

/// Slots and the cards in them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotMap {
    /// Where the slots are known from.
    pub source: Fact<String>,
    /// All slots that the machine names, in its order.
    pub slots: Vec<Slot>,
    /// Storage and network cards that are in none of these slots: on the board, or in one that nobody names.
    pub elsewhere: Vec<Card>,
    /// Used and unused slots, the widest first.
    pub counts: Vec<SlotCount>,
    /// What is to be said of storage cards.
    pub warnings: Vec<SlotWarning>,
}

/// One slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slot {
    /// As the machine names it, as in `r001i38b 1A/B`.
    pub name: String,
    /// The part of the name that stands for the chassis unit or riser; empty where it has one part.
    pub unit: String,
    /// The part of the name that stands for the place in it.
    pub position: String,
    /// What the firmware says that it is, as in `PCI Express Gen 3 x16`.
    pub kind: Fact<String>,
    /// Lanes and generation of the slot.
    pub link: LinkFacts,
    /// Whether it is in use.
    pub usage: SlotUsage,
    /// Where it is on the PCI bus.
    pub address: Fact<String>,
    /// NUMA node.
    pub numa_node: Fact<i32>,
    /// What is in it.
    pub cards: Vec<Card>,
}

/// Whether a slot is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlotUsage {
    /// There is a card in it.
    Used,
    /// It is free.
    Unused,
    /// The firmware says that it is not to be used.
    AvoidUsing,
    /// Nobody says.
    Unknown,
}

/// A card, or a device on the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Card {
    /// What it is, as in `NVMe`.
    pub kind: String,
    /// Model or, where nobody names one, its PCI numbers.
    pub name: String,
    /// The block devices and network interfaces behind it.
    pub devices: Vec<String>,
    /// Its driver.
    pub driver: Fact<String>,
    /// NUMA node.
    pub numa_node: Fact<i32>,
    /// Place and link.
    pub pcie: PcieFacts,
}

/// How many slots of one width.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotCount {
    /// Lanes; absent for those whose width nobody says.
    pub width: Option<u32>,
    /// With a card.
    pub used: u32,
    /// Free.
    pub unused: u32,
    /// Marked as not to be used.
    pub avoid_using: u32,
    /// Of which nobody says whether they are used.
    pub unknown: u32,
}

/// Why a card may be slower than it could be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotWarning {
    /// Where the card is on the PCI bus.
    pub address: String,
    /// The card, in words, with its slot.
    pub card: String,
    /// What is wrong.
    pub message: String,
}
