//! One repository for all: the pass after an update, whether or not Argo CD has got to it.

use std::fmt::Write as _;
use std::sync::Arc;

use aiu_controller::cluster::files::Manifests;
use aiu_controller::events;
use aiu_controller::report::CycleReport;
use aiu_controller::unlock::Keys;
use aiu_core::outcome::Outcome;
use aiu_core::registries::Registries;
use aiu_git::GitCounts;
use aiu_testkit::git::GitRemote;
use argocd_image_updater::commands::session::{Services, services};
use argocd_image_updater::settings::{Commits, Settings};

use crate::program::{IMAGE, Place, application, registry};

const APPLICATIONS: usize = 50;

/// All Applications, whose status tells these tags in turn.
fn manifests(remote: &GitRemote, tags: [&str; 2]) -> String {
    let keys = [IMAGE, ("write-back-method", "git"), ("write-back-target", "kustomization")];
    let url = remote.url();
    (0..APPLICATIONS).fold(String::new(), |mut all, at| {
        let source = format!("{{source: {{repoURL: '{url}', path: a{at}, targetRevision: main}}}}");
        let app = application(&format!("a{at}"), &keys, &source);
        let status = format!(
            "status: {{sourceType: Kustomize, summary: {{images: ['registry.test/acme/web:{}']}}}}\n---\n",
            tags[at % 2]
        );
        let _ = write!(all, "{}", app.replace("---\n", &status));
        all
    })
}

async fn pass(services: &Services, place: &Place) -> (CycleReport, GitCounts) {
    let before = services.mirrors.counts();
    let manifests = Manifests::load(&place.path().join("manifests"), "argocd").unwrap();
    let report = services.session.pass(manifests).await;
    let after = services.mirrors.counts();
    let counts = GitCounts {
        ls_remote: after.ls_remote - before.ls_remote,
        fetch_tip: after.fetch_tip - before.fetch_tip,
        fetch_blobs: after.fetch_blobs - before.fetch_blobs,
        push: after.push - before.push,
        processes: after.processes - before.processes,
        rebuilt: after.rebuilt - before.rebuilt,
    };
    (report, counts)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pass_after_an_update_asks_once_and_tells_nothing_deployed_or_not() {
    // Whoever comes first in this process installs it.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let registry = registry().await;
    let text = "images:\n- name: registry.test/acme/web\n  newTag: 1.0.0\n";
    let paths: Vec<String> =
        (0..APPLICATIONS).map(|at| format!("a{at}/kustomization.yaml")).collect();
    let remote = GitRemote::seeded(paths.iter().map(|path| (path.as_str(), text)));
    let place = Place::new(&registry, "");
    place.manifest("apps.yaml", &manifests(&remote, ["1.0.0", "1.0.0"]));
    let conf = std::fs::read_to_string(place.path().join("registries.conf")).unwrap();
    let registries = Arc::new(Registries::parse(&conf).unwrap());
    let settings = Settings::for_folder(place.path().join("manifests"), place.path().join("cache"));
    let commits = Commits::with_default_message(&settings);
    let keys = Keys::without_user(place.path());
    let services = services(registries.into(), &settings, &commits, keys, false).unwrap();

    let (report, counts) = pass(&services, &place).await;
    assert_eq!(events::updates(&report).len(), APPLICATIONS);
    assert_eq!((counts.ls_remote, counts.fetch_tip, counts.fetch_blobs, counts.push), (1, 1, 1, 1));
    assert!(counts.processes <= 12, "{counts:?}");

    // Nothing is deployed yet; half of it is; all of it is.
    for tags in [["1.0.0", "1.0.0"], ["1.0.0", "1.1.0"], ["1.1.0", "1.1.0"]] {
        place.manifest("apps.yaml", &manifests(&remote, tags));
        let (report, counts) = pass(&services, &place).await;
        let nothing = GitCounts { ls_remote: 1, processes: 1, ..GitCounts::default() };
        assert_eq!(counts, nothing, "{tags:?}");
        assert_eq!(events::updates(&report), [], "{tags:?}");
        assert!(report.writes.is_empty() && !report.failed(), "{tags:?}");
        let still = report
            .images
            .iter()
            .filter(|image| !matches!(image.outcome, Outcome::UpToDate | Outcome::AlreadySo));
        assert_eq!((report.images.len(), still.count()), (APPLICATIONS, 0), "{tags:?}");
    }
    assert_eq!(remote.log("main").len(), APPLICATIONS + 1);
}
