//! The machine of a host: its hardware, processor settings, and storage and network software.
//!
//! A [`Fact`] of an [`Option`] has three states: present, absent, or unknown with a reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Fact;

/// What the firmware and the kernel say of themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MachineFacts {
    /// Who made the machine, as in `Dell Inc.`.
    pub vendor: Fact<String>,
    /// Its model, as in `PowerEdge R920`.
    pub product: Fact<String>,
    /// Version and date of its firmware.
    pub firmware: Fact<String>,
    /// The kernel's build string (`/proc/version`), with who built it where.
    pub kernel_build: Fact<String>,
    /// The compiler in that string, as in `gcc 12.2.0`.
    pub compiler: Fact<String>,
    /// Those of the kernel's arguments (`/proc/cmdline`) that change what storage and processors do.
    pub kernel_arguments: Fact<Option<String>>,
    /// The profile of tuned that is active; none where tuned is not there.
    pub tuned_profile: Fact<Option<String>>,
    /// The software whose container the program ran in, as in `Docker`; absent if no sign of one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
}

/// The processors and how they are set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessorFacts {
    /// Cores of all sockets.
    pub cores: Fact<u32>,
    /// Hardware threads that are online in a core.
    pub threads_per_core: Fact<u32>,
    /// Caches of the first processor, the smallest first.
    pub caches: Fact<Vec<CacheFacts>>,
    /// NUMA nodes.
    pub nodes: Fact<Vec<NumaNodeFacts>>,
    /// How many processors were looked at for what follows; all of them by `ioproof host facts`, a few
    /// that are spread evenly for the record of a run.
    pub looked_at: u32,
    /// Frequency governors, the most frequent first.
    pub governors: Fact<Vec<CountedValue>>,
    /// Whether frequencies above the nominal one are allowed.
    pub turbo: Fact<bool>,
    /// C-states.
    pub idle: Fact<IdleFacts>,
    /// On how many of the processors C1E is on: bit 1 of model-specific register 0x1FC.
    pub c1e: Fact<SwitchedOn>,
}

/// A cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheFacts {
    /// 1 is the nearest one.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Its size.
    pub bytes: u64,
    /// The processors that share it, as in `0-11`.
    pub shared_by: String,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumaNodeFacts {
    /// Its number.
    pub node: u32,
    /// Its processors, as in `0-11`; empty where it has memory alone.
    pub cpus: String,
    /// Its memory.
    pub memory_bytes: Fact<u64>,
}

/// A value, and on how many processors it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountedValue {
    /// What was found.
    pub value: String,
    /// On so many.
    pub processors: u32,
}

/// A switch of each processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SwitchedOn {
    /// Processors on which it is on.
    pub on: u32,
    /// Processors that were looked at.
    pub of: u32,
}

/// How idle processors sleep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleFacts {
    /// The driver, as in `intel_idle`.
    pub driver: Fact<String>,
    /// The states, the lightest first.
    pub states: Vec<IdleState>,
    /// Whether nobody has changed what the driver began with: no limit in the kernel's arguments, and each
    /// state as the driver set it.
    pub left_at_default: Fact<bool>,
    /// The kernel arguments that limit states, as in `intel_idle.max_cstate=1`.
    pub limits: Vec<String>,
}

/// One C-state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleState {
    /// Its name, as in `C1E`.
    pub name: String,
    /// What leaving it takes, in microseconds.
    pub exit_us: Fact<u32>,
    /// Processors that may enter it, of those looked at.
    pub enabled: SwitchedOn,
}

/// A job of a batch system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BatchJobFacts {
    /// `slurm`, `pbs`, `lsf` or `flux`.
    pub system: String,
    /// Its number.
    pub id: String,
    /// Its name.
    pub name: Fact<String>,
    /// Its nodes, as the batch system writes them.
    pub nodes: Fact<String>,
    /// Its queue or partition.
    pub queue: Fact<String>,
}

/// A network interface with hardware behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NetworkFacts {
    /// Its name, as in `ens1f0` or, of InfiniBand, `mlx5_0 port 1`.
    pub name: String,
    /// `ethernet`, `infiniband` or `omni-path`, or the number of the kernel.
    pub kind: String,
    /// `up`, `down`, or what the device calls its state.
    pub state: Fact<String>,
    /// Bits in a second.
    pub bits_per_second: Fact<u64>,
    /// The largest packet.
    pub mtu_bytes: Fact<u32>,
    /// Its driver.
    pub driver: Fact<String>,
    /// The NUMA node of its card.
    pub numa_node: Fact<i32>,
    /// Where its card is on the PCI bus.
    pub pci_address: Fact<String>,
}

/// A volume that is made of other devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VolumeFacts {
    /// The kernel's name, as in `md0` or `dm-3`; of btrfs its identifier.
    pub name: String,
    /// What people call it, as in `vg0-SASDATA`.
    pub title: Fact<String>,
    /// What it is: `md`, `lvm`, `multipath`, `nvme-multipath`, `dm-crypt`, `device-mapper`, `bcache` or `btrfs`.
    pub kind: String,
    /// Its level, as in `raid0`.
    pub level: Fact<String>,
    /// Bytes that lie on one member before the next one follows.
    pub chunk_bytes: Fact<u64>,
    /// The devices that it is made of.
    pub members: Vec<String>,
    /// How it is, as in `clean`.
    pub state: Fact<String>,
}

/// A piece of storage software.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SoftwareFacts {
    /// Its name, as in `Lustre`.
    pub name: String,
    /// Its version; none where it is not present.
    pub version: Fact<Option<String>>,
}

/// Where a device is on the PCI bus, and how its link runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PcieFacts {
    /// As in `0000:3b:00.0`.
    pub address: String,
    /// The slot as printed on the machine.
    pub slot: Fact<String>,
    /// The link as it runs.
    pub link: LinkFacts,
    /// The most that the card can do.
    pub card: LinkFacts,
    /// The most that the port can do that the card is plugged into.
    pub port: LinkFacts,
}

/// Lanes and speed of a PCIe link.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkFacts {
    /// Lanes.
    pub width: Fact<u32>,
    /// 1 for 2.5, 2 for 5, 3 for 8, 4 for 16, 5 for 32, 6 for 64 GT/s on each lane.
    pub generation: Fact<u32>,
}
