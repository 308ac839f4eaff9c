//! Templates of commit messages and branch names, as Go's `text/template` fills them in.

mod grammar;
#[rustfmt::skip]
mod pieces;

use std::collections::BTreeMap;

use aiu_core::template::{
    BranchData, BranchImage, CommitData, CommitImage, InvalidBranch, RenderError, Template,
    branch_name,
};
use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::random::Random;
use super::{Subject, vectors};
use grammar::{Grammar, Root};

#[derive(Serialize)]
pub(super) struct Question {
    template: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<Commit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<Branch>,
}

#[derive(Serialize)]
struct Commit {
    app: String,
    changes: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    image: String,
    old: String,
    new: String,
    labels: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Branch {
    namespace: String,
    app: String,
    key: String,
    images: Vec<Image>,
}

#[derive(Serialize)]
struct Image {
    name: String,
    alias: String,
    old: String,
    new: String,
}

/// Its fields are told in `e2e/oracle/argocd/templates.go`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Answer {
    text: String,
    failure: String,
    broken: bool,
    /// What ours says about a failure.
    #[serde(skip)]
    why: String,
}

pub(super) fn subject() -> Result<Subject<Question, Answer>> {
    let templates = vectors::inputs("templates.json", &["template"])?;
    let ask = move |random: &mut Random| {
        let root = if random.percent(70) { Root::Commit } else { Root::Branch };
        let made = Grammar::template(random, root);
        let template = random.vary(made, &templates, pieces::ERRORS);
        match root {
            Root::Commit => Question { template, commit: Some(commit(random)), branch: None },
            Root::Branch => Question { template, commit: None, branch: Some(branch(random)) },
        }
    };
    Ok(Subject { name: "template", ask: Box::new(ask), answer, agree, excuse })
}

fn commit(random: &mut Random) -> Commit {
    let change = |random: &mut Random| Change {
        image: datum(random),
        old: datum(random),
        new: datum(random),
        labels: (0..random.below(3))
            .map(|_| (random.word(pieces::LABELS).to_owned(), datum(random)))
            .collect(),
    };
    let changes = (0..=random.below(3)).map(|_| change(random)).collect();
    Commit { app: datum(random), changes }
}

fn branch(random: &mut Random) -> Branch {
    let image = |random: &mut Random| Image {
        name: datum(random),
        alias: datum(random),
        old: datum(random),
        new: datum(random),
    };
    let images = (0..=random.below(3)).map(|_| image(random)).collect();
    Branch { namespace: datum(random), app: datum(random), key: datum(random), images }
}

fn datum(random: &mut Random) -> String {
    let mut text = random.word(pieces::DATA).to_owned();
    while random.percent(20) {
        text += random.word(pieces::DATA);
    }
    text
}

fn answer(question: &Question) -> Answer {
    let failed =
        |failure: &str, why| Answer { failure: failure.to_owned(), why, ..Answer::default() };
    let template = match Template::parse(&question.template) {
        Ok(template) => template,
        Err(error) => return failed("parse", error.problem),
    };
    match filled(question, &template) {
        Ok(text) => Answer { text, ..Answer::default() },
        Err(error) => failed("execute", error.problem),
    }
}

fn filled(question: &Question, template: &Template) -> Result<String, RenderError> {
    if let Some(Commit { app, changes }) = &question.commit {
        let changes = changes.iter().map(|Change { image, old, new, labels }| CommitImage {
            image,
            old_tag: old,
            new_tag: new,
            labels,
        });
        let message =
            template.commit_message(&CommitData { app_name: app, changes: changes.collect() });
        return message.failure.map_or(Ok(message.text), Err);
    }
    match question.branch.as_ref().map(|branch| branch_name(template, &data(branch))) {
        Some(Ok(name)) => Ok(name.text),
        Some(Err(InvalidBranch::Render { cause, .. })) => Err(cause),
        Some(Err(InvalidBranch::Empty { .. })) | None => Ok(String::new()),
    }
}

fn data(branch: &Branch) -> BranchData<'_> {
    let images = branch.images.iter().map(|Image { name, alias, old, new }| BranchImage {
        name,
        alias,
        old_tag: old,
        new_tag: new,
    });
    BranchData {
        images: images.collect(),
        app_namespace: &branch.namespace,
        app_name: &branch.app,
        target_key: &branch.key,
    }
}

/// A branch gets the name that git accepts, so theirs is asked for as a template of plain text.
fn agree(question: &Question, ours: &Answer, theirs: &Answer) -> bool {
    if ours.failure != theirs.failure || theirs.broken {
        return false;
    }
    let named = || {
        let quoted = serde_json::to_string(&theirs.text).ok()?;
        filled(question, &Template::parse(&["{{", &quoted, "}}"].concat()).ok()?).ok()
    };
    ours.text == theirs.text || (question.branch.is_some() && named().as_ref() == Some(&ours.text))
}

fn excuse(question: &Question, ours: &Answer, theirs: &Answer) -> Option<&'static str> {
    let says = |what: &str| ours.why.contains(what);
    if theirs.broken || says("is not valid UTF-8") || says("cuts a character") {
        Some("texts that are not UTF-8 are refused")
    } else if question.template.contains("%p") {
        Some("`%p`: nothing has an address")
    } else if ours.why.ends_with("i\"") || ours.why.ends_with("+\"") {
        Some("imaginary numbers are refused")
    } else if says("integer overflow") {
        Some("numbers above 63 bits are refused before anything is filled in")
    } else if says("illegal number syntax: \"0x")
        || ["%!x(float64", "%!X(float64", "%!b(float64"].iter().any(|bad| ours.text.contains(bad))
    {
        Some("fractions are decimal: not `0x1p4`, not `printf \"%x\" 1.5`")
    } else {
        None
    }
}
