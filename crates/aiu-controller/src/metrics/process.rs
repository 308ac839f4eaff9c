//! What the process itself takes, under the names that every exporter has for it. From `/proc`,
//! so there is nothing where there is none.

use std::fs;

use super::text::{Kind, Page};

pub(super) fn write(page: &mut Page) {
    let Some(found) = Found::read() else { return };
    #[rustfmt::skip]
    let rows = [
        ("process_cpu_seconds_total", Kind::Counter, "Total user and system CPU time spent in seconds.", found.cpu_seconds),
        ("process_resident_memory_bytes", Kind::Gauge, "Resident memory size in bytes.", found.resident),
        ("process_virtual_memory_bytes", Kind::Gauge, "Virtual memory size in bytes.", found.virtual_size),
        ("process_open_fds", Kind::Gauge, "Number of open file descriptors.", found.open_files),
        ("process_max_fds", Kind::Gauge, "Maximum number of open file descriptors.", found.most_files),
        ("process_start_time_seconds", Kind::Gauge, "Start time of the process since unix epoch in seconds.", found.started),
        ("process_threads", Kind::Gauge, "Number of OS threads in the process.", found.threads),
    ];
    for (name, kind, help, value) in rows {
        if let Some(value) = value {
            page.foreign(name, kind, help).sample(&[], value);
        }
    }
}

struct Found {
    cpu_seconds: Option<f64>,
    resident: Option<f64>,
    virtual_size: Option<f64>,
    open_files: Option<f64>,
    most_files: Option<f64>,
    started: Option<f64>,
    threads: Option<f64>,
}

impl Found {
    fn read() -> Option<Self> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program stands in brackets and may hold anything.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        // Counted as in proc(5), where the state is the third.
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        let ticks = number(rustix::param::clock_ticks_per_second());
        let page_size = number(u64::try_from(rustix::param::page_size()).unwrap_or(4096));
        let boot = boot_time();
        Some(Self {
            cpu_seconds: Some((field(14)? + field(15)?) / ticks),
            resident: field(24).map(|pages| pages * page_size),
            virtual_size: field(23),
            open_files: fs::read_dir("/proc/self/fd").ok().map(|open| number(open.count() as u64)),
            most_files: most_files(),
            started: boot.and_then(|boot| Some(boot + field(22)? / ticks)),
            threads: field(20),
        })
    }
}

use super::number;

fn boot_time() -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

fn most_files() -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
