//! Any text as everything that names an image; what is printed is read back the same.

#![no_main]

use aiu_core::image::{
    ConfiguredImage, ImageReference, KustomizeImage, Platform, Tag, TagRef, split_long_form,
};
use fuzz::{is_taken_for_a_host, parts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some([text]) = parts::<1>(data) else { return };
    if let Ok(image) = text.parse::<ImageReference>()
        && !is_taken_for_a_host(&image.repository)
    {
        assert_eq!(image.to_string().parse(), Ok(image));
    }
    if let Ok(image) = text.parse::<ConfiguredImage>() {
        let _ = image.to_string().parse::<ConfiguredImage>();
        let _ = image.repository.irregularity();
    }
    if let Ok(tag) = text.parse::<TagRef>()
        && tag.name().is_some()
    {
        assert_eq!(tag.as_tag_value().parse(), Ok(tag));
    }
    if let Ok(tag) = text.parse::<Tag>() {
        assert_eq!(tag.as_str(), text);
    }
    if let Ok(platform) = text.parse::<Platform>()
        && !text.contains(char::is_whitespace)
    {
        assert_eq!(platform.to_string().parse(), Ok(platform));
    }
    let _ = KustomizeImage::read(text);
    assert!(KustomizeImage::is_same_entry(text, text) || text.contains('='));
    let _ = split_long_form(text);
});
