//! What targets say, and which entry of a list a wish means.

use super::lists::{Entry, NamedImage, Setting, merge_images, merge_settings};
use super::*;

fn helm(name: &str, tag: &str) -> Keys {
    let key = |text: &str| (!text.is_empty()).then(|| text.into());
    Keys::Helm(HelmKeys::NameAndTag { name: key(name), tag: key(tag) })
}

fn plugin(name: &str, tag: &str) -> Keys {
    Keys::Plugin(PluginKeys::NameAndTag { name: Some(name.into()), tag: Some(tag.into()) })
}

fn spec(key: &str) -> Keys {
    Keys::Helm(HelmKeys::Spec(key.into()))
}

fn kustomize(name: &str) -> Keys {
    Keys::Kustomize { name: (!name.is_empty()).then(|| name.into()) }
}

/// The reference, `nothing`, or the refusal.
fn say(found: Result<Option<ImageReference>, EditError>) -> String {
    match found {
        Ok(Some(image)) => image.to_string(),
        Ok(None) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_target_says_what_an_edit_would_replace() {
    use FileKind::{HelmOverride, HelmValues, Kustomization, KustomizeOverride, Manifest};
    let both = || helm("image.name", "image.tag");
    #[rustfmt::skip]
    let rows = [
        // Values files.
        (HelmValues, "image: {name: acme/web, tag: 1.20}", both(), "docker.io/acme/web:1.20"),
        (HelmValues, "image: {name: quay.io/acme/web, tag: v1}", both(), "quay.io/acme/web:v1"),
        (HelmValues, "image: {name: other, tag: v1}", both(), "other:v1"),
        (HelmValues, "image: {tag: v1@sha256:aa}", both(), "docker.io/acme/web:v1@sha256:aa"),
        (HelmValues, "image: {name: acme/web}", both(), "docker.io/acme/web"),
        (HelmValues, "image: {tag: ''}", both(), "docker.io/acme/web"),
        (HelmValues, "image: {tag: }", both(), "docker.io/acme/web"),
        (HelmValues, "image: {tag: '{{ .x }}'}", both(), "docker.io/acme/web"),
        (HelmValues, "image: {name: '{{ .x }}', tag: v1}", both(), "nothing"),
        (HelmValues, "image: {name: ~, tag: v1}", both(), "docker.io/acme/web:v1"),
        (HelmValues, "image: {repository: acme/web}", both(), "nothing"),
        (HelmValues, "image.tag: v1", both(), "docker.io/acme/web:v1"),
        (HelmValues, "", both(), "nothing"),
        (HelmValues, "# c\n", both(), "nothing"),
        (HelmValues, "image: |-\n  acme/web:v1\n", spec(" image "), "docker.io/acme/web:v1"),
        (HelmValues, "image: quay.io/acme/web@sha256:aa", spec("image"), "quay.io/acme/web@sha256:aa"),
        (HelmValues, "image: ''", spec("image"), "docker.io/acme/web"),
        (HelmValues, "image: '{{ .x }}'", spec("image"), "nothing"),
        (HelmValues, "t: &t v1\nimages: [{tag: *t}]", helm("", "images[0].tag"), "docker.io/acme/web:v1"),
        (HelmValues, "a: 1", helm("", "images[0].tag"), "nothing"),
        (HelmValues, "images: []", helm("", "images[0].tag"), "nothing"),
        (HelmValues, "image: web", both(), "nothing"),
        (HelmValues, "image.tag: {a: b}", both(), "nothing"),
        (HelmValues, "- a", both(), "nothing"),
        (HelmValues, "a: [", both(), "line 1: not readable as YAML: unclosed bracket '['"),
        (HelmValues, "a: {{ x }}", both(), "line 1: the file holds template actions ({{ … }}); name a file that is plain YAML as the target"),
        (HelmValues, "a: 1\na: 2", both(), "line 2: the key 'a' stands twice in one mapping; remove one of them"),
        (HelmValues, "a: 1", kustomize(""), "keys of another kind cannot be written to a HelmValues file"),
        // Kustomizations.
        (Kustomization, "images: [{name: docker.io/acme/web, newTag: '1.20'}]", kustomize(""), "docker.io/acme/web:1.20"),
        (Kustomization, "images: [{name: acme/web, newTag: v1}]", kustomize(""), "nothing"),
        (Kustomization, "images: [{name: web, newName: acme/web, digest: sha256:aa}]", kustomize("web"), "acme/web@sha256:aa"),
        (Kustomization, "images: [{name: web, newTag: v1, digest: sha256:aa}]", kustomize("web"), "web:v1@sha256:aa"),
        (Kustomization, "images: [{name: web}]", kustomize("web"), "web"),
        (Kustomization, "images: [web, {newTag: 1}]", kustomize("web"), "nothing"),
        (Kustomization, "images:", kustomize("web"), "nothing"),
        (Kustomization, "a: 1", kustomize("web"), "nothing"),
        (Kustomization, "a: 1\n---\nb: 1", kustomize("web"), "target parameter file should contain a single YAML document"),
        // Override files.
        (HelmOverride, "helm: {parameters: [{name: image.tag, value: 1.20}]}", both(), "docker.io/acme/web:1.20"),
        (HelmOverride, "helm: {parameters: [{name: image.tag}]}", both(), "docker.io/acme/web"),
        (HelmOverride, "helm: {parameters: }", both(), "nothing"),
        (HelmOverride, "helm: {parameters: x}", both(), "nothing"),
        (HelmOverride, "helm: x", both(), "nothing"),
        (HelmOverride, "text", both(), "nothing"),
        (FileKind::PluginOverride, "plugin: {env: [{name: N, value: r/web}, {name: T, value: '7'}]}", plugin("N", "T"), "r/web:7"),
        (FileKind::PluginOverride, "helm: {parameters: [{name: image.tag, value: v1}]}", both(), "docker.io/acme/web:v1"),
        (KustomizeOverride, "kustomize: {images: [db:1, 'acme/web:2', 'w=acme/web:3']}", kustomize(""), "acme/web:2"),
        (KustomizeOverride, "kustomize: {images: ['a=acme/web:2', 'w=acme/web:3']}", kustomize("w"), "acme/web:3"),
        (KustomizeOverride, "kustomize: {images: ['quay.io/acme/web:2']}", kustomize(""), "nothing"),
        // Manifests.
        (Manifest, "containers: [{image: acme/web:1}, {image: 'docker.io/acme/web:2'}]", Keys::Manifest, "acme/web:1"),
        (Manifest, "{{ template }}", Keys::Manifest, "nothing"),
    ];
    let configured = "docker.io/acme/web".parse().unwrap();
    for (kind, text, keys, expected) in rows {
        assert_eq!(say(current(kind, text, &keys, &configured)), expected, "{text:?}");
    }
}

/// Specification of reconciliation §8.1, "read" rows.
#[test]
fn a_source_says_what_it_holds() {
    let text = "spec:\n  source:\n    kustomize:\n      images:\n      - service-a=acme/web:tag-a\n      - service-b=acme/web:tag-b\n    plugin:\n      env:\n      - {name: N, value: myregistry/redis}\n      - {name: T, value: 7.0.0}\n  sources: [{helm: {parameters: [{name: image.tag, value: v1}]}}]\n";
    #[rustfmt::skip]
    let rows = [
        (SourceRef::Single, kustomize("service-a"), "acme/web:tag-a"),
        (SourceRef::Single, kustomize("service-b"), "acme/web:tag-b"),
        (SourceRef::Single, plugin("N", "T"), "myregistry/redis:7.0.0"),
        (SourceRef::Single, spec("X"), "nothing"),
        (SourceRef::Multi(0), helm("image.name", "image.tag"), "acme/web:v1"),
        (SourceRef::Multi(1), spec("X"), "line 1: spec.sources[1] does not exist"),
        (SourceRef::DrySource, spec("X"), "line 1: spec.sourceHydrator.drySource does not exist"),
    ];
    let configured = "acme/web".parse().unwrap();
    for (source, keys, expected) in rows {
        assert_eq!(say(current_in_spec(text, 0, source, &keys, &configured)), expected);
    }
    let missing = current_in_spec(text, 1, SourceRef::Single, &spec("X"), &configured);
    assert_eq!(say(missing), "document 2 is empty");
}

/// Specification of git write-back §4.4 and of reconciliation §8.1.
#[test]
fn kustomize_images_are_replaced_by_name_and_repository() {
    #[rustfmt::skip]
    let rows = [
        // in the list; wished; what comes of it
        ("baz", "foo bar", "baz foo bar"),
        ("existing:latest updated:old", "new updated:latest", "existing:latest updated:latest new"),
        ("nginx:foo", "nginx", "nginx:foo"),
        ("nginx", "nginx:latest", "nginx:latest"),
        ("nginx:latest", "nginx:latest@sha256:91", "nginx:latest@sha256:91"),
        ("bitnami/nginx:latest@sha256:1a", "bitnami/nginx@sha256:1a", "bitnami/nginx:latest@sha256:1a"),
        ("quay.io/nginx:latest", "docker.io/nginx:latest", "quay.io/nginx:latest docker.io/nginx:latest"),
        ("docker.io/library/nginx:1.0.0", "nginx:1.0.1", "nginx:1.0.1"),
        ("docker.io/o/foobar:1.0.0", "o/foobar:1.0.1 o/foobar:1.0.1 o/foobar:1.0.1", "o/foobar:1.0.1"),
        ("", "nginx:foo", "nginx:foo"),
        ("nginx:foo", "", "nginx:foo"),
        ("jannfis/foobar:1.0.0", "foobar=jannfis/foobar:1.0.1", "foobar=jannfis/foobar:1.0.1"),
        ("bar:1 side:1", "bar=gcr.test/bar:1", "bar=gcr.test/bar:1 side:1"),
        ("bar:1 bar=gcr.test/bar:1", "bar=gcr.test/bar:2", "bar:1 bar=gcr.test/bar:2"),
        ("a:latest@sha256:0a b:latest@sha256:0b", "a:latest@sha256:1a", "a:latest@sha256:1a b:latest@sha256:0b"),
        ("a=nginx:1", "nginx:2", "nginx:2"),
        ("a=nginx:1", "b=nginx:2", "a=nginx:1 b=nginx:2"),
        ("a=old:1", "a=new:1", "a=new:1"),
        ("a=x:1 b=x:1", "a=x:2 b=x:3", "a=x:2 b=x:3"),
        ("a=x:1 x:1", "x:2", "a=x:1 x:2"),
        ("x:1 x:2", "x:3", "x:3 x:3"),
        ("registry:5000/a:1 registry:5000/b:1", "registry:5000/b:2", "registry:5000/a:1 registry:5000/b:2"),
        ("{{.x}} Not/OK", "x:1", "{{.x}} Not/OK x:1"),
    ];
    for (existing, wished, expected) in rows {
        let existing: Vec<_> = existing.split_whitespace().collect();
        let wished = wished.split_whitespace().map(|text| NamedImage::parse(text).unwrap());
        let merged = merge_images(&existing, &wished.collect::<Vec<_>>());
        let texts = merged.into_iter().map(|entry| match entry {
            Entry::Kept(at) => existing[at].to_owned(),
            Entry::Replaced(_, image) | Entry::Added(image) => image.to_string(),
        });
        assert_eq!(texts.collect::<Vec<_>>().join(" "), expected, "given {existing:?}");
    }
}

/// Specification of reconciliation §8.1: order kept, others untouched.
#[test]
fn settings_are_replaced_by_name_or_appended() {
    let setting = |name: &str| Setting { name: name.into(), value: "1.2.4".to_owned() };
    #[rustfmt::skip]
    let rows = [
        ("someparam image.name otherparam image.tag", "image.name image.tag", "kept replaced kept replaced"),
        ("", "image.name image.tag", "added added"),
        ("image.tag image.name", "foobar.image.name foobar.image.tag", "kept kept added added"),
        ("image.tag x image.tag", "image.tag", "replaced kept replaced"),
        ("", "image.tag image.tag", "added"),
    ];
    for (existing, wished, expected) in rows {
        let existing: Vec<_> = existing.split_whitespace().map(Some).chain([None]).collect();
        let wished: Vec<_> = wished.split_whitespace().map(setting).collect();
        let words =
            merge_settings(&existing, &wished).into_iter().filter_map(|entry| match entry {
                Entry::Kept(at) => existing[at].map(|_| "kept"),
                Entry::Replaced(..) => Some("replaced"),
                Entry::Added(_) => Some("added"),
            });
        assert_eq!(words.collect::<Vec<_>>().join(" "), expected, "given {existing:?}");
    }
}

#[test]
fn manifests_tell_each_place() {
    let text = "containers:\n- image: acme/web:1\n  # c\n- image: quay.io/acme/web:2\n- image: 7\nvolumes:\n- image: {reference: acme/web@sha256:aa}\n";
    let places = manifests::places(text, &"docker.io/acme/web".parse().unwrap()).unwrap();
    let said: Vec<_> =
        places.iter().map(|place| format!("{}: {}", place.line, place.image)).collect();
    assert_eq!(said, ["2: acme/web:1", "7: acme/web@sha256:aa"]);
}

/// An image whose tag is filled in by a template is not ours to move; that is told, unless the
/// text holds the image elsewhere.
#[test]
fn manifests_tell_of_fields_that_are_templates() {
    let rows = [
        ("containers: [{image: 'acme/web:{{ .tag }}'}]", "line 1: the file holds template actions"),
        ("containers:\n- image: acme/web:{{ .tag }}", "line 2: the file holds template actions"),
        ("containers: [{image: 'acme/web:{{ .tag }}'}, {image: acme/web:1}]", "acme/web:1"),
        ("containers: [{image: 'acme/job:{{ .tag }}'}]\nx: acme/web", ""),
        ("x: 'acme/web:{{ .tag }}'", ""),
    ];
    for (text, expected) in rows {
        let said = match manifests::places(text, &"acme/web".parse().unwrap()) {
            Ok(places) => places.iter().map(|place| place.image.to_string()).collect(),
            Err(error) => error.to_string(),
        };
        assert!(said.starts_with(expected) && said.is_empty() == expected.is_empty(), "{said}");
    }
}

#[test]
fn a_missing_file_is_made_where_the_specification_makes_one() {
    let wish = |keys: Keys| [Wish { keys, image: "acme/web:1.2".parse().unwrap() }];
    #[rustfmt::skip]
    let rows = [
        (FileKind::HelmValues, helm("", "tag"), Some("# auto generated by argocd image updater\n\ntag: \"1.2\"\n")),
        (FileKind::HelmOverride, spec("ref"), Some("helm:\n  parameters:\n  - name: ref\n    value: acme/web:1.2\n    forcestring: true\n")),
        (FileKind::KustomizeOverride, kustomize("w"), Some("kustomize:\n  images:\n  - w=acme/web:1.2\n")),
        (FileKind::PluginOverride, plugin("NAME", "TAG"), Some("plugin:\n  env:\n  - name: NAME\n    value: acme/web\n  - name: TAG\n    value: \"1.2\"\n")),
        (FileKind::Kustomization, kustomize(""), None),
        (FileKind::Manifest, Keys::Manifest, None),
    ];
    for (kind, keys, made) in rows {
        let missing = EditError { problem: Problem::Missing, line: None };
        let expected = made.map(|text| Edited::Changed(text.to_owned())).ok_or(missing);
        assert_eq!(apply(kind, None, &wish(keys)), expected, "{kind:?}");
    }
}

#[test]
fn nothing_wished_is_nothing_changed() {
    let rows = [
        (FileKind::HelmValues, None),
        (FileKind::HelmValues, Some("a: 1\n")),
        (FileKind::Kustomization, Some("a: 1\n")),
        (FileKind::Manifest, Some("a: [\n")),
    ];
    for (kind, text) in rows {
        assert_eq!(apply(kind, text, &[]), Ok(Edited::Unchanged), "{kind:?} of {text:?}");
    }
    assert_eq!(
        apply_in_spec("spec: {source: {}}", 0, SourceRef::Single, &[]),
        Ok(Edited::Unchanged)
    );
}

/// The formatter of the standard library knows no width above 65,535.
#[test]
fn insertions_follow_an_indentation_of_any_width() {
    let indent = " ".repeat(70_000);
    let wish = |keys, image: &str| Wish { keys, image: image.parse().unwrap() };
    let rows = [
        (
            FileKind::HelmValues,
            format!("a:\n{indent}b: 1\n"),
            wish(Keys::Helm(HelmKeys::Spec("a.new.x".into())), "a/b:v2"),
            format!("a:\n{indent}b: 1\n{indent}new:\n"),
        ),
        (
            FileKind::Kustomization,
            format!("images:\n{indent}- name: x\n"),
            wish(kustomize(""), "a/b:v2"),
            format!("images:\n{indent}- name: x\n{indent}- name: a/b\n"),
        ),
    ];
    for (kind, text, wish, expected) in rows {
        let wishes = [wish];
        let Ok(Edited::Changed(new)) = apply(kind, Some(&text), &wishes) else {
            panic!("{kind:?} is not changed")
        };
        assert!(new.starts_with(&expected), "{kind:?}");
        assert_eq!(apply(kind, Some(&new), &wishes), Ok(Edited::Unchanged), "{kind:?}");
    }
}

/// Two keys that mean one place would lose one of two values without a word.
#[test]
fn keys_that_overlap_are_refused_by_name() {
    let (a, b) = ("acme/a:v1", "acme/b:v2");
    let indexed = "images: [{tag: v0}, {tag: v0}]\n";
    #[rustfmt::skip]
    let rows = [
        // what the file says, two keys and their images, the keys that are named
        ("x: 1\n",                 spec("image"),            a, spec("image.tag"),       b, "'image' and 'image.tag'"),
        ("x: 1\n",                 spec("image.tag"),        a, spec("image"),           b, "'image.tag' and 'image'"),
        ("",                       spec("image.tag.deep"),   a, spec("image.tag"),       b, "'image.tag.deep' and 'image.tag'"),
        ("ima: {}\n",              spec("ima.ges"),          a, spec("ima.ges.x"),       b, "'ima.ges' and 'ima.ges.x'"),
        ("a: &x {tag: v0}\nb: *x\n", helm("", "a.tag"),      a, helm("", "b.tag"),       b, "'a.tag' and 'b.tag'"),
        (indexed,                  helm("", "images[1].tag"), a, helm("", "images.1.tag"), b, "'images[1].tag' and 'images.1.tag'"),
        (indexed,                  helm("", "images[1].tag"), a, helm("", "images.1.tag"), "acme/c:v1", ""),
        (indexed,                  helm("", "images[0].tag"), a, helm("", "images.1.tag"), b, ""),
        ("images: [{x: 1}]\n",     helm("", "images.0.tag"), a, helm("", "images[0].tag"), b, "'images.0.tag' and 'images[0].tag'"),
        ("images: [{x: 1}]\n",     helm("", "images.0.tag"), a, helm("", "images[0].tag"), "acme/c:v1", ""),
        ("x: 1\n",                 spec("ima"),              a, spec("images.x"),        b, ""),
        ("x: 1\n",                 spec("a.image"),          a, spec("b.image.tag"),     b, ""),
        ("",                       helm("image.name", "image.tag"), a, spec("image.ref"), b, ""),
    ];
    for (text, one, first, other, second, named) in rows {
        let wish =
            |keys: &Keys, image: &str| Wish { keys: keys.clone(), image: image.parse().unwrap() };
        let wishes = [wish(&one, first), wish(&other, second)];
        let edited = apply(FileKind::HelmValues, Some(text), &wishes);
        if named.is_empty() {
            let Ok(Edited::Changed(new)) = edited else { panic!("{one:?} {other:?}: {edited:?}") };
            assert_eq!(apply(FileKind::HelmValues, Some(&new), &wishes), Ok(Edited::Unchanged));
        } else {
            let error = edited.unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
            assert_eq!(error.reason(), "KeyContested");
        }
    }
}

/// A values file that holds short names gets a short name, unless that would name a host.
#[test]
fn a_registry_stays_where_the_rest_would_be_read_as_one() {
    #[rustfmt::skip]
    let rows = [
        ("docker.io/acme/web:2",    "image: acme/web:2\n"),
        ("docker.io/a.b/c:2",       "image: docker.io/a.b/c:2\n"),
        ("docker.io/localhost/c:2", "image: docker.io/localhost/c:2\n"),
        ("ghcr.io/a/b.c:2",         "image: a/b.c:2\n"),
    ];
    for (image, expected) in rows {
        let wishes = [Wish { keys: spec("image"), image: image.parse().unwrap() }];
        let edited = apply(FileKind::HelmValues, Some("image: web:1\n"), &wishes);
        assert_eq!(edited, Ok(Edited::Changed(expected.to_owned())), "{image}");
    }
}

/// A new file says what one that is there would come to say.
#[test]
fn two_wishes_for_one_entry_are_one_entry_of_a_new_file() {
    #[rustfmt::skip]
    let rows = [
        (kustomize("a"), "x:1",           kustomize("a"), "y:2",     "kustomize:\n  images:\n  - a=y:2\n"),
        (kustomize(""),  "docker.io/x:1", kustomize(""),  "x:2",     "kustomize:\n  images:\n  - x:2\n"),
        (kustomize("a"), "x:1",           kustomize("b"), "x:2",     "kustomize:\n  images:\n  - a=x:1\n  - b=x:2\n"),
    ];
    for (one, first, other, second, expected) in rows {
        let wish = |keys, image: &str| Wish { keys, image: image.parse().unwrap() };
        let wishes = [wish(one, first), wish(other, second)];
        let edited = apply(FileKind::KustomizeOverride, None, &wishes);
        assert_eq!(edited, Ok(Edited::Changed(expected.to_owned())));
        let again = apply(FileKind::KustomizeOverride, Some(expected), &wishes);
        assert_eq!(again, Ok(Edited::Unchanged));
    }
}

/// However many images are looked for in a file.
#[test]
fn a_file_is_parsed_once_for_all_images() {
    #[rustfmt::skip]
    let rows = [
        (FileKind::HelmValues, "a: {tag: v1}\nb: {tag: v1}\n", helm("", "a.tag")),
        (FileKind::Kustomization, "images: [{name: x/y, newTag: v1}]\n", kustomize("")),
        (FileKind::KustomizeOverride, "kustomize: {images: ['x/y:v1']}\n", kustomize("")),
    ];
    for (kind, text, keys) in rows {
        let before = yaml::PARSED.get();
        let reading = Reading::of(kind, text);
        assert_eq!(yaml::PARSED.get() - before, 0, "not before it is needed");
        for repository in ["x/y", "x/z", "x/y"] {
            reading.current(&keys, &repository.parse().unwrap()).unwrap();
        }
        assert_eq!(yaml::PARSED.get() - before, 1, "{kind:?}");
    }
    let broken = Reading::of(FileKind::HelmValues, "a: [\n");
    let error = || broken.current(&helm("", "a"), &"x/y".parse().unwrap()).unwrap_err();
    assert_eq!(error(), error());
}

/// Once to find the place, once as the guard; nothing to change needs no guard.
#[test]
fn an_edit_parses_the_text_twice_at_most() {
    let wish = |keys: Keys, image: &str| Wish { keys, image: image.parse().unwrap() };
    let both = || helm("image.name", "image.tag");
    #[rustfmt::skip]
    let rows = [
        (FileKind::HelmValues, "image: {name: a/b, tag: v1}\n", vec![wish(both(), "a/b:v2"), wish(spec("x"), "c:1")]),
        (FileKind::Kustomization, "images: []\n", vec![wish(kustomize(""), "a/b:v2"), wish(kustomize("n"), "c:1")]),
        (FileKind::HelmOverride, "helm: {}\n", vec![wish(both(), "a/b:v2")]),
        (FileKind::KustomizeOverride, "kustomize: {images: [a/b]}\n", vec![wish(kustomize(""), "a/b:v2")]),
        (FileKind::PluginOverride, "plugin: {env: []}\n", vec![wish(plugin("N", "T"), "a/b:v2")]),
        (FileKind::Manifest, "containers: [{image: a/b:v1}]\n", vec![wish(Keys::Manifest, "a/b:v2")]),
    ];
    let parsed = |kind, text: &str, wishes: &[Wish]| {
        let before = yaml::PARSED.get();
        let edited = apply(kind, Some(text), wishes).unwrap();
        (yaml::PARSED.get() - before, edited)
    };
    for (kind, text, wishes) in rows {
        let (twice, Edited::Changed(new)) = parsed(kind, text, &wishes) else {
            panic!("{kind:?} is not changed")
        };
        assert_eq!((twice, parsed(kind, &new, &wishes)), (2, (1, Edited::Unchanged)), "{kind:?}");
    }
}
