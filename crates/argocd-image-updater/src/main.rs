//! The program; everything else is in the library beside it.

fn main() -> std::process::ExitCode {
    argocd_image_updater::start()
}
