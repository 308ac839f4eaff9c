use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use aiu_web::{Address, Check, Limits, Transport, bind, probes, serve};
use tokio_util::sync::CancellationToken;

use crate::client::get;

/// Without a host a server is reached by IPv4, and by IPv6 where the machine has it.
#[tokio::test]
async fn without_a_host_both_families_are_served() {
    let bound = bind(&Address::any(0)).await.unwrap();
    let port = bound.address().port();
    let routes = probes(vec![Check::new("healthz", || Ok(()))], vec![]);
    let stop = CancellationToken::new();
    tokio::spawn(serve(bound, routes, Transport::Plain, Limits::default(), stop));
    let mut hosts = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
    let interfaces = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    if interfaces.contains("00000000000000000000000000000001") {
        hosts.push(IpAddr::V6(Ipv6Addr::LOCALHOST));
    }
    for host in hosts {
        let (status, _) = get(SocketAddr::new(host, port), "/healthz").await;
        assert_eq!(status, 200, "{host}");
    }
}

#[tokio::test]
async fn a_host_by_name_is_looked_up() {
    let bound = bind(&"localhost:0".parse().unwrap()).await.unwrap();
    assert!(bound.address().ip().is_loopback());
}

#[tokio::test]
async fn a_taken_port_is_told_in_one_sentence() {
    let first = bind(&"127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = first.address().to_string();
    let error = bind(&address.parse().unwrap()).await.unwrap_err();
    assert_eq!(
        (error.reason(), error.to_string()),
        (
            "PortTaken",
            format!(
                "cannot listen at {address}: another process has the port; stop it, or choose another port"
            )
        )
    );
    let everywhere = Address::any(first.address().port());
    assert_eq!(bind(&everywhere).await.unwrap_err().reason(), "PortTaken");
    let error = bind(&"no-such-host.invalid:80".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.reason(), "PortUnusable", "{error}");
}
