//! Whole-system cases as text: what there is, what is done, what must come of it.
//!
//! A scenario is a YAML file that reads like a story and needs no Rust ([`Scenario`]). The
//! [`Stage`] sets it up with real peers on loopback; who calls it supplies the pass, so that
//! this crate needs none of the product's.
//!
//! ```yaml
//! title: two applications on one branch share a push
//! given:
//!   registry: { ghcr.io/org/app: [1.2.0, 1.3.1] }
//!   git: { "https://git.test/platform": { main: { a/values.yaml: "image: {tag: 1.2.0}\n" } } }
//!   manifests: { app.yaml: "…" }
//! steps:
//!   - do: pass
//!     then:
//!       images: { argocd/a app: updated to 1.3.1 }
//!       counts: { listings: 1, pushes: 1 }
//! ```

mod check;
mod stage;
mod text;

pub use check::Observed;
pub use stage::Stage;
pub use text::{Branches, Deed, Expected, Files, Given, Scenario, Step};

/// Runs a scenario. `pass` makes one pass over the stage and tells what it saw; a mismatch is
/// an error that names the step and shows both sides.
pub async fn play(
    scenario: &Scenario,
    mut pass: impl AsyncFnMut(&Stage) -> Observed,
) -> anyhow::Result<()> {
    let stage = Stage::set(&scenario.given).await?;
    for (number, step) in scenario.steps.iter().enumerate() {
        let before = stage.snapshot()?;
        let observed = match &step.deed {
            Deed::Pass => Some(pass(&stage).await),
            deed => {
                stage.perform(deed)?;
                None
            }
        };
        let wrong = check::differences(&step.then, observed.as_ref(), &before, &stage)?;
        anyhow::ensure!(
            wrong.is_empty(),
            "{}, step {} ({:?}):\n{}",
            scenario.title,
            number + 1,
            step.deed,
            wrong.join("\n")
        );
    }
    Ok(())
}
