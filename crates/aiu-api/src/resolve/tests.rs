use aiu_core::edit::HelmKeys;

use super::*;
use crate::select::select;

fn plan(updater: &str, app: &str) -> WorkPlan {
    let updater: ImageUpdater = serde_saphyr::from_str(updater).unwrap();
    let app: Application = serde_saphyr::from_str(app).unwrap();
    let platform = "linux/amd64".parse().unwrap();
    let registries = Registries::builtin();
    let context = Context { registries: &registries, namespace: "argocd", platform: &platform };
    resolve(&updater, &select(&updater, [&app]).unwrap(), &context)
}

const ANNOTATIONS_ONLY: &str =
    "metadata: {name: u}\nspec: {applicationRefs: [{namePattern: '*', useAnnotations: true}]}";

/// An Application whose annotations are given as `key: value` lines without our prefix.
fn annotated(pairs: &[(&str, &str)], spec: &str) -> String {
    let lines: Vec<String> = pairs
        .iter()
        .map(|(key, value)| format!("    {}/{key}: {value:?}\n", crate::PREFIX))
        .collect();
    format!("metadata:\n  name: shop\n  annotations:\n{}{spec}", lines.concat())
}

const HELM: &str =
    "spec: {source: {repoURL: 'https://g/r', path: ./charts/shop, targetRevision: main, helm: {}}}";

fn shown(plan: &WorkPlan) -> String {
    let images = plan.images.iter().map(|image| {
        let policy = match &image.policy {
            Ok(policy) => policy.strategy.name().to_owned(),
            Err(failure) => failure.reason.to_owned(),
        };
        let target = match &image.target {
            Target::Spec { source_type } => format!("{source_type} spec"),
            Target::File(git) => {
                let file = match &git.file {
                    TargetFile::Known(path, kind) => format!("{path} as {kind:?}"),
                    TargetFile::ByFolder { file, folder, manifests } => {
                        let or = manifests.as_ref().map_or("", |_| " or manifests");
                        format!("{file} by {folder}{or}")
                    }
                    TargetFile::Manifests(ManifestFolder { folder, recurse, include, exclude }) => {
                        let deep = if *recurse { " and below" } else { "" };
                        let patterns = [include, exclude].map(|p| p.as_deref().unwrap_or("-"));
                        format!("manifests of {folder}{deep} {}", patterns.join(" "))
                    }
                };
                format!("{file} on {}", git.branch.base.as_deref().unwrap_or("HEAD"))
            }
        };
        let signed = image.verification.as_ref();
        let signed = signed.map(|k| format!(" signed by {}/{}#{}", k.namespace, k.name, k.field));
        format!("{} by {policy} to {target}{}", image.key.image, signed.unwrap_or_default())
    });
    let dropped = plan
        .dropped
        .iter()
        .map(|d| format!("{} dropped: {}", d.image.as_deref().unwrap_or("all"), d.failure.reason));
    images.chain(dropped).collect::<Vec<_>>().join("; ")
}

#[test]
fn annotations_become_tracked_images() {
    let git = ("write-back-method", "git");
    #[rustfmt::skip]
    let rows: [(&[(&str, &str)], &str, &str); 17] = [
        (&[("image-list", "web=acme/web:^1.2")], HELM, "web by semver to Helm spec"),
        (&[("image-list", "acme/web,x=acme/y"), ("update-strategy", "latest"), ("x.update-strategy", "name")], HELM,
         "acme/web by newest-build to Helm spec; x by alphabetical to Helm spec"),
        (&[("image-list", "web=acme/web"), git], HELM, "web by semver to charts/shop/.argocd-source-shop.yaml as HelmOverride on main"),
        (&[("image-list", "web=acme/web"), git, ("write-back-target", "helmvalues")], HELM,
         "web by semver to charts/shop/values.yaml as HelmValues on main"),
        (&[("image-list", "web=acme/web"), git, ("write-back-target", "kustomization:/base")],
         "spec: {source: {repoURL: u, path: o/p, targetRevision: HEAD}}", "web by semver to base as Kustomization on HEAD"),
        (&[("image-list", "web=acme/web"), git], "spec: {source: {repoURL: u, path: o/p}}",
         "web by semver to o/p/.argocd-source-shop.yaml by o/p or manifests on HEAD"),
        (&[("image-list", "web=acme/web"), git], "spec: {source: {repoURL: u, path: o/p, directory: {recurse: true, include: '*.yaml'}}}",
         "web by semver to manifests of o/p and below *.yaml - on HEAD"),
        (&[("image-list", "web=acme/web"), git], "spec: {source: {repoURL: u, path: o/p}}\nstatus: {sourceType: Directory}",
         "web by semver to manifests of o/p - - on HEAD"),
        (&[("image-list", "web=acme/web"), git, ("write-back-target", "manifests:base")], "spec: {source: {repoURL: u, path: o/p, directory: {exclude: x.yaml}}}",
         "web by semver to manifests of o/p/base - x.yaml on HEAD"),
        (&[("image-list", "web=acme/web"), git, ("write-back-target", "manifests:/base")], "spec: {source: {repoURL: u, path: o/p}}",
         "web by semver to manifests of base - - on HEAD"),
        (&[("image-list", "web=acme/web"), git, ("write-back-target", "manifest")], "spec: {source: {repoURL: u, path: o/p}}", "all dropped: WriteBackInvalid"),
        (&[("image-list", "web=acme/web"), git, ("write-back-target", "manifests:../..")], "spec: {source: {repoURL: u, path: p}}", "all dropped: WriteBackInvalid"),
        (&[("image-list", "web=acme/web")], "spec: {source: {repoURL: u, path: p, directory: {}}}", "all dropped: UnsupportedSourceType"),
        (&[("image-list", "web=acme/web"), git, ("write-back-target", "o/values.yaml")],
         "spec: {source: {repoURL: u, path: o/p, kustomize: {}}}", "all dropped: WriteBackInvalid"),
        (&[("image-list", "web=acme/web")], "spec: {source: {repoURL: u, path: p}}", "all dropped: UnsupportedSourceType"),
        (&[("image-list", "web=acme/web"), ("web.helm.image-tag", "t")], "spec: {source: {repoURL: u, path: p}}", "web by semver to Helm spec"),
        (&[("image-list", "web=acme/web:~1.2"), ("update-strategy", "digest")], HELM, "web by ConstraintInvalid to Helm spec"),
    ];
    for (pairs, spec, expected) in rows {
        assert_eq!(shown(&plan(ANNOTATIONS_ONLY, &annotated(pairs, spec))), expected, "{pairs:?}");
    }
}

/// Spec 10 §6.2, 20 §2.1: of several levels that say something the most specific is named.
#[test]
fn each_setting_knows_who_set_it() {
    let updater = "metadata: {name: u}
spec:
  commonUpdateSettings: {updateStrategy: latest, forceUpdate: true, allowTags: any}
  writeBackConfig: {method: git, gitConfig: {branch: release}}
  applicationRefs:
    - namePattern: shop
      commonUpdateSettings: {allowTags: 'regexp:^v'}
      writeBackConfig: {gitConfig: {writeBackTarget: helmvalues}}
      images: [{alias: web, imageName: acme/web, commonUpdateSettings: {updateStrategy: semver}}]
";
    let of = |plan: &WorkPlan, level: Level| {
        let mut said: Vec<String> = Vec::new();
        for setting in plan.images[0].settings.iter().filter(|setting| setting.level == level) {
            let value = setting.value.as_deref().unwrap_or("-");
            let place = setting.place.as_deref().unwrap_or("");
            said.push(format!("{} {value} {place}", setting.name).trim_end().to_owned());
        }
        said
    };
    let resource = plan(updater, &annotated(&[], HELM).replace("annotations:\n", "labels: {}\n"));
    #[rustfmt::skip]
    let rows = [
        (Level::Image, vec!["update-strategy semver spec.applicationRefs[].images[].commonUpdateSettings of the ImageUpdater u"]),
        (Level::Reference, vec!["allow-tags regexp:^v spec.applicationRefs[].commonUpdateSettings of the ImageUpdater u",
            "write-back-target helmvalues spec.applicationRefs[].writeBackConfig of the ImageUpdater u"]),
        (Level::Resource, vec!["force-update true spec.commonUpdateSettings of the ImageUpdater u",
            "write-back-method git spec.writeBackConfig of the ImageUpdater u",
            "git-branch release spec.writeBackConfig of the ImageUpdater u"]),
        (Level::Default, vec!["ignore-tags -", "platforms -", "pull-secret -", "git-repository -"]),
    ];
    for (level, expected) in rows {
        assert_eq!(of(&resource, level), expected);
    }
    let pairs =
        [("image-list", "a/b=acme/web"), ("a_b.allow-tags", "any"), ("update-strategy", "name")];
    let noted = plan(ANNOTATIONS_ONLY, &annotated(&pairs, HELM));
    let prefix = crate::PREFIX;
    assert_eq!(
        of(&noted, Level::ImageAnnotation),
        [format!("allow-tags any the annotation {prefix}/a_b.allow-tags")]
    );
    assert_eq!(
        of(&noted, Level::Annotation),
        [format!("update-strategy name the annotation {prefix}/update-strategy")]
    );
}

/// Who selects Applications by a pattern has to say that plain manifests shall be edited.
#[test]
fn a_resource_names_the_manifests_as_its_target() {
    let directory = "metadata: {name: shop}\nspec: {source: {repoURL: u, path: p, directory: {}}}";
    let unknown = "metadata: {name: shop}\nspec: {source: {repoURL: u, path: p}}";
    #[rustfmt::skip]
    let rows = [
        ("{writeBackTarget: manifests}", directory, "web by semver to manifests of p - - on HEAD"),
        ("{writeBackTarget: manifests}", unknown, "web by semver to manifests of p - - on HEAD"),
        ("{}", directory, "all dropped: UnsupportedSourceType"),
        ("{}", unknown, "web by semver to p/.argocd-source-shop.yaml by p on HEAD"),
    ];
    for (config, app, expected) in rows {
        let updater = format!(
            "metadata: {{name: u}}\nspec: {{writeBackConfig: {{method: git, gitConfig: {config}}}, applicationRefs: [{{namePattern: '*', images: [{{alias: web, imageName: acme/web}}]}}]}}"
        );
        assert_eq!(shown(&plan(&updater, app)), expected, "{config} {app}");
    }
}

/// What cannot be used is dropped by itself, and says so.
#[test]
fn one_bad_image_does_not_hinder_the_others() {
    #[rustfmt::skip]
    let rows = [
        ("a=acme/a,b=https://h/b,c=acme/c", "a by semver to Helm spec; c by semver to Helm spec; b dropped: ImageListInvalid"),
        ("a=acme/a:>=1.0,<2", "a by semver to Helm spec; <2 dropped: ImageListInvalid"),
        ("a=acme/a:>=1.0,<=2", "a by semver to Helm spec; < dropped: ImageListInvalid"),
        ("a=acme/a,a=acme/b", "a by semver to Helm spec; a dropped: ImageListInvalid"),
        ("a=acme/a\nb=acme/b", "a dropped: ImageListInvalid"),
        ("", "all dropped: ImageListInvalid"),
    ];
    for (list, expected) in rows {
        let plan = plan(ANNOTATIONS_ONLY, &annotated(&[("image-list", list)], HELM));
        assert_eq!(shown(&plan), expected, "{list:?}");
    }
}

/// Spec 21 §4.1 and §5: levels of the resource; annotations are read only where it says so.
#[test]
fn the_most_specific_level_decides() {
    let updater = "metadata: {name: u}
spec:
  commonUpdateSettings: {updateStrategy: latest, forceUpdate: true}
  writeBackConfig: {method: git, gitConfig: {branch: release}}
  applicationRefs:
    - namePattern: shop
      writeBackConfig: {gitConfig: {writeBackTarget: helmvalues}}
      images:
        - {alias: web, imageName: 'acme/web:1.x', commonUpdateSettings: {updateStrategy: semver}}
        - {alias: job, imageName: acme/job}
";
    let plan = plan(updater, &annotated(&[("image-list", "other=acme/other")], HELM));
    assert_eq!(
        shown(&plan),
        "web by semver to charts/shop/values.yaml as HelmValues on release; \
         job by newest-build to charts/shop/values.yaml as HelmValues on release"
    );
    assert!(plan.images.iter().all(|image| image.force));
}

/// A level that sets one thing leaves the others to the levels above it.
#[test]
fn a_level_with_one_setting_inherits_the_rest() {
    let updater = "metadata: {name: u}
spec:
  commonUpdateSettings: {updateStrategy: digest}
  applicationRefs:
    - namePattern: shop
      images:
        - {alias: web, imageName: 'acme/web:stable', commonUpdateSettings: {forceUpdate: true}}
        - {alias: job, imageName: 'acme/job:stable', commonUpdateSettings: {allowTags: any}}
";
    let plan = plan(updater, &annotated(&[("image-list", "other=acme/other")], HELM));
    assert_eq!(shown(&plan), "web by digest to Helm spec; job by digest to Helm spec");
    assert_eq!(plan.images.iter().map(|image| image.force).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn signature_checks_are_never_passed_over() {
    let updater = |spec: &str, image: &str| {
        format!(
            "metadata: {{name: u}}\nspec: {{{spec} applicationRefs: [{{namePattern: '*', images: [{{alias: web, imageName: acme/web{image}}}]}}]}}"
        )
    };
    let key =
        |name: &str| format!("imagesVerification: {{cosignKey: {{secretName: {name}, key: k}}}},");
    let (on, off) = (key("s"), "imagesVerification: {enabled: false},");
    let image = |text: &str| format!(", {}", text.trim_end_matches(','));
    #[rustfmt::skip]
    let rows = [
        (updater("", ""),                        "web by semver to Helm spec"),
        (updater(&on, ""),                       "web by semver to Helm spec signed by argocd/s#k"),
        (updater("", &image(&on)),               "web by semver to Helm spec signed by argocd/s#k"),
        (updater(&on, &image(&key("t"))),        "web by semver to Helm spec signed by argocd/t#k"),
        (updater(&on, &image(off)),              "web by semver to Helm spec"),
        (updater(off, ""),                       "web by semver to Helm spec"),
        // OPT-023: a key alone does not turn on what a higher level turned off.
        (updater(off, &image(&on)),              "web by semver to Helm spec"),
        (updater("imagesVerification: {},", ""), "web dropped: Unverified"),
    ];
    for (updater, expected) in rows {
        assert_eq!(
            shown(&plan(&updater, &annotated(&[], HELM).replace("annotations:\n", "labels: {}\n"))),
            expected,
            "{updater}"
        );
    }
}

/// Spec 21 §8.1, table "Helm parameter names".
#[test]
fn keys_need_an_alias_and_have_defaults() {
    let name_and_tag = |name: &str, tag: &str| HelmKeys::NameAndTag {
        name: Some(name.into()),
        tag: Some(tag.into()),
    };
    let rows = [
        ("", "{name: image.blub, tag: image.blab}", name_and_tag("image.name", "image.tag")),
        ("m", "{spec: ' image.path ', tag: image.tag}", HelmKeys::Spec("image.path".into())),
        ("m", "{name: n, tag: t}", name_and_tag("n", "t")),
        ("m", "{}", name_and_tag("image.name", "image.tag")),
        ("m", "{tag: image.tag}", name_and_tag("image.name", "image.tag")),
        ("m", "{name: image.repository}", name_and_tag("image.repository", "image.tag")),
        ("m", "{spec: app.image}", HelmKeys::Spec("app.image".into())),
    ];
    for (alias, helm, expected) in rows {
        let text = format!("{{alias: '{alias}', imageName: x, manifestTargets: {{helm: {helm}}}}}");
        let image: ImageConfig = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(names::of(&image).unwrap().helm, expected, "{text}");
    }
}
