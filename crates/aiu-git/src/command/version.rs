//! Which `git` there is, and whether it is new enough.

use std::fmt;

/// The oldest release that is used: the first that signs by SSH keys. Older ones read and write,
/// but 2.30 was found not to end over a damaged mirror, and to fetch whole trees over HTTP.
pub(crate) const OLDEST: Release = Release(2, 34);

/// A release of git: major and minor number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(u32, u32);

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// The version in what `git version` says, if it is too old. What cannot be understood is
/// believed to be new.
pub(super) fn too_old(said: &str) -> Option<String> {
    let version = said.trim().strip_prefix("git version ")?.split(' ').next()?;
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return None };
    (Release(major, minor) < OLDEST).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::too_old;

    #[test]
    fn versions_below_the_oldest_are_named() {
        #[rustfmt::skip]
        let rows = [
            ("git version 2.39.5\n",                     None),
            ("git version 2.34.0",                       None),
            ("git version 2.33.1\n",                     Some("2.33.1")),
            ("git version 1.8.3.1\n",                    Some("1.8.3.1")),
            ("git version 2.20.1 (Apple Git-117)\n",     Some("2.20.1")),
            ("git version 3.0.0\n",                      None),
            ("git version 2.45.0.windows.1\n",           None),
            ("git version next\n",                       None),
            ("",                                         None),
        ];
        for (said, expected) in rows {
            assert_eq!(too_old(said).as_deref(), expected, "given {said:?}");
        }
    }
}
