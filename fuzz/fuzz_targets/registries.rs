//! `REPOSITORY NUL REGISTRIES FILE`: a file is read or refused, and leads every image somewhere.

#![no_main]

use aiu_core::image::Repository;
use aiu_core::registries::Registries;
use fuzz::parts;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([repository, file]) = parts::<2>(data) else { return };
    let Ok(registries) = Registries::parse(file) else { return };
    let _ = (registries.default_registry(), registries.notices());
    if let Ok(repository) = repository.parse::<Repository>() {
        let endpoint = registries.endpoint_for(&repository);
        assert!(!endpoint.api_url.is_empty());
        let _ = endpoint.wire_path(&repository);
    }
});
