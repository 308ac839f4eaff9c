//! The commands: their names, what they do, and what they take besides flags.

/// A command of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    Run,
    Webhook,
    Test,
    Plan,
    Explain,
    Template,
    Crd,
    Version,
    Completion,
    Gen,
}

/// A row of the table of commands.
pub struct VerbRow {
    pub verb: Verb,
    pub name: &'static str,
    pub about: &'static str,
    /// What stands behind the command, as in its usage; empty if nothing may.
    pub argument: &'static str,
    /// How many of these there may be.
    pub most: usize,
    /// What that is.
    pub argument_help: &'static str,
    /// Below the flags in its help.
    pub examples: &'static str,
    /// Left out of help and reference: for the build, or not built yet.
    pub is_hidden: bool,
}

const fn verb(verb: Verb, name: &'static str, about: &'static str) -> VerbRow {
    VerbRow {
        verb,
        name,
        about,
        argument: "",
        most: 0,
        argument_help: "",
        examples: "",
        is_hidden: false,
    }
}

impl VerbRow {
    const fn takes(mut self, argument: &'static str, help: &'static str) -> Self {
        self.argument = argument;
        self.argument_help = help;
        self.most = 1;
        self
    }

    const fn at_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    const fn examples(mut self, examples: &'static str) -> Self {
        self.examples = examples;
        self
    }

    const fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }
}

const TEST_EXAMPLES: &str = r"Examples:
  argocd-image-updater test nginx
  argocd-image-updater test nginx --semver-constraint 1.17.X
  argocd-image-updater test nginx --allow-tags 'regexp:^1\.19' --ignore-tags '*-alpine'
  argocd-image-updater test nginx --update-strategy newest-build --platforms linux/arm64
  argocd-image-updater test ghcr.io/acme/web:1.2.0 --check --credentials env:LOGIN";

/// All commands, in the order of the help.
#[rustfmt::skip]
pub const VERBS: &[VerbRow] = &[
    verb(Verb::Run, "run", "Check images and write what is new"),
    verb(Verb::Webhook, "webhook", "Receive push events of registries, and check images then").hidden(),
    verb(Verb::Test, "test", "Show to which tag an image would go, given a policy; --check compares it with the tag in IMAGE")
        .takes("IMAGE", "The image, such as nginx or ghcr.io/acme/web:1.2.0").at_most(usize::MAX).examples(TEST_EXAMPLES),
    verb(Verb::Plan, "plan", "Show what would be written, as a diff, and write nothing")
        .takes("NS/APP", "Only this Application, as NAMESPACE/NAME or NAME"),
    verb(Verb::Explain, "explain", "Show, for every image, which tag is chosen and why each other tag is not")
        .takes("NS/APP", "Only this Application, as NAMESPACE/NAME or NAME"),
    verb(Verb::Template, "template", "Render a template of commit messages with sample changes")
        .takes("PATH", "The template's file; the default message if there is none"),
    verb(Verb::Crd, "crd", "Print the definition of the ImageUpdater resource, for `kubectl apply -f -`"),
    verb(Verb::Version, "version", "Print the version"),
    verb(Verb::Completion, "completion", "Print a script that completes commands and flags in a shell")
        .takes("SHELL", "bash, zsh, fish or powershell"),
    verb(Verb::Gen, "gen", "Print a file of the repository that is made from the code, or write all that are stale")
        .takes("FILE", "command-line, crd or install; all writes them below the working folder").hidden(),
];

impl Verb {
    /// Its row.
    pub fn row(self) -> &'static VerbRow {
        VERBS.iter().find(|row| row.verb == self).expect("every command has a row")
    }
}
