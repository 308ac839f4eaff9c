//! `cargo xtask e2e --bench NAME --program PATH`: whole passes against the API server, measured from
//! outside. The registry is of this process, so that its work is not counted.

use std::time::{Duration, Instant};

use aiu_testkit::registry::Registry;
use anyhow::{Context, Result, bail, ensure};
use benches::figure::{Figure, number};
use benches::program::Usage;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use super::World;
use super::controller::{PREFIX, Stage};
use crate::files::write;
use crate::process::Process;
use crate::program::Program;

/// How many requests make Applications at once.
const AT_ONCE: usize = 8;

/// A work: sizes, and what a pass may take of a release build.
struct Work {
    name: &'static str,
    applications: usize,
    /// Bytes that each Application carries besides.
    ballast: usize,
    images: usize,
    repositories: usize,
    tags: usize,
    /// Seconds of the processor in a steady pass.
    processor: f64,
    /// MiB at most at any time.
    peak: f64,
}

#[rustfmt::skip]
const WORKS: [Work; 3] = [
    Work { name: "m1", applications: 200, ballast: 0, images: 3, repositories: 60, tags: 400, processor: 0.15, peak: 50.0 },
    Work { name: "m5", applications: 1, ballast: 0, images: 1, repositories: 1, tags: 2, processor: 0.05, peak: 25.0 },
    Work { name: "m6", applications: 5_000, ballast: 55_000, images: 4, repositories: 400, tags: 50, processor: 1.0, peak: 200.0 },
];

/// Does the work of this name.
pub(crate) async fn run(world: &World, name: &str, release: bool) -> Result<()> {
    let Some(work) = WORKS.iter().find(|work| work.name == name) else {
        bail!("there is no work `{name}`; there are m1, m5 and m6")
    };
    let program = world.program.as_ref().context("a program to measure")?;
    let bed = Bed::prepare(world, program, work).await?;
    let figures = bed.measure(release).await?;
    let lines: Vec<String> = figures.iter().map(ToString::to_string).collect();
    println!("| Work | Measured | Limit |\n|---|---|---|\n{}", lines.join("\n"));
    ensure!(!lines.iter().any(|line| line.contains("**broken**")), "a limit is broken");
    Ok(())
}

struct Bed<'w> {
    stage: Stage<'w>,
    registry: Registry,
    work: &'static Work,
}

impl<'w> Bed<'w> {
    async fn prepare(world: &'w World, program: &'w Program, work: &'static Work) -> Result<Self> {
        let stage = Stage::prepare(world, program, "bench").await?;
        let registry = Registry::start().await;
        registry.offer_etags();
        for repository in 0..work.repositories {
            let tags = (0..work.tags).map(|minor| format!("1.{minor}.0"));
            registry.repository(&format!("acme/app-{repository}")).tags(tags);
        }
        let conf = format!(
            "registries:\n- {{name: t, prefix: registry.test, api_url: '{}', limit: 0}}\n",
            registry.url()
        );
        write(&stage.folder, "registries.conf", &conf)?;
        let server = &world.peers.kubernetes;
        let path = stage.application("");
        let made = (0..work.applications).map(|number| {
            let (path, object) = (path.clone(), work.application(number));
            async move { server.create(&path, &object).await.map(drop) }
        });
        stream::iter(made).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        let spec = json!({"applicationRefs": [{"namePattern": "*", "useAnnotations": true}]});
        stage.create_updater("all", spec).await?;
        Ok(Self { stage, registry, work })
    }

    async fn measure(&self, release: bool) -> Result<Vec<Figure>> {
        let Work { name, repositories, .. } = *self.work;
        let limit = |figure: Figure, most: f64| if release { figure.at_most(most) } else { figure };
        let mut figures = Vec::new();
        let began = Instant::now();
        // A pass is short there, and many are wanted.
        let interval = if name == "m5" { "200ms" } else { "2s" };
        let words = ["--loglevel", "info", "--interval", interval, "--warmup-cache=false"];
        let mut controller = self.stage.start("controller", &words)?;
        self.passes(&mut controller, 1).await?;
        let first = began.elapsed().as_secs_f64();
        let usage = Usage::of(controller.id())?;
        let counts = self.registry.counts();
        figures.push(Figure::count(
            format!("{name}, first pass: requests"),
            counts.all,
            repositories,
        ));
        let wall = Figure::new(format!("{name}, start to the end of the first pass"), "s", first);
        figures.push(if name == "m5" { limit(wall, 0.25) } else { wall });
        figures.push(Figure::new(format!("{name}, until then: processor"), "s", usage.own));

        let steady = if name == "m5" { 200 } else { 5 };
        let at_rest = state(&controller)?;
        let (before, asked) = (Usage::of(controller.id())?.own, self.stage.asked()?);
        self.registry.reset_counts();
        self.passes(&mut controller, 1 + steady).await?;
        let usage = Usage::of(controller.id())?;
        let asked = self.stage.asked()?.since(&asked);
        let counts = self.registry.counts();
        let passes = number(steady as u64);
        let of = |what: &str| format!("{name}, steady pass: {what}");
        figures.push(Figure::count(of("requests"), counts.all / steady, repositories));
        let writes = asked.of("patch imageupdaters/status 200");
        figures.push(Figure::count(of("writes of status"), writes / steady, 1));
        let lines = asked.shown();
        ensure!(lines.lines().count() == 1, "more than statuses:\n{lines}");
        let processor = Figure::new(of("processor"), "s", (usage.own - before) / passes);
        figures.push(limit(processor, self.work.processor));
        let peak = Figure::new(format!("{name}: peak memory"), "MiB", usage.peak);
        figures.push(limit(peak, self.work.peak));
        let rest = state(&controller)?;
        let resident = Figure::new(format!("{name}: resident at rest"), "MiB", rest[0]);
        figures.push(if name == "m5" { limit(resident, 25.0) } else { resident });
        for (what, before, after) in [
            ("resident", at_rest[0], rest[0]),
            ("open files", at_rest[1], rest[1]),
            ("threads", at_rest[2], rest[2]),
        ] {
            let work = format!("{name}: {what} after {steady} passes, against the first");
            figures.push(Figure::new(work, "", after - before));
        }
        Ok(figures)
    }

    /// Waits until so many passes have ended.
    async fn passes(&self, controller: &mut Process, count: usize) -> Result<()> {
        let ended = |process: &Process| process.said().matches("Processing results:").count();
        let deadline = Instant::now() + Duration::from_mins(15);
        while ended(controller) < count {
            ensure!(controller.status()?.is_none(), "it ended{}", controller.said());
            ensure!(Instant::now() < deadline, "no pass{}", controller.said());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let said = controller.said();
        let line = said.lines().rfind(|line| line.contains("Processing results:"));
        let images = self.work.applications * self.work.images;
        let words =
            format!("images_considered={images} images_skipped=0 images_updated=0 errors=0");
        ensure!(line.is_some_and(|line| line.contains(&words)), "{line:?}");
        Ok(())
    }
}

/// MiB resident, open files, threads.
fn state(controller: &Process) -> Result<[f64; 3]> {
    let process = format!("/proc/{}", controller.id());
    let status = std::fs::read_to_string(format!("{process}/status"))?;
    let of = |field: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        let value = line.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
        value.unwrap_or_default()
    };
    let files = std::fs::read_dir(format!("{process}/fd"))?.count();
    Ok([of("VmRSS:") / 1024.0, number(files as u64), of("Threads:")])
}

impl Work {
    fn application(&self, number: usize) -> Value {
        let newest = self.tags - 1;
        let image = |index: usize| {
            format!("registry.test/acme/app-{}", (number * self.images + index) % self.repositories)
        };
        let names: Vec<String> = (0..self.images).map(image).collect();
        let list: Vec<String> =
            names.iter().enumerate().map(|(at, name)| format!("i{at}={name}:^1")).collect();
        let running: Vec<String> =
            names.iter().map(|name| format!("{name}:1.{newest}.0")).collect();
        json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": format!("app-{number}"), "annotations": {
                format!("{PREFIX}/image-list"): list.join(","),
                "example.com/ballast": "x".repeat(self.ballast),
            }},
            "spec": {
                "project": "default",
                "destination": {"server": "https://kubernetes.default.svc"},
                "source": {"repoURL": "https://git.example.com/x", "path": "p",
                           "kustomize": {"images": running}},
            },
            "status": {"sourceType": "Kustomize", "summary": {"images": running}},
        })
    }
}
