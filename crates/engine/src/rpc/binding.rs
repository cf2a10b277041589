//! Binding of threads to processors.

use plan::Binding;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::error::NetworkError;

/// The processors of the threads of one role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Places {
    /// Threads are not bound.
    Anywhere,
    /// Each thread is bound to one of these processors, in turn.
    Each(Vec<u32>),
    /// Every thread is bound to all of these processors.
    All(Vec<u32>),
}

impl Places {
    /// Resolves `binding` on host `host`, for the adapter behind `interface` on NUMA node `adapter`.
    pub(super) fn of(
        binding: &Binding,
        host: &str,
        interface: Option<&str>,
        adapter: Option<u32>,
    ) -> Result<Self, NetworkError> {
        let wrong = |problem: String| NetworkError::Binding {
            asked: binding.to_string(),
            host: host.to_owned(),
            problem,
        };
        let nodes = numa_nodes();
        let node = match binding {
            Binding::None => return Ok(Self::Anywhere),
            Binding::Processors(processors) => {
                return usable(processors).map(|()| Self::Each(processors.clone())).map_err(wrong);
            }
            Binding::NumaNode(node) => *node,
            Binding::Adapter => match (adapter, nodes.as_slice()) {
                (Some(node), _) => node,
                // If there is only one node, every adapter is on it.
                (None, [(node, _)]) => *node,
                (None, nodes) => {
                    return Err(wrong(format!(
                        "the adapter {} does not report a NUMA node; name one of the {} nodes, for example \
                         numa:0",
                        interface.unwrap_or("in use"),
                        nodes.len()
                    )));
                }
            },
        };
        let Some((_, processors)) = nodes.iter().find(|(number, _)| *number == node) else {
            let known: Vec<String> = nodes.iter().map(|(number, _)| number.to_string()).collect();
            return Err(wrong(format!("there is no such NUMA node; known here: {}", known.join(", "))));
        };
        let mut allowed = processors.clone();
        allowed.retain(|&processor| usable(&[processor]).is_ok());
        match allowed.is_empty() {
            true => Err(wrong(
                "this process may use none of its processors; check taskset and cgroups".to_owned(),
            )),
            false => Ok(Self::All(allowed)),
        }
    }

    /// The processors of a thread, by thread number; empty if it is not bound.
    pub(super) fn of_thread(&self, number: usize) -> Vec<u32> {
        match self {
            Self::Anywhere => Vec::new(),
            Self::Each(processors) => {
                processors.get(number % processors.len().max(1)).copied().into_iter().collect()
            }
            Self::All(processors) => processors.clone(),
        }
    }

    /// Describes the binding of `threads` threads: `0,1,0` for three of them in turn, `0-3` for all on
    /// each.
    pub(super) fn in_words(&self, threads: usize) -> String {
        match self {
            Self::Anywhere => String::new(),
            Self::Each(_) => {
                let each = (0..threads).flat_map(|number| self.of_thread(number)).map(|one| one.to_string());
                each.collect::<Vec<_>>().join(",")
            }
            Self::All(processors) => Binding::Processors(processors.clone()).to_string(),
        }
    }
}

/// Binds a thread until it is dropped.
#[derive(Debug)]
pub(super) struct Bound {
    before: Option<CpuSet>,
}

impl Bound {
    /// Binds the calling thread to `processors`; does nothing if there are none.
    pub(super) fn to(processors: &[u32]) -> Self {
        if processors.is_empty() {
            return Self { before: None };
        }
        let before = sched_getaffinity(None).ok();
        let mut set = CpuSet::new();
        for &processor in processors {
            set.set(processor as usize);
        }
        // The processors were checked before the start.
        let bound = sched_setaffinity(None, &set).is_ok();
        Self { before: before.filter(|_| bound) }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}

/// Errors if this process may not use all of these processors.
fn usable(processors: &[u32]) -> Result<(), String> {
    let Ok(allowed) = sched_getaffinity(None) else { return Ok(()) };
    let has = |processor: u32| (processor as usize) < CpuSet::MAX_CPU && allowed.is_set(processor as usize);
    let Some(first) = processors.iter().find(|&&processor| !has(processor)) else { return Ok(()) };
    let known: Vec<u32> = (0..).take(CpuSet::MAX_CPU).filter(|&processor| has(processor)).collect();
    Err(format!("this process may not use processor {first}, but {}", Binding::Processors(known)))
}

/// The NUMA nodes and their processors.
fn numa_nodes() -> Vec<(u32, Vec<u32>)> {
    let entries = std::fs::read_dir("/sys/devices/system/node").into_iter().flatten().flatten();
    let node = |name: String| {
        let number: u32 = name.strip_prefix("node")?.parse().ok()?;
        let list = std::fs::read_to_string(format!("/sys/devices/system/node/{name}/cpulist")).ok()?;
        match list.trim().parse() {
            Ok(Binding::Processors(processors)) => Some((number, processors)),
            // A node that has memory only.
            _ => None,
        }
    };
    let mut nodes: Vec<_> =
        entries.filter_map(|entry| node(entry.file_name().to_string_lossy().into_owned())).collect();
    nodes.sort_unstable();
    if nodes.is_empty() {
        // A kernel built without NUMA has one node.
        let processors = u32::try_from(crate::system::sys::processors()).unwrap_or(1);
        nodes.push((0, (0..processors).collect()));
    }
    nodes
}

#[cfg(test)]
mod tests {
    use plan::Binding;

    use super::{Bound, Places, numa_nodes};

    #[test]
    fn threads_take_processors_in_turn_and_are_freed_again() {
        let allowed = || rustix::thread::sched_getaffinity(None).expect("known");
        let before = allowed();
        let first = (0..1024_u32).find(|&one| before.is_set(one as usize)).expect("one");
        let asked = Binding::Processors(vec![first]);
        let places = Places::of(&asked, "here", None, None).expect("it may be used");
        assert_eq!(places.of_thread(5), [first]);
        assert_eq!(places.in_words(2), format!("{first},{first}"));
        {
            let _bound = Bound::to(&places.of_thread(0));
            assert_eq!(allowed().count(), 1);
        }
        assert_eq!(allowed().count(), before.count());
    }

    #[test]
    fn places_that_are_not_there_are_named() {
        let error = Places::of(&Binding::Processors(vec![1023]), "here", None, None).expect_err("too many");
        assert!(error.to_string().contains("processor 1023"), "{error}");
        let error = Places::of(&Binding::NumaNode(4000), "here", None, None).expect_err("too many");
        assert!(error.to_string().contains("no such NUMA node"), "{error}");
    }

    #[test]
    fn an_adapter_without_a_node_is_on_the_only_one() {
        let places = Places::of(&Binding::Adapter, "here", Some("lo"), None);
        match numa_nodes().len() {
            1 => assert!(matches!(places, Ok(Places::All(_))), "{places:?}"),
            _ => assert!(places.is_err(), "{places:?}"),
        }
    }
}
