use super::*;

fn app() -> AppName {
    AppName { namespace: "argocd".into(), name: "shop".into() }
}

fn annotated(pairs: &[(&str, &str)]) -> Result<Annotated, InvalidAnnotations> {
    let annotations =
        pairs.iter().map(|(key, value)| (format!("{PREFIX}/{key}"), (*value).to_owned())).collect();
    read(&app(), &annotations)
}

/// Spec 21 §5.2, table `image-list`.
#[test]
fn image_lists_are_split_and_trimmed() {
    #[rustfmt::skip]
    let rows = [
        ("docker.io/library/nginx:1.21", "docker.io/library/nginx:1.21"),
        ("web=docker.io/library/nginx:1.21", "web = docker.io/library/nginx:1.21"),
        ("a.b/x:1,c.d/y:2", "a.b/x:1; c.d/y:2"),
        ("web=x:1,pg:14,api=z", "web = x:1; pg:14; api = z"),
        ("  web = x:1  ,  api = y:v2.0  ", "web = x:1; api = y:v2.0"),
        ("web=a:1,,api=b:2", "web = a:1; api = b:2"),
        ("web=a:1\n", "web = a:1"),
        ("web=a:1,\napi=b:2\n", "web = a:1; api = b:2"),
        ("  =x:1", "x:1"),
        ("web=x@sha256:abc123", "web = x@sha256:abc123"),
        ("nginx:>=1.0 <2", "nginx:>=1.0 <2"),
        ("web=nginx:>=1.0", "web = nginx:>=1.0"),
        ("web=nginx:>=1.0,<2", "web = nginx:>=1.0; <2"),
        ("web=nginx:>=1.0 <2", "web = nginx:>=1.0 <2"),
        ("web=registry:5000/nginx:~1", "web = registry:5000/nginx:~1"),
    ];
    for (list, expected) in rows {
        let images = annotated(&[("image-list", list)]).unwrap().images;
        let shown: Vec<String> = images
            .iter()
            .map(|image| match image.alias.as_str() {
                "" => image.image_name.clone(),
                alias => format!("{alias} = {}", image.image_name),
            })
            .collect();
        assert_eq!(shown.join("; "), expected, "{list:?}");
    }
}

#[test]
fn unusable_annotations_are_refused_in_the_references_words() {
    #[rustfmt::skip]
    let rows: [(&[(&str, &str)], &str); 6] = [
        (&[("update-strategy", "semver")], "argocd-image-updater.argoproj.io/image-list annotation not found on app argocd/shop"),
        (&[("image-list", "")], "argocd-image-updater.argoproj.io/image-list annotation is empty on app argocd/shop"),
        (&[("image-list", "  ,  ,  ")], "argocd-image-updater.argoproj.io/image-list annotation is empty on app argocd/shop"),
        (&[("image-list", "web=")], "empty image name in argocd-image-updater.argoproj.io/image-list annotation on app argocd/shop"),
        (&[("image-list", "a"), ("force-update", "")], "error parsing force update settings: '' is neither true nor false"),
        (&[("image-list", "w=a"), ("w.helm.image-name", "x"), ("w.kustomize.image-name", "y")],
         "parse manifest targets for alias \"w\": both helm and kustomize manifest targets configured for alias \"w\""),
    ];
    for (pairs, expected) in rows {
        assert_eq!(annotated(pairs).unwrap_err().to_string(), expected);
    }
}

/// Spec 21 §5.2, table "Update settings".
#[test]
fn settings_are_trimmed_and_lists_are_split() {
    let read = annotated(&[
        ("image-list", "web=x"),
        ("ignore-tags", "dev,,test"),
        ("update-strategy", "  "),
        ("platforms", "linux/amd64"),
        ("web.ignore-tags", ""),
        ("web.force-update", "T"),
        ("web.platforms", " linux/amd64 , ,linux/arm64 "),
    ])
    .unwrap();
    let list = |items: &[&str]| Some(items.iter().map(|item| (*item).to_owned()).collect());
    assert_eq!(
        read.settings,
        CommonUpdateSettings {
            ignore_tags: list(&["dev", "", "test"]),
            ..CommonUpdateSettings::default()
        }
    );
    assert_eq!(
        read.images[0].common_update_settings,
        Some(CommonUpdateSettings {
            ignore_tags: list(&[""]),
            force_update: Some(true),
            platforms: list(&["linux/amd64", "linux/arm64"]),
            ..CommonUpdateSettings::default()
        })
    );
}

#[test]
fn an_alias_with_a_slash_is_found_under_an_underscore() {
    let read =
        annotated(&[("image-list", "team/web=x"), ("team_web.allow-tags", "regexp:^v")]).unwrap();
    let own = read.images[0].common_update_settings.clone().unwrap();
    assert_eq!(own.allow_tags.as_deref(), Some("regexp:^v"));
}

#[test]
fn what_nothing_reads_is_named_with_advice() {
    let images = [ImageConfig { alias: "web".into(), ..ImageConfig::default() }];
    #[rustfmt::skip]
    let rows = [
        ("web.tag-match", false, "use argocd-image-updater.argoproj.io/web.allow-tags"),
        ("web.sort-mode", false, "use argocd-image-updater.argoproj.io/web.update-strategy"),
        ("api.allow-tags", true, "image-list has the aliases web"),
        ("web.filter-tag", false, "the nearest known key is allow-tags"),
        ("update-stratgy", false, "the nearest known key is update-strategy"),
    ];
    for (key, unknown_alias, advice) in rows {
        let annotations = BTreeMap::from([(format!("{PREFIX}/{key}"), String::new())]);
        let found = unread(&annotations, &images);
        let expected =
            Unread { key: format!("{PREFIX}/{key}"), unknown_alias, advice: advice.to_owned() };
        assert_eq!(found, [expected], "{key}");
    }
    let read = ["image-list", "web.platforms", "web.helm.image-spec", "git-branch"];
    let annotations = read.map(|key| (format!("{PREFIX}/{key}"), String::new())).into();
    assert_eq!(unread(&annotations, &images), []);
}
