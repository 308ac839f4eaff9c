# Three front doors. What is behind them: CONTRIBUTING.md.
.PHONY: demo test e2e e2e-argocd bench

demo:
	cargo build -q -p argocd-image-updater && cargo run -q -p aiu-testkit --bin aiu-demo

test:
	cargo xtask ci

bench:
	cargo build --release -p benches && target/release/times && target/release/bytes

e2e:
	cargo xtask e2e

e2e-argocd:
	cargo xtask e2e --argocd
