//! Parses checksum lists: every parsed hash must occur in the list.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tflock::package::Shasums;
use tflock::provider::{Digest, Hash};

fuzz_target!(|list: &[u8]| {
    let Ok(shasums) = Shasums::parse(list) else {
        return;
    };
    let own = Digest::new([7; 32]);
    let text = list.to_ascii_lowercase();
    let stands_there = |hash: &Hash| {
        let digits = hash.value().as_bytes();
        text.windows(digits.len()).any(|window| window == digits)
    };
    let hashes = shasums.zh_hashes(own);
    if shasums.is_readable() && !hashes.contains(&Hash::zh(own)) {
        assert!(hashes.iter().all(stands_there));
    }
    assert!(shasums.zip_hashes().iter().all(stands_there));
    for name in String::from_utf8_lossy(list).split_whitespace() {
        if let Ok(digest) = shasums.digest_of(name) {
            assert!(stands_there(&Hash::zh(digest)));
        }
    }
});
