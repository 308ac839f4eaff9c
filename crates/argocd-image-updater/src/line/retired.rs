//! What the 0.x line had: flags, which are refused with their successor, and keys, which are
//! named and ignored (spec 22 §1, §10).

/// Flags and what replaced them; `N` stands for the value.
#[rustfmt::skip]
pub const FLAGS: [(&str, &str); 12] = [
    ("health-port", "use --health-probe-bind-address :N"),
    ("metrics-port", "use --metrics-bind-address :N"),
    ("max-concurrency", "use --max-concurrent-apps N"),
    ("match-application-name", "name Applications in an ImageUpdater, by spec.applicationRefs[].namePattern"),
    ("match-application-label", "name Applications in an ImageUpdater, by spec.applicationRefs[].labelSelectors"),
    ("applications-api", ONLY_KUBERNETES),
    ("argocd-server-addr", ONLY_KUBERNETES),
    ("argocd-auth-token", ONLY_KUBERNETES),
    ("argocd-grpc-web", ONLY_KUBERNETES),
    ("argocd-insecure", ONLY_KUBERNETES),
    ("argocd-plaintext", ONLY_KUBERNETES),
    ("disable-kubernetes", "leave it out; for work without a cluster, use run --once --manifests DIR"),
];

const ONLY_KUBERNETES: &str = "leave it out: only the Kubernetes API is used";

/// Keys of the ConfigMap and the Secret, and their variables.
#[rustfmt::skip]
pub const KEYS: [(&str, &str); 6] = [
    ("applications_api", "APPLICATIONS_API"),
    ("argocd.grpc_web", "ARGOCD_GRPC_WEB"),
    ("argocd.server_addr", "ARGOCD_SERVER"),
    ("argocd.insecure", "ARGOCD_INSECURE"),
    ("argocd.plaintext", "ARGOCD_PLAINTEXT"),
    ("argocd.token", "ARGOCD_TOKEN"),
];

/// The sentence for a word that is a flag of the 0.x line. Never shows what may be a secret.
pub fn flag(word: &str, next: Option<&str>) -> Option<String> {
    let word = word.strip_prefix("--")?;
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, next),
    };
    let (_, remedy) = FLAGS.iter().find(|(flag, _)| *flag == name)?;
    let number = value.filter(|value| value.parse::<u32>().is_ok()).unwrap_or("N");
    let remedy = match remedy.strip_suffix('N') {
        Some(start) => format!("{start}{number}"),
        None => (*remedy).to_owned(),
    };
    Some(format!("unknown flag: --{name} (0.x); {remedy}"))
}

/// The sentence for keys or variables of the 0.x line that are set.
pub fn keys(is_key: impl Fn(&str) -> bool, is_variable: impl Fn(&str) -> bool) -> Option<String> {
    let set =
        KEYS.iter().filter_map(|(key, variable)| match (is_key(key), is_variable(variable)) {
            (true, _) => Some(*key),
            (_, true) => Some(*variable),
            _ => None,
        });
    let set: Vec<&str> = set.collect();
    (!set.is_empty()).then(|| {
        format!(
            "{}: of the 0.x line and without effect, since only the Kubernetes API is used; remove what sets it",
            set.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec 22 §1, "Flags of the 0.x line".
    #[test]
    fn flags_of_the_0_x_line_name_their_successor() {
        #[rustfmt::skip]
        let rows = [
            ("--health-port", Some("8080"), "unknown flag: --health-port (0.x); use --health-probe-bind-address :8080"),
            ("--metrics-port=8081", None, "unknown flag: --metrics-port (0.x); use --metrics-bind-address :8081"),
            ("--metrics-port", Some("run"), "unknown flag: --metrics-port (0.x); use --metrics-bind-address :N"),
            ("--max-concurrency", Some("5"), "unknown flag: --max-concurrency (0.x); use --max-concurrent-apps 5"),
            ("--argocd-auth-token=s3cret", None, "unknown flag: --argocd-auth-token (0.x); leave it out: only the Kubernetes API is used"),
        ];
        for (word, next, expected) in rows {
            assert_eq!(flag(word, next).as_deref(), Some(expected));
        }
        for (name, _) in FLAGS {
            assert!(flag(&format!("--{name}"), None).is_some(), "{name}");
        }
        assert_eq!(flag("--interval", Some("1m")), None);
        assert_eq!(flag("health-port", None), None);
    }

    /// Spec 22 §10.
    #[test]
    fn keys_of_the_0_x_line_are_named_once() {
        assert_eq!(keys(|_| false, |_| false), None);
        let told = keys(|key| key == "argocd.insecure", |name| name == "ARGOCD_TOKEN").unwrap();
        assert!(told.starts_with("argocd.insecure, ARGOCD_TOKEN: "), "{told}");
    }
}
