//! The program at work in a process of its own, and what it takes of the machine.
//!
//! The servers that it talks to live in the process that measures, so that their work is not
//! counted. Passes are told apart by the line that the program logs at the end of each.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::figure::number;

/// How long the program rests between two passes: long enough to look at it meanwhile.
pub const REST: Duration = Duration::from_secs(1);

/// The beginning of the line that ends a pass.
const PASSED: &str = "Processing results: ";

/// What a process and the children that it has waited for took so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time of the process itself, in seconds; the clock's grain is 10 ms.
    pub own: f64,
    /// Processor time of its children that have ended.
    pub children: f64,
    /// The most memory that the process itself had at once, in MiB.
    pub peak: f64,
}

impl Usage {
    /// Of a process that is alive, or has ended and was not waited for.
    pub fn of(pid: u32) -> Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("no such process")?;
        // The name of the program, in parentheses, may hold anything.
        let (_, fields) = stat.rsplit_once(')').context("/proc has changed")?;
        let ticks: Vec<u64> =
            fields.split_whitespace().skip(11).take(4).flat_map(str::parse).collect();
        let [user, system, user_children, system_children] = ticks[..] else {
            bail!("/proc has changed")
        };
        let seconds = |ticks: u64| number(ticks) / number(rustix::param::clock_ticks_per_second());
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok());
        Ok(Self {
            own: seconds(user + system),
            children: seconds(user_children + system_children),
            peak: number(kilobytes.unwrap_or_default()) / 1024.0,
        })
    }
}

/// A pass, as seen from outside.
#[derive(Clone, Debug)]
pub struct Pass {
    /// What the program said of it.
    pub words: String,
    /// How long it took, in seconds; the first one with the start of the program.
    pub wall: f64,
    /// Processor time of the program in it, in seconds.
    pub own: f64,
    /// Processor time of its children in it, in seconds.
    pub children: f64,
    /// The most memory since the start, in MiB.
    pub peak: f64,
}

/// The running program, making passes over a folder; ended when dropped.
pub struct Program {
    child: Child,
    ends: Receiver<(Instant, String, Usage)>,
    rest: Duration,
    /// When the pass that is awaited began, and what had been taken until then.
    before: (Instant, Usage),
}

impl Program {
    /// Starts passes over `folder/manifests`, with `folder/registries.conf`.
    pub fn start(program: &Path, folder: &Path, more: &[&str]) -> Result<Self> {
        Self::launch(Command::new(program), folder, REST, more)
    }

    /// The same by a command whose environment is prepared, with a rest of its own.
    pub fn launch(
        mut command: Command,
        folder: &Path,
        rest: Duration,
        more: &[&str],
    ) -> Result<Self> {
        let began = Instant::now();
        let mut child = command
            .current_dir(folder)
            .args(["run", "--manifests", "manifests", "--registries-conf-path", "registries.conf"])
            .args(["--cache-dir", "cache", "--interval"])
            .arg(format!("{}ms", rest.as_millis()))
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let (tell, ends) = channel();
        let lines = child.stderr.take().context("it is piped")?;
        let pid = child.id();
        std::thread::spawn(move || listen(lines, pid, &tell));
        Ok(Self { child, ends, rest, before: (began, Usage::default()) })
    }

    /// Waits for the end of the next pass.
    pub fn pass(&mut self) -> Result<Pass> {
        let (at, words, usage) = self
            .ends
            .recv_timeout(Duration::from_mins(15))
            .context("the program ended, or made no pass")?;
        let (began, before) = self.before;
        self.before = (at + self.rest, usage);
        Ok(Pass {
            words,
            wall: at.saturating_duration_since(began).as_secs_f64(),
            own: usage.own - before.own,
            children: usage.children - before.children,
            peak: usage.peak,
        })
    }

    /// The next `count` passes, and what one of them took in the middle.
    pub fn passes(&mut self, count: u32) -> Result<Pass> {
        let passes: Vec<Pass> = (0..count).map(|_| self.pass()).collect::<Result<_>>()?;
        let mean = |of: fn(&Pass) -> f64| passes.iter().map(of).sum::<f64>() / f64::from(count);
        let last = passes.last().context("no pass was asked for")?.clone();
        Ok(Pass {
            wall: mean(|pass| pass.wall),
            own: mean(|pass| pass.own),
            children: mean(|pass| pass.children),
            ..last
        })
    }

    /// The process, for those who want to know more of it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

/// Looks at the process whenever it has ended a pass.
fn listen(lines: ChildStderr, pid: u32, tell: &Sender<(Instant, String, Usage)>) {
    for line in BufReader::new(lines).lines().map_while(Result::ok) {
        let Some((_, words)) = line.split_once(PASSED) else { continue };
        let Ok(usage) = Usage::of(pid) else { return };
        let words = words.split('"').next().unwrap_or_default().to_owned();
        if tell.send((Instant::now(), words, usage)).is_err() {
            return;
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // An error means that it has ended by itself.
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
        let _ = self.child.wait();
    }
}
