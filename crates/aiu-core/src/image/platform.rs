use std::fmt;
use std::str::FromStr;

/// An operating system and processor, as `os/arch[/variant]` (spec 10 §8.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    /// Operating system, such as `linux`.
    pub os: String,
    /// Processor, such as `arm64`.
    pub architecture: String,
    /// Variant of the processor, such as `v8`.
    pub variant: Option<String>,
}

/// A text that names no platform.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not parse platform identifier '{0}': invalid format")]
pub struct InvalidPlatform(pub String);

impl InvalidPlatform {
    /// A platform that nothing is built for, in place of the one that could not be read: what was
    /// asked for is not guessed (spec 10 §8.3).
    pub fn never(&self) -> Platform {
        Platform { os: self.0.clone(), architecture: String::new(), variant: None }
    }
}

impl Platform {
    /// Whether an image for this platform will do for someone who wants one of `wanted`; an
    /// empty list wants any (spec 10 §8.3).
    ///
    /// Wanting `linux/arm` takes every variant of it, wanting `linux/arm64/v8` takes no plain
    /// `linux/arm64`.
    pub fn is_wanted(&self, wanted: &[Self]) -> bool {
        wanted.is_empty()
            || wanted.iter().any(|wanted| {
                let variants_agree = wanted.variant.is_none() || wanted.variant == self.variant;
                wanted.os == self.os && wanted.architecture == self.architecture && variants_agree
            })
    }
}

impl FromStr for Platform {
    type Err = InvalidPlatform;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.trim().splitn(3, '/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(os), Some(architecture), variant) => Ok(Self {
                os: os.to_owned(),
                architecture: architecture.to_owned(),
                variant: variant.filter(|v| !v.is_empty()).map(str::to_owned),
            }),
            _ => Err(InvalidPlatform(text.to_owned())),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        match &self.variant {
            Some(variant) => write!(f, "/{variant}"),
            None => Ok(()),
        }
    }
}
