//! The queue of future events, ordered by time.

use crate::simulation::time::Ticks;

/// An event: when it happens, and to which request. Events at the same time are ordered by the number of
/// the request, so that the order never depends on anything else.
pub(crate) type Event = (Ticks, u32);

/// Later than all events.
const NEVER: u128 = u128::MAX;

/// Number of events up to which a single heap is fastest.
const IN_HEAP: usize = 8192;

/// The reciprocal of the share of the later events that is sorted at a time.
const SORTED_PART: usize = 4;

/// All future events.
///
/// Many requests wait long for a device, and few are on their way to one. Events after a horizon are unordered; when
/// no others are left, the earliest quarter of them is sorted, and the horizon is moved to their end. New events
/// before the horizon are added to a heap, which stays small. Most events are followed by another one of the same
/// request, which replaces the first event in one step: see [`Events::replace_first`].
///
/// Each event is one number here, because the comparison of two parts is a branch that is often predicted wrongly.
#[derive(Debug)]
pub(crate) struct Events {
    heap: Heap,
    /// Sorted events; the last one happens first.
    sorted: Vec<u128>,
    /// Unordered events at or after the horizon.
    later: Vec<u128>,
    horizon: u128,
    in_heap: usize,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            heap: Heap::default(),
            sorted: Vec::new(),
            later: Vec::new(),
            horizon: NEVER,
            in_heap: IN_HEAP,
        }
    }
}

impl Events {
    #[inline]
    pub(crate) fn first(&self) -> Option<Event> {
        let first = match (self.sorted.last(), self.heap.first()) {
            (Some(one), Some(other)) => Some(*one.min(&other)),
            (one, other) => one.copied().or(other),
        };
        first.map(unpacked)
    }

    #[inline]
    pub(crate) fn push(&mut self, event: Event) {
        self.add(packed(event));
    }

    #[inline]
    fn add(&mut self, event: u128) {
        if event >= self.horizon {
            return self.later.push(event);
        }
        self.heap.push(event);
        if self.heap.0.len() > self.in_heap && self.horizon == NEVER {
            self.later.append(&mut self.heap.0);
            self.later.append(&mut self.sorted);
            self.sort();
        }
    }

    /// Removes the first event.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if self.is_sorted_first() {
            self.sorted.pop();
        } else {
            self.heap.pop();
        }
        if self.sorted.is_empty() && self.heap.0.is_empty() {
            self.sort();
        }
    }

    /// Replaces the first event, which must exist, by `event`.
    #[inline]
    pub(crate) fn replace_first(&mut self, event: Event) {
        let event = packed(event);
        if event < self.horizon && !self.is_sorted_first() {
            self.heap.replace_first(event);
        } else {
            self.pop();
            self.add(event);
        }
    }

    /// The sum of the times from `now` to all events, of which none is earlier.
    pub(crate) fn ahead(&self, now: Ticks) -> Ticks {
        let all = self.heap.0.iter().chain(&self.sorted).chain(&self.later).copied().map(unpacked);
        all.fold(0, |sum, (at, _)| sum.wrapping_add(at.saturating_sub(now)))
    }

    /// Moves all events by `time`.
    pub(crate) fn shift(&mut self, time: Ticks) {
        let moved = |event: u128| {
            let (at, number) = unpacked(event);
            packed((at.saturating_add(time), number))
        };
        let all = self.heap.0.iter_mut().chain(&mut self.sorted).chain(&mut self.later);
        all.for_each(|event| *event = moved(*event));
        if self.horizon != NEVER {
            self.horizon = moved(self.horizon);
        }
    }

    #[inline]
    fn is_sorted_first(&self) -> bool {
        match (self.sorted.last(), self.heap.first()) {
            (Some(one), Some(other)) => *one < other,
            (one, _) => one.is_some(),
        }
    }

    /// Sorts the earliest of the later events, or all of them if they are few.
    fn sort(&mut self) {
        let count = self.later.len();
        let rest = if count <= self.in_heap { 0 } else { count - (count / SORTED_PART).max(1) };
        if rest == 0 {
            self.horizon = NEVER;
            self.sorted.append(&mut self.later);
        } else {
            // The latest come first, so that removing events from the end moves nothing.
            let (_, last, _) = self.later.select_nth_unstable_by(rest - 1, |one, other| other.cmp(one));
            self.horizon = *last;
            self.sorted.extend(self.later.drain(rest..));
        }
        self.sorted.sort_unstable_by(|one, other| other.cmp(one));
    }
}

/// Number of children of a heap entry. With four, they occupy two cache lines and the heap has half the
/// levels.
const CHILDREN: usize = 4;

/// A heap of events.
#[derive(Debug, Default)]
struct Heap(Vec<u128>);

#[inline]
fn packed((at, number): Event) -> u128 {
    u128::from(at) << u32::BITS | u128::from(number)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the parts of a packed event")]
fn unpacked(event: u128) -> Event {
    ((event >> u32::BITS) as Ticks, event as u32)
}

impl Heap {
    #[inline]
    fn first(&self) -> Option<u128> {
        self.0.first().copied()
    }

    fn push(&mut self, event: u128) {
        self.0.push(event);
        let mut place = self.0.len() - 1;
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.0[parent] <= event {
                break;
            }
            self.0[place] = self.0[parent];
            place = parent;
        }
        self.0[place] = event;
    }

    /// Removes the first event.
    fn pop(&mut self) {
        if let Some(last) = self.0.pop()
            && !self.0.is_empty()
        {
            self.sift(last);
        }
    }

    /// Replaces the first event, which must exist, by `event`.
    fn replace_first(&mut self, event: u128) {
        self.sift(event);
    }

    /// Puts `event` in the place of the first one, and moves it down to its own.
    fn sift(&mut self, event: u128) {
        let all = &mut self.0[..];
        let mut place = 0;
        loop {
            let first = place * CHILDREN + 1;
            let (child, earliest) = match all.get(first..).and_then(<[u128]>::first_chunk::<CHILDREN>) {
                Some(&[a, b, c, d]) => {
                    let left = if b < a { (first + 1, b) } else { (first, a) };
                    let right = if d < c { (first + 3, d) } else { (first + 2, c) };
                    if right.1 < left.1 { right } else { left }
                }
                None => {
                    match (first..all.len()).map(|child| (child, all[child])).min_by_key(|(_, event)| *event)
                    {
                        Some(least) => least,
                        None => break,
                    }
                }
            };
            if earliest >= event {
                break;
            }
            all[place] = earliest;
            place = child;
        }
        all[place] = event;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::Events;

    proptest! {
        #[test]
        fn events_come_by_time_and_number(steps: Vec<(u8, u8, bool)>, in_heap in 1_usize..40) {
            let mut events = Events { in_heap, ..Events::default() };
            let mut sorted = std::collections::BTreeSet::new();
            for (number, (at, _, replace)) in (0..).zip(steps) {
                let event = (u64::from(at), number);
                prop_assert_eq!(events.first(), sorted.first().copied());
                match sorted.pop_first() {
                    Some(_) if replace => events.replace_first(event),
                    Some(_) => {
                        events.pop();
                        events.push(event);
                    }
                    None => events.push(event),
                }
                sorted.insert(event);
                if number % 3 == 0 {
                    events.push((7, number + 1_000_000));
                    sorted.insert((7, number + 1_000_000));
                }
            }
            while let Some(first) = sorted.pop_first() {
                prop_assert_eq!(events.first(), Some(first));
                events.pop();
            }
            prop_assert_eq!(events.first(), None);
        }
    }
}
