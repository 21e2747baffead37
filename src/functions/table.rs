//! The table of the functions in Terraform and OpenTofu: name, number of arguments, and implementation.

use std::ops::RangeInclusive;

use crate::provider::Engine;
use crate::syntax::{Value, ValueType};

use super::digests::{base64, hex, md5, of_file, of_text, sha1, sha256, sha512};
use super::{
    FunctionError, FunctionResult, Functions, assumptions, collections, csv, digests, files,
    letters, numbers, sets, strings, templates, text, yaml,
};

pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) implementation: Implementation,
    /// The only engine that has the function; `None` if both have it.
    pub(super) only_in: Option<Engine>,
    /// Whether its result or errors may contain the content of files.
    pub(super) reads_files: bool,
}

/// How the value of a function is computed.
#[derive(Clone)]
pub(super) enum Implementation {
    // For the first four variants, the result is unknown if an argument is unknown.
    One(fn(&Functions, &Value) -> FunctionResult),
    Two(fn(&Functions, &Value, &Value) -> FunctionResult),
    Three(fn(&Functions, &Value, &Value, &Value) -> FunctionResult),
    Many(
        RangeInclusive<usize>,
        fn(&Functions, &[Value]) -> FunctionResult,
    ),
    /// Adds, removes or checks the mark that makes a value sensitive. The value may be unknown.
    Mark(fn(&Value) -> Value),
    /// Like `Many`, but handles unknown arguments itself.
    Raw(
        RangeInclusive<usize>,
        fn(&Functions, &[Value]) -> FunctionResult,
    ),
    /// The result is different in each run. Terraform does not know it before apply, but OpenTofu evaluates the function. tflock
    /// uses this constant instead, so that identical runs have identical results.
    Momentary(&'static str),
    /// The result is unknown before apply.
    Unknown,
    /// The evaluator handles the function, and evaluates its arguments only if needed.
    Evaluator,
    /// tflock does not support the function. The documentation of [`FUNCTIONS`] lists the reasons.
    Unsupported,
}

use Implementation::{
    Evaluator, Many, Mark, Momentary, One, Raw, Three, Two, Unknown, Unsupported,
};

const ANY_NUMBER: RangeInclusive<usize> = 0..=usize::MAX;
const AT_LEAST_ONE: RangeInclusive<usize> = 1..=usize::MAX;
const AT_LEAST_TWO: RangeInclusive<usize> = 2..=usize::MAX;

const fn function(name: &'static str, implementation: Implementation) -> Function {
    Function {
        name,
        implementation,
        only_in: None,
        reads_files: false,
    }
}

const fn file_function(name: &'static str, implementation: Implementation) -> Function {
    Function {
        reads_files: true,
        ..function(name, implementation)
    }
}

const fn only_in(engine: Engine, name: &'static str, implementation: Implementation) -> Function {
    Function {
        only_in: Some(engine),
        ..function(name, implementation)
    }
}

/// All functions that `terraform metadata functions` and `tofu metadata functions` list, `convert`, and the functions that
/// OpenTofu 1.13 adds, sorted by name.
///
/// Sources and versions hardly ever use the unsupported functions, and an incorrect result would be worse than an error:
///
/// | functions | reason |
/// | --- | --- |
/// | `cidrhost`, `cidrnetmask`, `cidrsubnet`, `cidrsubnets`, `cidrcontains` | they compute network addresses |
/// | `formatdate`, `timeadd`, `timecmp` | they compute times |
/// | `base64gzip`, `base64gunzip`, `textencodebase64`, `textdecodebase64` | the result depends on the implementation of the compression, or on old encodings |
/// | `rsadecrypt` | secrets do not belong in addresses |
/// | `log` | the result is a binary floating-point number |
/// | `pathexpand` | the result depends on the user |
/// | `fileset` | the result depends on files that are not configuration |
/// | `yamlencode` | the layout depends on the implementation |
#[rustfmt::skip]
pub(super) static FUNCTIONS: &[Function] = &[
    function("abs", One(|_, value| numbers::abs(value))),
    function("abspath", One(files::abspath)),
    function("alltrue", One(collections::all_true)),
    function("anytrue", One(collections::any_true)),
    only_in(Engine::Tofu, "assumeequal", Raw(2..=2, assumptions::equal)),
    only_in(Engine::Tofu, "assumelistlength", Three(|functions, value, least, most| assumptions::length(functions.to_list(value)?, Some(least), Some(most)))),
    only_in(Engine::Tofu, "assumelistlengthmax", Two(|functions, value, most| assumptions::length(functions.to_list(value)?, None, Some(most)))),
    only_in(Engine::Tofu, "assumelistlengthmin", Two(|functions, value, least| assumptions::length(functions.to_list(value)?, Some(least), None))),
    only_in(Engine::Tofu, "assumemaplength", Three(|functions, value, least, most| assumptions::length(functions.to_map(value)?, Some(least), Some(most)))),
    only_in(Engine::Tofu, "assumemaplengthmax", Two(|functions, value, most| assumptions::length(functions.to_map(value)?, None, Some(most)))),
    only_in(Engine::Tofu, "assumemaplengthmin", Two(|functions, value, least| assumptions::length(functions.to_map(value)?, Some(least), None))),
    only_in(Engine::Tofu, "assumenotnull", One(|_, value| assumptions::not_null(value))),
    only_in(Engine::Tofu, "assumesetlength", Three(|functions, value, least, most| assumptions::length(functions.to_set(value)?, Some(least), Some(most)))),
    only_in(Engine::Tofu, "assumesetlengthmax", Two(|functions, value, most| assumptions::length(functions.to_set(value)?, None, Some(most)))),
    only_in(Engine::Tofu, "assumesetlengthmin", Two(|functions, value, least| assumptions::length(functions.to_set(value)?, Some(least), None))),
    only_in(Engine::Tofu, "assumestringprefix", Two(|_, value, prefix| assumptions::string_prefix(value, prefix))),
    function("base64decode", One(|_, text| strings::base64_decode(text))),
    function("base64encode", One(|_, value| Ok(base64(text(value)?.as_bytes()).into()))),
    only_in(Engine::Tofu, "base64gunzip", Unsupported),
    function("base64gzip", Unsupported),
    function("base64sha256", One(|_, text| of_text(text, sha256, base64))),
    function("base64sha512", One(|_, text| of_text(text, sha512, base64))),
    function("basename", One(|_, path| strings::map(path, files::basename))),
    function("bcrypt", Momentary("$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy")),
    function("can", Evaluator),
    function("ceil", One(|_, value| numbers::ceil(value))),
    function("chomp", One(|_, text| strings::map(text, |text| text.trim_end_matches(['\n', '\r']).to_owned()))),
    function("chunklist", Two(collections::chunks)),
    only_in(Engine::Tofu, "cidrcontains", Unsupported),
    function("cidrhost", Unsupported),
    function("cidrnetmask", Unsupported),
    function("cidrsubnet", Unsupported),
    function("cidrsubnets", Unsupported),
    function("coalesce", Raw(AT_LEAST_ONE, collections::coalesce)),
    function("coalescelist", Many(AT_LEAST_ONE, |_, lists| collections::coalesce_list(lists))),
    function("compact", One(collections::compact)),
    function("concat", Many(AT_LEAST_ONE, collections::concat)),
    function("contains", Two(|_, list, value| collections::contains(list, value))),
    only_in(Engine::Terraform, "convert", Unknown),
    function("csvdecode", One(csv::decode)),
    function("dirname", One(|_, path| strings::map(path, files::dirname))),
    function("distinct", One(sets::distinct)),
    function("element", Two(|_, list, index| collections::element(list, index))),
    function("endswith", Two(|_, text, end| strings::test(text, end, |text, end| text.ends_with(end)))),
    function("ephemeralasnull", Mark(Value::clone)),
    file_function("file", One(|functions, path| functions.read_text(path).map(Value::from))),
    file_function("filebase64", One(|functions, path| Ok(base64(&functions.read(path)?).into()))),
    file_function("filebase64sha256", One(|functions, path| of_file(functions, path, sha256, base64))),
    file_function("filebase64sha512", One(|functions, path| of_file(functions, path, sha512, base64))),
    file_function("fileexists", One(|functions, path| functions.is_file(path).map(Value::Bool))),
    file_function("filemd5", One(|functions, path| of_file(functions, path, md5, hex))),
    file_function("fileset", Unsupported),
    file_function("filesha1", One(|functions, path| of_file(functions, path, sha1, hex))),
    file_function("filesha256", One(|functions, path| of_file(functions, path, sha256, hex))),
    file_function("filesha512", One(|functions, path| of_file(functions, path, sha512, hex))),
    function("flatten", One(|_, list| collections::flatten(list))),
    function("floor", One(|_, value| numbers::floor(value))),
    function("format", Many(AT_LEAST_ONE, |functions, arguments| templates::format(arguments, &functions.budget).map(Value::from))),
    function("formatdate", Unsupported),
    function("formatlist", Many(AT_LEAST_ONE, templates::format_list)),
    function("indent", Two(strings::indent)),
    function("index", Two(|_, list, value| collections::index(list, value))),
    function("issensitive", Mark(is_sensitive)),
    function("join", Many(AT_LEAST_ONE, strings::join)),
    function("jsondecode", One(templates::json_decode)),
    function("jsonencode", One(|functions, value| Ok(templates::to_json(value, &functions.budget)?.into()))),
    function("keys", One(|_, map| collections::keys(map))),
    function("length", One(|_, value| collections::length(value))),
    function("log", Unsupported),
    function("lookup", Many(2..=3, collections::lookup)),
    function("lower", One(|_, text| strings::map(text, strings::lower))),
    function("matchkeys", Three(sets::match_keys)),
    function("max", Many(AT_LEAST_ONE, |_, values| numbers::max(values))),
    function("md5", One(|_, text| of_text(text, md5, hex))),
    function("merge", Many(ANY_NUMBER, |_, maps| collections::merge(maps))),
    function("min", Many(AT_LEAST_ONE, |_, values| numbers::min(values))),
    function("nonsensitive", Mark(nonsensitive)),
    function("one", One(|_, list| collections::one(list))),
    function("parseint", Two(|_, text, base| numbers::parse_int(text, base))),
    function("pathexpand", Unsupported),
    only_in(Engine::Terraform, "plantimestamp", Unknown),
    function("pow", Two(|_, base, exponent| numbers::power(base, exponent))),
    function("range", Many(1..=3, |_, numbers| collections::range(numbers))),
    function("regex", Two(strings::regex)),
    function("regexall", Two(strings::regex_all)),
    function("replace", Three(strings::replace)),
    function("reverse", One(|_, list| collections::reverse(list))),
    function("rsadecrypt", Unsupported),
    function("sensitive", Mark(sensitive)),
    function("setintersection", Many(AT_LEAST_ONE, sets::set_intersection)),
    function("setproduct", Many(AT_LEAST_TWO, sets::set_product)),
    function("setsubtract", Many(AT_LEAST_ONE, sets::set_subtract)),
    function("setunion", Many(AT_LEAST_ONE, sets::set_union)),
    function("sha1", One(|_, text| of_text(text, sha1, hex))),
    function("sha256", One(|_, text| of_text(text, sha256, hex))),
    function("sha512", One(|_, text| of_text(text, sha512, hex))),
    function("signum", One(|_, value| numbers::signum(value))),
    function("slice", Three(|_, list, start, end| collections::slice(list, start, end))),
    function("sort", One(collections::sort)),
    function("split", Two(strings::split)),
    function("startswith", Two(|_, text, start| strings::test(text, start, |text, start| text.starts_with(start)))),
    function("strcontains", Two(|_, text, part| strings::test(text, part, |text, part| text.contains(part)))),
    function("strrev", One(|_, text| strings::map(text, strings::reverse))),
    function("substr", Three(|_, text, offset, length| strings::substr(text, offset, length))),
    function("sum", One(|_, list| numbers::sum(list))),
    file_function("templatefile", Two(|functions, path, variables| templates::render(functions, &functions.read_text(path)?, variables))),
    file_function("templatestring", Two(templates::render_text)),
    function("textdecodebase64", Unsupported),
    function("textencodebase64", Unsupported),
    function("timeadd", Unsupported),
    function("timecmp", Unsupported),
    function("timestamp", Momentary("2026-01-01T00:00:00Z")),
    function("title", One(|_, text| strings::map(text, letters::title))),
    function("tobool", One(|functions, value| functions.convert(value, &ValueType::Bool))),
    function("tolist", One(Functions::to_list)),
    function("tomap", One(Functions::to_map)),
    function("tonumber", One(|functions, value| functions.convert(value, &ValueType::Number))),
    function("toset", One(Functions::to_set)),
    function("tostring", One(|functions, value| functions.convert(value, &ValueType::String))),
    function("transpose", One(collections::transpose)),
    function("trim", Two(strings::trim)),
    function("trimprefix", Two(|_, text, prefix| strings::trim_prefix(text, prefix))),
    function("trimspace", One(|_, text| strings::map(text, |text| text.trim().to_owned()))),
    function("trimsuffix", Two(|_, text, suffix| strings::trim_suffix(text, suffix))),
    function("try", Evaluator),
    function("upper", One(|_, text| strings::map(text, strings::upper))),
    only_in(Engine::Tofu, "urldecode", One(|_, text| strings::url_decode(text))),
    function("urlencode", One(|_, text| strings::map(text, strings::url_encode))),
    function("uuid", Momentary("6ba7b810-9dad-41d1-80b4-00c04fd430c8")),
    function("uuidv5", Two(|_, namespace, name| digests::uuid_v5(namespace, name))),
    function("values", One(|_, map| collections::values(map))),
    function("yamldecode", One(yaml::decode)),
    function("yamlencode", Unsupported),
    function("zipmap", Two(collections::zip_map)),
];

impl Function {
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        let index = FUNCTIONS.binary_search_by_key(&name, |function| function.name);
        index.ok().and_then(|index| FUNCTIONS.get(index))
    }

    /// Calls the function. The result is unknown if the arguments are not known, unless the function handles that itself.
    pub(super) fn call(
        &self,
        functions: &Functions,
        arguments: &[Value],
        is_known: bool,
    ) -> FunctionResult {
        if let Raw(arity, implementation) = &self.implementation {
            check_arity(arity, arguments)?;
            return implementation(functions, arguments);
        }
        let is_evaluated = matches!(self.implementation, One(_) | Two(_) | Three(_) | Many(..));
        if is_evaluated && !is_known {
            return Ok(Value::Unknown);
        }
        match (&self.implementation, arguments) {
            (One(implementation), [value]) => implementation(functions, value),
            (Two(implementation), [first, second]) => implementation(functions, first, second),
            (Three(implementation), [first, second, third]) => {
                implementation(functions, first, second, third)
            }
            (Many(arity, implementation), _) => {
                check_arity(arity, arguments)?;
                implementation(functions, arguments)
            }
            (Mark(implementation), [value]) => Ok(implementation(value)),
            (One(_) | Mark(_) | Evaluator, _) => Err(arity_error(&(1..=1), arguments.len())),
            (Two(_), _) => Err(arity_error(&(2..=2), arguments.len())),
            (Three(_), _) => Err(arity_error(&(3..=3), arguments.len())),
            (Momentary(value), _) if functions.engine == Engine::Tofu => Ok((*value).into()),
            (Raw(..) | Momentary(_) | Unknown, _) => Ok(Value::Unknown),
            (Unsupported, _) => Err(FunctionError::Unsupported),
        }
    }
}

fn check_arity(expected: &RangeInclusive<usize>, arguments: &[Value]) -> Result<(), FunctionError> {
    if expected.contains(&arguments.len()) {
        Ok(())
    } else {
        Err(arity_error(expected, arguments.len()))
    }
}

fn arity_error(expected: &RangeInclusive<usize>, count: usize) -> FunctionError {
    let (least, most) = (*expected.start(), *expected.end());
    let direction = if count < least { "few" } else { "many" };
    let expected = match (least, most) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    format!("too {direction} arguments: expected {expected}, found {count}").into()
}

fn sensitive(value: &Value) -> Value {
    match value {
        marked @ Value::Sensitive(_) => marked.clone(),
        value => Value::Sensitive(Box::new(value.clone())),
    }
}

fn nonsensitive(value: &Value) -> Value {
    match value {
        Value::Sensitive(inner) => (**inner).clone(),
        value => value.clone(),
    }
}

fn is_sensitive(value: &Value) -> Value {
    match value {
        Value::Unknown => Value::Unknown,
        value => matches!(value, Value::Sensitive(_)).into(),
    }
}
