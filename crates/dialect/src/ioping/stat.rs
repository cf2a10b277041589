//! The statistics printed by ioping: of the requests that count, and of all.

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

    /// Adds `count` requests with about the same latency.
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

    /// The standard deviation of these requests as a population, not as a sample.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0, at most a u64")]
    pub(super) fn deviation_ns(&self) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let mean = self.sum_ns as f64 / self.count as f64;
        (self.squares / self.count as f64 - mean * mean).max(0.0).sqrt() as u64
    }

    /// Requests per second, relative to the sum of their latencies.
    pub(super) fn rate(&self) -> f64 {
        per_second(self.count, self.sum_ns)
    }

    /// Bytes per second, relative to the sum of their latencies.
    pub(super) fn speed(&self) -> f64 {
        per_second(self.bytes, self.sum_ns)
    }
}

/// All requests of a run, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct IntervalStat {
    pub stat: Stat,
    /// Number of requests, whether or not they count.
    pub made: u64,
    pub made_bytes: u64,
    pub too_fast: u64,
    pub too_slow: u64,
}

impl IntervalStat {
    /// The line of raw numbers: ten numbers, the last of which is the total duration.
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

/// Rate per second; 0 if the time is 0.
pub(super) fn per_second(count: u64, nanos: u64) -> f64 {
    if nanos == 0 { 0.0 } else { count as f64 * 1e9 / nanos as f64 }
}

/// Truncates to an integer.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are not below 0; casts saturate"
)]
pub(super) fn whole(number: f64) -> u64 {
    number as u64
}

/// One request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub write: bool,
    pub offset: u64,
    pub start_ns: u64,
    pub latency_ns: u64,
    pub bytes: u64,
    pub ended_unix_ns: i64,
}

impl Request {
    pub(super) fn end_ns(&self) -> u64 {
        self.start_ns + self.latency_ns
    }
}
