//! Properties of random constraints: canonical form, merging and order.

use proptest::prelude::*;

use super::*;

/// Generates texts that both parsers accept.
fn spelled() -> impl Strategy<Value = String> {
    let piece = "(|=|= |!=|> |>= |<|<= |~>|~> )(0|[1-9]|01|10)(\\.[0-3]){0,2}(-[a-c0-9]{1,2}(\\.[a0-9]{1,2}){0,2})?(\\+[a0-9]{1,2})?";
    proptest::collection::vec(piece, 1..5).prop_map(|pieces| pieces.join(" , "))
}

fn constraint() -> impl Strategy<Value = Constraint> {
    spelled().prop_map(|text| constraints(&text).iter().next().expect("not empty").clone())
}

proptest! {
    #[test]
    fn the_canonical_form_is_a_fixed_point(text in spelled()) {
        let parsed = VersionConstraints::parse(&text).unwrap();
        let canonical = parsed.to_string();
        prop_assert_eq!(&VersionConstraints::parse(&canonical).unwrap(), &parsed);
        prop_assert_eq!(&VersionConstraints::parse_canonical(&canonical).unwrap(), &parsed);
        prop_assert_eq!(VersionConstraints::parse(&canonical).unwrap().to_string(), canonical);
    }

    #[test]
    fn merging_is_joining_with_commas(one in spelled(), two in spelled()) {
        let mut merged = constraints(&one);
        merged.merge(&constraints(&two));
        prop_assert_eq!(merged, constraints(&format!("{two},{one}")));
    }

    #[test]
    fn the_order_of_constraints_is_total(a in constraint(), b in constraint(), c in constraint()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }

    #[test]
    fn the_parsers_never_panic(text in "[ \t\n=!<>~^|,v0-9a-c.+*é\u{a0}-]{0,24}") {
        for parse in [VersionConstraints::parse, VersionConstraints::parse_canonical] {
            if let Err(error) = parse(&text) {
                prop_assert!(text.get(error.span.start..error.span.end).is_some(), "{:?}", error.span);
            }
        }
    }
}
