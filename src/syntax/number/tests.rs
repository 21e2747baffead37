//! The numbers are those that `terraform console` 1.15.9 and `tofu console` 1.12.6 print, and both reject the invalid ones. Only tflock
//! rejects infinite numbers and those beyond 1,000 digits.

use super::*;

fn number(text: &str) -> Number {
    Number::parse(text).expect(text)
}

fn text(number: Option<Number>) -> String {
    number.map_or_else(|| "none".to_owned(), |number| number.to_string())
}

#[test]
fn numbers_print_as_terraform_prints_them() {
    for (text, printed) in [
        ("1", "1"),
        ("1.0", "1"),
        ("1.10", "1.1"),
        ("007", "7"),
        ("0.05", "0.05"),
        ("1e3", "1000"),
        ("1.5e-2", "0.015"),
        ("0", "0"),
        ("-0", "-0"),
        ("-2.50", "-2.5"),
        (".5", "0.5"),
        ("1.", "1"),
        ("12345678901234567890", "12345678901234567890"),
        ("9.99e20", "999000000000000000000"),
        ("1e-7", "0.0000001"),
    ] {
        assert_eq!(number(text).to_string(), printed, "{text}");
    }
    let long = "1234567890".repeat(16);
    let rounded = long[..154].to_owned() + "600000";
    assert_eq!(number(&long).to_string(), rounded);
}

#[test]
fn invalid_numbers_are_rejected() {
    for text in [
        "",
        ".",
        "1.2.3",
        "1e",
        "x",
        "0x1",
        "--1",
        "1_000",
        "1e1001",
        "1e-1002",
        "1e999999999999",
        "1e-999999999999",
        "1e99999999999999999999",
    ] {
        assert_eq!(Number::parse(text), None, "{text}");
    }
}

#[test]
fn results_are_those_of_512_bit_numbers() {
    let (one, two, three, ten) = (number("1"), number("2"), number("3"), number("10"));
    let third = one.over(&three).unwrap();
    assert_eq!(text(third.times(&three)), "1");
    let sixes = "6".repeat(153);
    assert_eq!(text(two.over(&three)), format!("0.{sixes}7"));
    assert_eq!(text(number("0.1").plus(&number("0.2"))), "0.3");
    assert_eq!(text(number("7").over(&two)), "3.5");
    assert_eq!(text(number("-7").modulo(&three)), "-1");
    assert_eq!(text(number("5.5").modulo(&two)), "1.5");
    assert_eq!(text(number("5").modulo(&number("0"))), "5");
    assert_eq!(text(number("1.5").times(&number("-4"))), "-6");
    assert_eq!(text(one.over(&number("0"))), "none");
    assert_eq!(text(one.minus(&one)), "0");
    assert_eq!(text(number("-0").plus(&number("-0"))), "-0");
    assert_eq!(text(number("0").negate().times(&ten)), "-0");
    let power = "1".to_owned() + &"0".repeat(154) + "5" + &"0".repeat(845);
    assert_eq!(text(number("1e999").times(&ten)), power);
    assert_eq!(text(number("1e999").times(&number("1e999"))), "none");
    assert_eq!(text(number("1e-999").times(&number("1e-999"))), "none");
}

#[test]
fn whole_numbers_near_a_fraction() {
    for (value, floor, ceil) in [
        ("1.5", "1", "2"),
        ("-0.5", "-1", "0"),
        ("-1.5", "-2", "-1"),
        ("3", "3", "3"),
        ("-0", "0", "0"),
        (
            "1e40",
            &("1".to_owned() + &"0".repeat(40)),
            &("1".to_owned() + &"0".repeat(40)),
        ),
    ] {
        assert_eq!(text(number(value).floor()), floor, "{value}");
        assert_eq!(text(number(value).ceil()), ceil, "{value}");
    }
    assert_eq!(
        (number("3.0").to_integer(), number("3.5").to_integer()),
        (Some(3), None)
    );
    assert_eq!(number("-9223372036854775808").to_integer(), Some(i64::MIN));
    assert_eq!(number("9223372036854775808").to_integer(), None);
}

#[test]
fn precision_is_that_of_the_more_precise_operand() {
    let (word, double) = (Number::from(1), Number::from_f64(0.1).unwrap());
    assert_eq!(text(word.over(&Number::from(3))), "0.33333333333333333334");
    assert_eq!(double.to_string(), "0.1");
    assert_eq!(
        text(double.times(&double)),
        "0.0100000000000000011102230246251566"
    );
    assert_eq!(
        text(double.plus(&number("0"))),
        text(double.times(&number("1")))
    );
    assert_eq!(Number::from_f64(f64::INFINITY), None);
}

#[test]
fn order_and_equality() {
    for (smaller, greater) in [
        ("-1e40", "-2e-40"),
        ("-2", "-1"),
        ("-1", "0"),
        ("-0", "1e-40"),
        ("2e-40", "1e40"),
    ] {
        assert!(number(smaller) < number(greater), "{smaller} {greater}");
        assert_ne!(number(smaller), number(greater));
    }
    assert_eq!(number("-0"), number("0"));
    // Fractions that print the same are equal, whatever their precision.
    assert_eq!(Number::from_f64(0.1), Some(number("0.1")));
    assert_ne!(Number::from_f64(0.1), Some(number("-0.1")));
    assert_eq!(Number::from(3), number("3"));
}

#[test]
fn whole_numbers_in_other_bases() {
    for (digits, base, printed) in [
        ("ff", 16, "255"),
        ("-Zz", 36, "-1295"),
        ("+7", 8, "7"),
        (
            "123456789012345678901234567890",
            10,
            "123456789012345678901234567890",
        ),
        ("8", 8, "none"),
        ("", 10, "none"),
        ("1_0", 10, "none"),
        ("--1", 10, "none"),
    ] {
        assert_eq!(text(Number::parse_whole(digits, base)), printed, "{digits}");
    }
}
