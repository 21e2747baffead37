//! Property tests: parsing rendered locks gives the same locks.

use proptest::prelude::*;

use super::*;

/// Generates random locks. Their hashes are in Unicode's composed form, as after parsing.
fn any_locks() -> impl Strategy<Value = Locks> {
    let row = (
        "(h\\.example/|bücher\\.example:80/)?[ab]{1,2}/[abé]{1,2}",
        "[0-2]\\.[0-2]\\.[0-2](-[ab.1]{1,3})?(\\+[ab]{1,2})?",
        proptest::collection::vec("(=|>=|~>|!=) [0-2](\\.[0-2]){0,2}", 0..3),
        proptest::collection::btree_set("[a-zA-Z][a-z0-9]:[a$%{}\"\\\\\n\r\té\u{200b}]{0,6}", 0..4),
    );
    proptest::collection::vec(row, 0..5).prop_map(|rows| {
        let providers = rows
            .into_iter()
            .map(|(source, version, constraints, hashes)| {
                let mut all = VersionConstraints::default();
                for text in constraints {
                    all.merge(&VersionConstraints::parse(&text).unwrap());
                }
                let lock = ProviderLock {
                    version: Version::parse(&version).unwrap(),
                    constraints: all,
                    hashes: hashes
                        .iter()
                        .map(|hash| Hash::parse(hash).unwrap())
                        .collect(),
                };
                (address(&source), lock)
            });
        Locks {
            providers: providers.collect(),
        }
    })
}

proptest! {
    #[test]
    fn rendered_locks_parse_to_the_same_locks(locks in any_locks()) {
        let text = locks.render(Engine::Terraform);
        let file = read(&text, Engine::Terraform).unwrap();
        prop_assert_eq!(&file.locks, &locks);
        prop_assert_eq!(file.locks.render(Engine::Terraform), text);
    }

    #[test]
    fn the_order_of_a_file_does_not_matter(locks in any_locks(), seed in any::<u64>()) {
        let text = locks.render(Engine::Tofu);
        let mut blocks: Vec<String> = text.split("\n\n").skip(1).map(|block| shuffle_hashes(block, seed)).collect();
        let count = blocks.len().max(1);
        blocks.rotate_left(usize::try_from(seed % count as u64).unwrap());
        blocks.reverse();
        let shuffled = read(blocks.join("\n"), Engine::Terraform).unwrap();
        prop_assert_eq!(shuffled.locks.render(Engine::Tofu), text);
    }

    #[test]
    fn the_parser_never_panics(text in "(provider|module|version|hashes|constraints|\"[a-z/.:]{0,9}\"|[ \n={}\\[\\],0-9]|[^a]){0,40}") {
        let _ = read(text, Engine::Tofu);
    }
}

/// Changes the order of the hashes in a block, and repeats one of them.
fn shuffle_hashes(block: &str, seed: u64) -> String {
    let Some((before, list)) = block.split_once("hashes = [\n") else {
        return block.to_owned();
    };
    let (hashes, after) = list.rsplit_once("  ]").unwrap();
    let mut lines: Vec<&str> = hashes.lines().collect();
    lines.push(lines[0]);
    let count = lines.len() as u64;
    lines.rotate_left(usize::try_from(seed % count).unwrap());
    format!("{before}hashes = [\n{}\n  ]{after}", lines.join("\n"))
}
