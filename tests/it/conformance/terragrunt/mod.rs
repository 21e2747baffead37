//! Terragrunt units: the binary locks the recorded repositories as Terragrunt 1.1.3 with each engine did.
//!
//! A row of `terragrunt-exceptions.txt` names a case in which tflock differs, below the rule that allows it.

mod repository;
mod site;

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Value, json};
use tflock::lockfile::parse;
use tflock::provider::Engine;
use tflock_test_support::{Outcome, Program, TestContext, check_rows};

use super::{ENGINES, cases, exceptions, outcome, report};
use repository::Repository;
use site::TerragruntSite;

const EXCEPTIONS: &str = include_str!("../../../../testdata/conformance/terragrunt-exceptions.txt");

/// Returns all cases except those that only record facts about Terragrunt.
fn units() -> Vec<Value> {
    let mut units = cases("terragrunt.jsonl");
    units.extend(cases("terragrunt-more.jsonl"));
    units.retain(|case| case.get("record_only").is_none());
    units
}

#[test]
#[expect(clippy::print_stderr, reason = "developers read the figures")]
fn units_are_locked_as_terragrunt_does() {
    let cases = units();
    let site = TerragruntSite::start(&cases);
    let differences = Mutex::new(Vec::new());
    for (engine, names) in ENGINES {
        let exceptions = exceptions(EXCEPTIONS, engine);
        let differing = Mutex::new(BTreeSet::new());
        check_rows(cases.iter().enumerate(), |(number, case)| {
            let name = case["name"].as_str().unwrap();
            let expected = Expected::of(case, engine, outcome(case, names).unwrap());
            let run = UnitRun {
                directory: format!("{engine}/{number}"),
                case,
                engine,
            };
            let Err(difference) = run.compare(&expected, &site) else {
                return;
            };
            differing.lock().unwrap().insert(name);
            if !exceptions.contains(&name) {
                let mut differences = differences.lock().unwrap();
                differences.push(format!("{engine}: {name}: {difference}"));
            }
        });
        let differing = differing.into_inner().unwrap();
        for name in exceptions.iter().filter(|name| !differing.contains(*name)) {
            let mut differences = differences.lock().unwrap();
            differences.push(format!(
                "{engine}: {name}: agrees, but is listed as an exception"
            ));
        }
        let equal = cases.len() - differing.len();
        eprintln!("units, {engine}: {equal} of {} as recorded", cases.len());
    }
    let mut differences = differences.into_inner().unwrap();
    differences.sort();
    report(&differences, cases.len() * ENGINES.len());
}

/// What tflock must do with the lock file of a unit.
enum Expected {
    /// Write these entries: the address, the version, and the constraints or null.
    Locks(Value),
    /// Succeed without a change.
    Unchanged,
    /// Fail without a change.
    Error,
}

impl Expected {
    /// Returns what a case expects, which is the recorded result unless the case has another one for tflock.
    fn of(case: &Value, engine: Engine, recorded: &Value) -> Self {
        let own = &case["tflock"];
        if own["unchanged"] == json!(true) {
            return Self::Unchanged;
        }
        let result = own.get(engine.program()).unwrap_or(recorded);
        result
            .get("locks")
            .map_or(Self::Error, |locks| Self::Locks(locks.clone()))
    }
}

/// A recorded case with one of its engines.
struct UnitRun<'a> {
    directory: String,
    case: &'a Value,
    engine: Engine,
}

impl UnitRun<'_> {
    /// Describes how the result of tflock differs from the expected one.
    fn compare(&self, expected: &Expected, site: &TerragruntSite) -> Result<(), String> {
        let repository = Repository {
            root: site.context.path(&self.directory),
            case: self.case,
            engine: self.engine,
        };
        repository.lay_out(site);
        let unit = format!(
            "{}/repo/{}",
            self.directory,
            self.case["unit"].as_str().unwrap()
        );
        let before = site.context.lock_file(&unit);
        let outcome = self.command(expected, &repository, site, &unit).run();
        let after = site.context.lock_file(&unit);
        if repository.was_executed() {
            return Err(format!(
                "a command of the repository was executed\n{outcome}"
            ));
        }
        let (code, is_right) = match expected {
            Expected::Locks(locks) => (0, entries(&site.context, &unit, self.engine) == *locks),
            Expected::Unchanged => (0, before == after),
            Expected::Error => (1, before == after),
        };
        if outcome.code == Some(code) && is_right {
            return Ok(());
        }
        Err(describe(expected, after.as_deref(), &outcome))
    }

    /// Returns the command that comes closest to `terragrunt init` in the unit.
    fn command(
        &self,
        expected: &Expected,
        repository: &Repository<'_>,
        site: &TerragruntSite,
        unit: &str,
    ) -> Program {
        let mut program = site
            .context
            .command("lock --prune --platform linux_amd64")
            .args(["--engine", self.engine.program()])
            .env("SSL_CERT_FILE", site.certificate_file())
            .env("GIT_CONFIG_NOSYSTEM", "1");
        if matches!(expected, Expected::Error) {
            program = program.args(["--unknown-unit", "error"]);
        }
        for (name, value) in self.case["env"].as_object().into_iter().flatten() {
            program = program.env(name, repository.fill(value.as_str().unwrap(), site));
        }
        program.arg(unit)
    }
}

fn describe(expected: &Expected, found: Option<&str>, outcome: &Outcome) -> String {
    let expected = match expected {
        Expected::Locks(locks) => format!("expected {locks}"),
        Expected::Unchanged => "expected no change".to_owned(),
        Expected::Error => "expected an error".to_owned(),
    };
    format!("{expected}, found {found:?}\n{outcome}")
}

/// Returns the entries of a lock file in their recorded form. A missing file is treated as empty.
fn entries(context: &TestContext, unit: &str, engine: Engine) -> Value {
    let text = context.lock_file(unit).unwrap_or_default();
    let locks = parse(&context.path(unit), text.as_bytes(), engine)
        .expect("tflock writes valid lock files")
        .locks;
    let entries = locks.providers.iter().map(|(address, lock)| {
        let constraints = (!lock.constraints.is_empty()).then(|| lock.constraints.to_string());
        json!([address.to_string(), lock.version.to_string(), constraints])
    });
    entries.collect()
}
