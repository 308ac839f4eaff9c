//! The names of ECR's hosts: which account and region a registry is of, and where its API is.

/// A registry of Amazon's, by the name of its host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EcrHost {
    /// The registry of an account in a region.
    Private {
        /// Twelve digits.
        account: String,
        /// Such as `eu-north-1`.
        region: String,
        /// What the names of the partition's hosts end with, such as `amazonaws.com`.
        suffix: String,
        /// Whether it promises validated cryptography.
        fips: bool,
        /// Whether its names are those with IPv6 addresses.
        dual_stack: bool,
    },
    /// `public.ecr.aws`.
    Public,
}

impl EcrHost {
    /// Reads the name of a host, without port.
    pub fn of(host: &str) -> Option<Self> {
        let host = host.to_ascii_lowercase();
        if matches!(&*host, "public.ecr.aws" | "ecr-public.aws.com") {
            return Some(Self::Public);
        }
        let (account, rest) = host.split_once('.')?;
        if account.len() != 12 || !account.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let services = [
            ("dkr.ecr.", false, false),
            ("dkr.ecr-fips.", true, false),
            ("dkr-ecr.", false, true),
            ("dkr-ecr-fips.", true, true),
        ];
        let (rest, fips, dual_stack) = services
            .into_iter()
            .find_map(|(service, fips, dual)| Some((rest.strip_prefix(service)?, fips, dual)))?;
        let (region, suffix) = rest.split_once('.')?;
        let is_region = region.split('-').count() >= 3 && suffix.contains('.');
        is_region.then(|| Self::Private {
            account: account.to_owned(),
            region: region.to_owned(),
            suffix: suffix.to_owned(),
            fips,
            dual_stack,
        })
    }

    /// The host that gives tokens for it and describes its images.
    pub fn api_host(&self) -> String {
        match self {
            Self::Public => "api.ecr-public.us-east-1.amazonaws.com".to_owned(),
            Self::Private { region, suffix, fips, dual_stack, .. } => {
                let service = if *fips { "ecr-fips" } else { "ecr" };
                if *dual_stack {
                    let suffix = suffix.strip_prefix("on.").unwrap_or(suffix);
                    format!("{service}.{region}.api.{suffix}")
                } else {
                    format!("api.{service}.{region}.{suffix}")
                }
            }
        }
    }

    /// The region that its API is asked in.
    pub fn region(&self) -> &str {
        match self {
            Self::Private { region, .. } => region,
            Self::Public => "us-east-1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_tell_region_and_api() {
        let public = "us-east-1 api.ecr-public.us-east-1.amazonaws.com";
        #[rustfmt::skip]
        let rows = [
            ("000011112222.dkr.ecr.eu-north-1.amazonaws.com",         "eu-north-1 api.ecr.eu-north-1.amazonaws.com"),
            ("000011112222.DKR.ECR.eu-north-1.amazonaws.com",         "eu-north-1 api.ecr.eu-north-1.amazonaws.com"),
            ("000011112222.dkr.ecr.cn-north-1.amazonaws.com.cn",      "cn-north-1 api.ecr.cn-north-1.amazonaws.com.cn"),
            ("000011112222.dkr.ecr.us-gov-west-1.amazonaws.com",      "us-gov-west-1 api.ecr.us-gov-west-1.amazonaws.com"),
            ("000011112222.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1 api.ecr-fips.us-gov-west-1.amazonaws.com"),
            ("000011112222.dkr-ecr.eu-west-1.on.aws",                 "eu-west-1 ecr.eu-west-1.api.aws"),
            ("000011112222.dkr-ecr-fips.us-east-1.on.aws",            "us-east-1 ecr-fips.us-east-1.api.aws"),
            ("000011112222.dkr-ecr.cn-north-1.on.amazonwebservices.com.cn", "cn-north-1 ecr.cn-north-1.api.amazonwebservices.com.cn"),
            ("public.ecr.aws",                                        public),
            ("ecr-public.aws.com",                                    public),
            // The management API, and hosts that only look alike.
            ("api.ecr.eu-north-1.amazonaws.com",                      "-"),
            ("00001111222.dkr.ecr.eu-north-1.amazonaws.com",          "-"),
            ("000011112222.dkr.ecr.amazonaws.com",                    "-"),
            ("000011112222.dkr.ecr.eu-north-1",                       "-"),
            ("acme.azurecr.io",                                       "-"),
        ];
        for (host, expected) in rows {
            let told = EcrHost::of(host)
                .map_or("-".to_owned(), |ecr| format!("{} {}", ecr.region(), ecr.api_host()));
            assert_eq!(told, expected, "{host}");
        }
    }
}
