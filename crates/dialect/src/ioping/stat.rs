//! The statistics that ioping prints: of the requests that are counted, and of all.

/// Statistics of requests.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Stat {
    pub count: u64,
    pub bytes: u64,
    pub sum_ns: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    squares: f64,
}

impl Stat {
    pub(super) fn add(&mut self, latency_ns: u64, bytes: u64) {
        self.add_many(latency_ns, 1, bytes);
    }

    /// Adds `count` requests of about the same time.
    pub(super) fn add_many(&mut self, latency_ns: u64, count: u64, bytes: u64) {
        self.min_ns = if self.count == 0 { latency_ns } else { self.min_ns.min(latency_ns) };
        self.max_ns = self.max_ns.max(latency_ns);
        self.count += count;
        self.bytes += bytes;
        self.sum_ns += latency_ns * count;
        self.squares += (latency_ns as f64).powi(2) * count as f64;
    }

    pub(super) fn mean_ns(&self) -> u64 {
        self.sum_ns.checked_div(self.count).unwrap_or(0)
    }

    /// The standard deviation of these requests, not of others like them.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0, at most a u64")]
    pub(super) fn deviation_ns(&self) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let mean = self.sum_ns as f64 / self.count as f64;
        (self.squares / self.count as f64 - mean * mean).max(0.0).sqrt() as u64
    }

    /// Requests per second of their own time.
    pub(super) fn rate(&self) -> f64 {
        per_second(self.count, self.sum_ns)
    }

    /// Bytes per second of their own time.
    pub(super) fn speed(&self) -> f64 {
        per_second(self.bytes, self.sum_ns)
    }
}

/// All requests of a run, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct IntervalStat {
    pub stat: Stat,
    /// Requests, whether they count or not.
    pub made: u64,
    pub made_bytes: u64,
    pub too_fast: u64,
    pub too_slow: u64,
}

impl IntervalStat {
    /// The raw line: ten numbers, of which the last is how long all of it took.
    pub(super) fn raw(&self, took_ns: u64) -> String {
        let stat = &self.stat;
        format!(
            "{} {} {} {} {} {} {} {} {} {took_ns}\n",
            stat.count,
            stat.sum_ns,
            whole(stat.rate()),
            whole(stat.speed()),
            stat.min_ns,
            stat.mean_ns(),
            stat.max_ns,
            stat.deviation_ns(),
            self.made,
        )
    }
}

/// The number per second; 0 in no time.
pub(super) fn per_second(count: u64, nanos: u64) -> f64 {
    if nanos == 0 { 0.0 } else { count as f64 * 1e9 / nanos as f64 }
}

/// Without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are not below 0; casts saturate"
)]
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}
