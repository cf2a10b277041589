//! The events to come, by time.

use crate::simulation::time::Ticks;

/// An event: when, and which request it is about. Equal times go by the number of the request, so that the
/// order never depends on anything else.
pub(crate) type Event = (Ticks, u32);

/// Children of an entry of the heap: four share two cache lines, and the heap has half the levels.
const CHILDREN: usize = 4;

/// A heap of events.
///
/// Most events are followed by one more of the same request, which takes the place of the first in one step:
/// see [`Events::replace_first`].
#[derive(Debug, Default)]
pub(crate) struct Events(Vec<Event>);

impl Events {
    pub(crate) fn first(&self) -> Option<Event> {
        self.0.first().copied()
    }

    pub(crate) fn push(&mut self, event: Event) {
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
    pub(crate) fn pop(&mut self) {
        if let Some(last) = self.0.pop()
            && !self.0.is_empty()
        {
            self.replace_first(last);
        }
    }

    /// Puts `event` in the place of the first, of which there must be one.
    pub(crate) fn replace_first(&mut self, event: Event) {
        let all = &mut self.0[..];
        let mut place = 0;
        loop {
            let first = place * CHILDREN + 1;
            let Some(children) = all.get(first..all.len().min(first + CHILDREN)) else { break };
            let Some((least, earliest)) = children.iter().enumerate().min_by_key(|(_, event)| **event) else {
                break;
            };
            if *earliest >= event {
                break;
            }
            let child = first + least;
            all[place] = all[child];
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
        fn events_come_by_time_and_number(steps: Vec<(u8, u8, bool)>) {
            let mut events = Events::default();
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
