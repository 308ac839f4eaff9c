//! Random questions, asked of ours and of the Go libraries that the original is made of.
//!
//! The vectors hold what somebody thought of; this looks for what nobody did. One file per subject:
//! how a question is made, how ours answers it, and on what the two differ on purpose. The other
//! side is the Go program in `e2e/oracle`. A difference that no table excuses fails the case.
//!
//! A run is repeated with its seed: `AIU_ORACLE_SEED`; `AIU_ORACLE_CASES` sets how many questions
//! each subject is asked.

mod glob;
mod go;
mod random;
mod regexp;
mod semver;
mod template;
mod vectors;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub(crate) use go::Oracle;
use random::Random;

const CASES: u64 = 100_000;

/// How many differences are shown; the questions that are shortest, since they say most.
const SHOWN: usize = 10;

/// How many questions may be under way: enough to keep both sides busy, and more than a buffer holds,
/// lest ours waits for the answer to a question that is still in it.
const UNDER_WAY: usize = 1024;

/// What is compared.
struct Subject<Question, Answer> {
    name: &'static str,
    ask: Box<dyn Fn(&mut Random) -> Question + Send>,
    answer: fn(&Question) -> Answer,
    /// Whether our answer, the first, says the same as theirs.
    agree: fn(&Question, &Answer, &Answer) -> bool,
    /// Why a difference is right, if it is: question, our answer, theirs.
    excuse: fn(&Question, &Answer, &Answer) -> Option<&'static str>,
}

pub(super) async fn semver(oracle: &Oracle) -> Result<()> {
    compare(oracle, semver::subject()?).await
}

pub(super) async fn glob(oracle: &Oracle) -> Result<()> {
    compare(oracle, glob::subject()?).await
}

pub(super) async fn regexp(oracle: &Oracle) -> Result<()> {
    compare(oracle, regexp::subject()?).await
}

pub(super) async fn template(oracle: &Oracle) -> Result<()> {
    compare(oracle, template::subject()?).await
}

/// Asks both, and says how often they differ.
async fn compare<Question, Answer>(
    oracle: &Oracle,
    subject: Subject<Question, Answer>,
) -> Result<()>
where
    Question: Serialize + Send + Sync + 'static,
    Answer: DeserializeOwned + Debug,
{
    let (seed, cases) = (number("AIU_ORACLE_SEED")?, number("AIU_ORACLE_CASES")?);
    let (seed, cases) = (seed.unwrap_or_else(seed_of_the_moment), cases.unwrap_or(CASES));
    let Subject { name, ask, answer, agree, excuse } = subject;
    let (mut conversation, mut questions) = oracle.talk(name)?;
    let (under_way, mut asked) = mpsc::channel(UNDER_WAY);
    // Dropped with this future, and the task with it.
    let mut asking = JoinSet::new();
    asking.spawn(async move {
        let mut random = Random::new(seed);
        for _ in 0..cases {
            let question = ask(&mut random);
            questions.put(&question).await?;
            if under_way.send(question).await.is_err() {
                break;
            }
        }
        questions.end().await
    });

    let mut found = Found::default();
    while let Some(question) = asked.recv().await {
        let theirs = conversation.answer().await?;
        let ours = answer(&question);
        if !agree(&question, &ours, &theirs) {
            found.difference(&question, &ours, &theirs, excuse(&question, &ours, &theirs))?;
        }
        found.cases += 1;
    }
    while let Some(ended) = asking.join_next().await {
        ended.context("the task that asks broke off")??;
    }
    found.report(name, seed)
}

/// What the comparison came to.
#[derive(Default)]
struct Found {
    cases: u64,
    excused: BTreeMap<&'static str, u64>,
    differences: Vec<String>,
}

impl Found {
    fn difference(
        &mut self,
        question: &impl Serialize,
        ours: &impl Debug,
        theirs: &impl Debug,
        excuse: Option<&'static str>,
    ) -> Result<()> {
        if let Some(reason) = excuse {
            *self.excused.entry(reason).or_default() += 1;
        } else {
            let question = serde_json::to_string(question)?;
            self.differences.push(format!("{question}\n  ours:   {ours:?}\n  theirs: {theirs:?}"));
        }
        Ok(())
    }

    fn report(mut self, name: &str, seed: u64) -> Result<()> {
        let (cases, count) = (self.cases, self.differences.len());
        println!("{name}: {cases} cases, {count} differences (seed {seed})");
        for (reason, count) in &self.excused {
            println!("  {count} listed: {reason}");
        }
        self.differences.sort_by_key(String::len);
        self.differences.truncate(SHOWN);
        let shown = self.differences.join("\n");
        ensure!(count == 0, "{count} of {cases} answers differ (seed {seed}):\n{shown}");
        Ok(())
    }
}

/// The texts that only one of two answers calls matches.
fn differing<'t>(
    texts: &'t [String],
    ours: &'t [bool],
    theirs: &'t [bool],
) -> impl Iterator<Item = &'t String> {
    let both = ours.iter().zip(theirs);
    texts.iter().zip(both).filter(|(_, (ours, theirs))| ours != theirs).map(|(text, _)| text)
}

/// A number from the environment, `None` where it is not set.
fn number(variable: &str) -> Result<Option<u64>> {
    let Some(text) = std::env::var_os(variable) else { return Ok(None) };
    let text = text.to_string_lossy();
    let number = text.parse().with_context(|| format!("{variable} is '{text}', not a number"))?;
    Ok(Some(number))
}

/// Another one for every run: it is the new questions that find something.
fn seed_of_the_moment() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_secs()
}
