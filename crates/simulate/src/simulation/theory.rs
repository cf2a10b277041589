//! Compares single parts with Poisson arrivals with queueing theory. Studies have uniform arrivals or closed
//! loops, which the crate's tests compare with theory.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::model::{Device, Distribution, Limits, Server, Service, Time};
use crate::simulation::parts::drive::{Drive, Piece};
use crate::simulation::parts::service::uniform;
use crate::simulation::parts::station::{READ, Station};
use crate::simulation::time::{Ticks, ticks};

/// Mean time of a service, in nanoseconds.
const SERVICE_NS: u64 = 1_000_000;
/// Sufficient for a mean within 1 % at a utilisation of four fifths.
const ARRIVALS: u32 = 6_000_000;

fn service(distribution: Distribution, deviation: Option<f64>) -> Service {
    Service {
        time: Time(SERVICE_NS),
        next_time: None,
        rate: None,
        distribution,
        deviation,
        quantiles: Vec::new(),
        tail: Vec::new(),
    }
}

/// Mean time in the system of Poisson arrivals with this utilisation of a part. `serve` returns when an
/// arrival has been served. Times are in units of the mean service time.
fn poisson(utilisation: f64, slots: u32, mut serve: impl FnMut(Ticks) -> Ticks) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let gap = ticks(SERVICE_NS as f64) / utilisation / f64::from(slots);
    let (mut now, mut sum) = (0.0, 0.0);
    for _ in 0..ARRIVALS {
        now -= gap * libm::log(uniform(&mut random));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
        let arrival = now as Ticks;
        sum += (serve(arrival) - arrival) as f64;
    }
    sum / f64::from(ARRIVALS) / ticks(SERVICE_NS as f64)
}

/// Mean time in the system of a device.
fn on_drive(utilisation: f64, slots: u32, service: &Service) -> f64 {
    let device = Device {
        name: "disk".to_owned(),
        count: 1,
        slots,
        size: None,
        read: service.clone(),
        write: service.clone(),
        write_cache: None,
        limits: Limits::default(),
    };
    let mut drive = Drive::new(&device, 0, &[]);
    let piece = Piece::new(READ, 0, (0, 0), false);
    poisson(utilisation, slots, |arrival| drive.serve(arrival, &piece, 1.0))
}

/// Mean time in the system of a server on the way.
fn on_station(utilisation: f64, slots: u32, service: &Service) -> f64 {
    let read = Some(service.clone());
    let server =
        Server { name: "server".to_owned(), count: 1, slots, read, write: None, limits: Limits::default() };
    let mut station = Station::of_server(&server);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    poisson(utilisation, slots, |arrival| station.pass(arrival, READ, 0, &mut random, 1.0))
}

/// The mean waiting time in M/M/c, in units of the mean service time, by Erlang's C formula.
fn wait_in_m_m_c(utilisation: f64, slots: u32) -> f64 {
    let load = utilisation * f64::from(slots);
    // Erlang's formula B, from no server on.
    let blocked =
        (1..=slots).fold(1.0, |blocked, server| load * blocked / (f64::from(server) + load * blocked));
    let waits = blocked / (1.0 - utilisation * (1.0 - blocked));
    waits / (f64::from(slots) * (1.0 - utilisation))
}

#[track_caller]
fn is_close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.01, "{found} instead of {expected}");
}

#[test]
fn exponential_service_waits_as_in_m_m_c() {
    let exponential = service(Distribution::Exponential, None);
    is_close(wait_in_m_m_c(0.5, 1), 1.0);
    for (utilisation, slots) in [(0.3, 1), (0.8, 1), (0.7, 2), (0.8, 16)] {
        let expected = 1.0 + wait_in_m_m_c(utilisation, slots);
        is_close(on_drive(utilisation, slots, &exponential), expected);
        is_close(on_station(utilisation, slots, &exponential), expected);
    }
}

#[test]
fn one_server_waits_by_the_formula_of_pollaczek_and_khinchine() {
    for (distribution, deviation) in [(Distribution::Fixed, None), (Distribution::LogNormal, Some(0.5))] {
        for utilisation in [0.5, 0.8] {
            let squared = deviation.map_or(0.0, |deviation: f64| deviation * deviation);
            let wait = utilisation / (1.0 - utilisation) * (1.0 + squared) / 2.0;
            is_close(on_drive(utilisation, 1, &service(distribution, deviation)), 1.0 + wait);
        }
    }
}
