//! The client against a real server on the loopback interface, under a clock that only tests move.

mod answers;
mod limits;
mod retries;

use aiu_http::{Answer, Call, Http, HttpError, HttpSettings, Proxies, Rate};
use aiu_testkit::registry::Registry;

fn settings() -> HttpSettings {
    HttpSettings { proxies: Proxies::Off, ..HttpSettings::default() }
}

fn http() -> Http {
    Http::new(settings())
}

/// `GET` without a limit of its own.
fn get(url: &str) -> Call {
    Call::get(url.parse().expect("a URL that a test wrote")).rate(Rate::Unlimited)
}

fn ping(registry: &Registry) -> Call {
    get(&format!("{}/v2/", registry.url()))
}

/// What a user would see of the outcome.
fn told(outcome: &Result<Answer, HttpError>, registry: &Registry) -> String {
    let text = match outcome {
        Ok(answer) => answer.status.as_u16().to_string(),
        Err(error) => error.to_string(),
    };
    text.replace(&registry.host(), "HOST")
}
