//! What a person should know about a choice: why nothing won, or what makes the choice unwise.
//!
//! Causes come before their consequences, so the first finding of a failed choice is the one
//! to act on (spec 00 §0.2 and §6).

use super::shape::expression_like;
use super::{Current, Decision, HoldReason, NoCandidate, Verdict};
use crate::image::{ConfiguredImage, Tag, TagRef};
use crate::policy::{AllowTags, IgnorePattern, Reason, SemverRange, UpdatePolicy, UpdateStrategy};
use crate::report::{Finding, Severity};
use crate::version::{Version, VersionConstraint};

#[cfg(test)]
mod tests;

/// All there is to say about one decision. Rejected tags are told of only where no tag won;
/// otherwise they are in the explanation.
pub fn findings(
    decision: &Decision,
    policy: &UpdatePolicy,
    image: &ConfiguredImage,
    current: Option<&Current>,
) -> Vec<Finding> {
    let asked = Asked { decision, policy, image, current };
    let mut findings = policy.filter.findings(decision.shortlist.tags());
    findings.extend(asked.constraint_unused());
    findings.extend(asked.constraint_invalid());
    match &decision.verdict {
        Verdict::NoCandidate(NoCandidate::NoTags) => findings.push(asked.no_tags()),
        Verdict::NoCandidate(_) => {
            findings.extend(asked.mutable_tag());
            findings.extend(asked.rejections());
        }
        Verdict::Held(HoldReason::WouldDowngrade { current, best }) => {
            findings.push(would_downgrade(current, best));
        }
        // Who found that out tells of it.
        Verdict::Held(HoldReason::Reverted { .. }) => {}
        Verdict::UpdateTo(_) | Verdict::UpToDate => findings.extend(asked.no_allow_tags()),
    }
    findings.extend(asked.constraint_from_tag());
    findings
}

/// What is being judged.
struct Asked<'a> {
    decision: &'a Decision,
    policy: &'a UpdatePolicy,
    image: &'a ConfiguredImage,
    current: Option<&'a Current>,
}

impl<'a> Asked<'a> {
    fn range(&self) -> Option<&'a SemverRange> {
        match &self.policy.strategy {
            UpdateStrategy::Semver(range) => Some(range),
            _ => None,
        }
    }

    /// The tags that were rejected for `reason`.
    fn rejected_for(&self, reason: Reason) -> impl Iterator<Item = &'a Tag> + Clone {
        let rejected = self.decision.shortlist.rejected.iter();
        rejected.filter(move |rejection| rejection.reason == reason).map(|rejection| &rejection.tag)
    }

    /// The tag that is there now, if it has a name.
    fn current_tag(&self) -> Option<&'a Tag> {
        self.current?.reference.as_ref()?.tag.as_ref().and_then(TagRef::name)
    }

    fn constraint_invalid(&self) -> Option<Finding> {
        let range = self.range()?;
        let fault = range.fault()?;
        let repository = &self.image.repository;
        Some(Finding {
            severity: Severity::Error,
            reason: fault.reason(),
            found: format!("invalid constraint '{range}' given: '{fault}'"),
            fix: format!(
                "write '{repository}' for any version, a range such as '{repository}:1.x', or \
                 updateStrategy: digest to follow the tag '{range}'"
            ),
        })
    }

    /// A range or a pattern that the strategy does not look at was meant to keep tags out. One
    /// tag is mostly left over from before, so that is a note.
    fn constraint_unused(&self) -> Option<Finding> {
        let constraint = self.image.constraint.as_deref().filter(|text| !text.is_empty())?;
        let strategy = &self.policy.strategy;
        let severity = match strategy {
            UpdateStrategy::Semver(_) | UpdateStrategy::Digest(_) => return None,
            _ if constraint.parse::<Tag>().is_ok() => Severity::Note,
            _ => Severity::Warning,
        };
        let (strategy, repository) = (strategy.name(), &self.image.repository);
        Some(Finding {
            severity,
            reason: "ConstraintUnused",
            found: format!("{strategy} does not look at '{constraint}' behind the name"),
            fix: format!("write '{repository}', and say by allowTags which tags take part"),
        })
    }

    fn no_tags(&self) -> Finding {
        Finding {
            severity: Severity::Note,
            reason: "NoTags",
            found: format!("the registry lists no tags for '{}'", self.image.repository),
            fix: "push an image, or correct the name".to_owned(),
        }
    }

    /// Names without a number are pushed again and again; no version strategy can tell the
    /// pushes apart.
    fn mutable_tag(&self) -> Option<Finding> {
        self.range()?;
        let words = self.rejected_for(Reason::NotSemver);
        let is_word = |tag: &Tag| !tag.as_str().bytes().any(|b| b.is_ascii_digit());
        let followed = words
            .clone()
            .find(|tag| Some(*tag) == self.current_tag())
            .or_else(|| words.clone().find(|tag| tag.as_str() == "latest"))
            .or_else(|| words.clone().next())?;
        let furthest = Verdict::NoCandidate(NoCandidate::AllRejected(Reason::NotSemver));
        (self.decision.verdict == furthest && words.clone().all(is_word)).then(|| Finding {
            severity: Severity::Warning,
            reason: "MutableTag",
            found: format!("no versions, only names that get pushed again: {}", samples(words)),
            fix: format!(
                "follow one of them: updateStrategy: digest with imageName: {}:{followed}",
                self.image.repository
            ),
        })
    }

    /// One finding for each way in which tags lost, those that came furthest first.
    fn rejections(&self) -> Vec<Finding> {
        let rejected = self.decision.shortlist.rejected.iter();
        let mut reasons: Vec<Reason> = rejected.map(|rejection| rejection.reason).collect();
        reasons.sort_unstable();
        reasons.dedup();
        // A constraint that cannot be read has its own finding.
        reasons.retain(|reason| *reason != Reason::ConstraintInvalid);
        reasons.into_iter().rev().map(|reason| self.rejection(reason)).collect()
    }

    fn rejection(&self, reason: Reason) -> Finding {
        let tags = self.rejected_for(reason);
        let count = tags.clone().count();
        let listed = self.decision.shortlist.len();
        let detail = self.detail(reason).map(|detail| format!(" ({detail})")).unwrap_or_default();
        Finding {
            severity: Severity::Note,
            reason: reason.word(),
            found: format!(
                "{count} of {listed} tags: each {}{detail}; {}",
                reason.sentence(),
                samples(tags)
            ),
            fix: self.remedy(reason),
        }
    }

    /// The value that rejected tags for `reason`.
    fn detail(&self, reason: Reason) -> Option<String> {
        let filter = &self.policy.filter;
        match reason {
            Reason::NotAllowed => match filter.allow() {
                AllowTags::Matching(expression) => Some(format!("regexp:{}", expression.as_str())),
                AllowTags::Broken(_) => Some("which is broken".to_owned()),
                AllowTags::Any => None,
            },
            Reason::Ignored => {
                let patterns = filter.ignore().iter().filter(|pattern| {
                    self.rejected_for(reason).any(|tag| pattern.ignores(tag.as_str()))
                });
                Some(patterns.map(IgnorePattern::as_str).collect::<Vec<_>>().join(", "))
            }
            Reason::OutsideConstraint | Reason::PreRelease => self.range().map(ToString::to_string),
            Reason::NotTheTag => self.image.constraint.as_deref().map(str::to_owned),
            Reason::WrongPlatform => {
                let wanted: Vec<_> =
                    self.policy.platforms.iter().map(ToString::to_string).collect();
                Some(wanted.join(", ")).filter(|wanted| !wanted.is_empty())
            }
            Reason::NotSemver
            | Reason::ConstraintInvalid
            | Reason::NoManifest
            | Reason::NoBuildDate => None,
        }
    }

    /// What helps against `reason`.
    fn remedy(&self, reason: Reason) -> String {
        let repository = &self.image.repository;
        let sample = self.rejected_for(reason).next();
        let like_sample = sample.map(|tag| expression_like(tag.as_str())).unwrap_or_default();
        match reason {
            Reason::NotAllowed => format!("widen it, as in allowTags: 'regexp:{like_sample}'"),
            Reason::Ignored => "remove the pattern from ignoreTags, or narrow it".to_owned(),
            Reason::NotTheTag => format!(
                "name a tag that is listed, as in imageName: {repository}:{}",
                sample.map(Tag::as_str).unwrap_or_default()
            ),
            Reason::NotSemver => format!(
                "order these tags by age: updateStrategy: newest-build with \
                 allowTags: 'regexp:{like_sample}'"
            ),
            Reason::OutsideConstraint => format!(
                "widen the range, as in imageName: {repository} for any version{}",
                self.range_of_major(self.rejected_for(reason))
            ),
            Reason::PreRelease => {
                format!("name a pre-release in the range, as in imageName: {repository}:*-0")
            }
            Reason::WrongPlatform => {
                "build the image for these platforms, or set 'platforms' to what it is built for"
                    .to_owned()
            }
            Reason::NoManifest => "delete these tags, or leave them out by ignoreTags".to_owned(),
            Reason::NoBuildDate => {
                "let the build set 'created' in the image's configuration, or use another strategy"
                    .to_owned()
            }
            Reason::ConstraintInvalid => "correct the constraint".to_owned(),
        }
    }

    /// ` or REPOSITORY:MAJOR.x`, for the highest version among `tags`.
    fn range_of_major(&self, tags: impl Iterator<Item = &'a Tag>) -> String {
        let highest = tags.filter_map(Version::of).max();
        let range = highest.map(|v| format!(" or {}:{}.x", self.image.repository, v.major()));
        range.unwrap_or_default()
    }

    /// One version in full is mostly a tag pasted where a range was meant.
    fn constraint_from_tag(&self) -> Option<Finding> {
        let SemverRange::Within(constraint) = self.range()? else { return None };
        if !constraint.is_exact() {
            return None;
        }
        let pinned = Version::parse(constraint.as_str().trim_matches(['=', ' ']))?;
        let admitted_by_all = VersionConstraint::any();
        self.rejected_for(Reason::OutsideConstraint)
            .filter_map(Version::of)
            .find(|version| *version > pinned && admitted_by_all.admits(version))?;
        let list = &self.decision.shortlist;
        let repository = &self.image.repository;
        Some(Finding {
            severity: Severity::Warning,
            reason: "ConstraintFromTag",
            found: format!(
                "'{constraint}' admits {} of {} tags, and newer ones exist",
                list.candidates.len(),
                list.len()
            ),
            fix: format!(
                "write '{repository}' for any version, or '{repository}:{}.x'",
                pinned.major()
            ),
        })
    }

    /// Strategies that take every tag deploy whatever is pushed.
    fn no_allow_tags(&self) -> Option<Finding> {
        let takes_all = match &self.policy.strategy {
            UpdateStrategy::NewestBuild(_) | UpdateStrategy::Alphabetical => true,
            UpdateStrategy::Semver(_) | UpdateStrategy::Digest(_) => false,
        };
        if !takes_all || !self.policy.filter.admits_all() {
            return None;
        }
        let wanted = self.current_tag().or(self.decision.chosen.as_ref())?;
        let candidates = self.decision.shortlist.candidates.iter();
        Some(Finding {
            severity: Severity::Note,
            reason: "NoAllowTags",
            found: format!(
                "every tag can win, whoever pushed it: {}",
                samples(candidates.map(|candidate| &candidate.tag))
            ),
            fix: format!(
                "keep to tags like '{wanted}', as in allowTags: 'regexp:{}'",
                expression_like(wanted.as_str())
            ),
        })
    }
}

fn would_downgrade(current: &Tag, best: &Tag) -> Finding {
    Finding {
        severity: Severity::Warning,
        reason: "WouldDowngrade",
        found: format!(
            "'{current}' is no longer listed, and the best tag that is, '{best}', is lower"
        ),
        fix: format!(
            "push '{current}' again, narrow the constraint so that it leaves '{current}' out, or \
             start with --allow-downgrade"
        ),
    }
}

/// Two of several tags, and how many more there are.
fn samples<'a>(mut tags: impl Iterator<Item = &'a Tag>) -> String {
    let two: Vec<_> = tags.by_ref().take(2).map(Tag::as_str).collect();
    match tags.count() {
        0 => two.join(", "),
        more => format!("{} and {more} more", two.join(", ")),
    }
}
