//! Limits the cost of evaluation: steps, values and bytes of text.
//!
//! The author of a configuration controls how often loops run and how long strings become. Evaluation therefore deducts every
//! cost from the [`EvalBudget`] of the root module before it computes or copies a value. Costs are never credited back, so the
//! budget also bounds the memory that all values use. Each root module has an allowance far larger than configurations need, no
//! matter what other root modules use. Beyond the allowance, it draws on the [`RunBudget`], which all root modules share.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use super::value::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetResource {
    /// Units of time: evaluated expressions, iterations, comparisons, and bytes that are read more than once.
    Steps,
    /// Values that are created or copied. A value takes about 100 bytes of memory.
    Values,
    /// Bytes of text that are created or copied.
    Bytes,
}

/// The amounts of all resources, in the order of [`BudgetResource`].
type Amounts = [u64; 3];

/// The limit for one root module: at worst half a second and 60 MB. Module sources and versions need far less, because they are
/// short strings built from a few values.
const ROOT: Amounts = [4_000_000, 250_000, 16_000_000];

/// The amounts that a root module may use before it draws on the run's budget. At worst, 64 concurrent root modules use 200 MB.
const ALLOWANCE: Amounts = [250_000, 16_000, 1_000_000];

/// The limit for a single constant expression, such as the list of hashes in a lock file.
const CONSTANT: Amounts = [100_000, 20_000, 2_000_000];

/// The limit for all root modules in a run together, on top of their allowances.
const RUN: Amounts = [64_000_000, 4_000_000, 256_000_000];

/// The maximum number of root modules that may exceed their allowance at the same time. The rest wait, which bounds total memory.
const LARGE_AT_ONCE: usize = 2;

/// When a root module draws on the run's budget, it takes at least 1/16 of its own limit, so that it rarely needs the lock.
const PARTS: u64 = 16;

/// The error when a budget is exhausted.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("evaluation exceeds {limit} {}, the limit for {}", .resource.name(), .owner.name())]
pub struct Exceeded {
    owner: BudgetOwner,
    resource: BudgetResource,
    limit: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BudgetOwner {
    Constant,
    Root,
    Run,
}

impl BudgetOwner {
    const fn name(self) -> &'static str {
        match self {
            Self::Constant => "the constant expressions of one file",
            Self::Root => "one root module",
            Self::Run => "all root modules in this run together, beyond the allowance of each",
        }
    }
}

impl BudgetResource {
    const fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Values => "values",
            Self::Bytes => "bytes of text",
        }
    }
}

impl Exceeded {
    pub const fn hint(self) -> &'static str {
        match self.owner {
            BudgetOwner::Constant | BudgetOwner::Root => {
                "simplify the values that module sources and versions refer to, or write sources and versions as literals"
            }
            BudgetOwner::Run => {
                "run tflock on fewer directories at once, or simplify the values that module sources and versions refer to"
            }
        }
    }
}

/// The number of digits that can be written in the time of one step.
const DIGITS_PER_STEP: usize = 4;

/// Limits the total number of steps for all constant expressions in one file. Each of them also has its own limit.
#[derive(Debug, Default)]
pub(super) struct FileBudget {
    used_steps: AtomicU64,
}

/// The maximum number of steps for all constant expressions in one file.
const FILE_STEPS: u64 = 4_000_000;

impl FileBudget {
    /// Evaluates a constant expression of the file with the rest of this budget.
    pub(super) fn evaluate<T>(&self, evaluate: impl FnOnce(&EvalBudget) -> T) -> T {
        // Concurrent evaluations may together slightly exceed the rest.
        let left = FILE_STEPS.saturating_sub(self.used_steps.load(Ordering::Relaxed));
        let [steps, values, bytes] = CONSTANT;
        let limits = [steps.min(left), values, bytes];
        let budget = EvalBudget::new(BudgetOwner::Constant, limits, limits, None);
        let result = evaluate(&budget);
        let used = budget.used()[BudgetResource::Steps as usize];
        self.used_steps.fetch_add(used, Ordering::Relaxed);
        result
    }
}

/// The budget on which root modules draw beyond their allowances. The threads that read root modules share it.
#[derive(Debug, Default)]
pub struct RunBudget {
    usage: Mutex<RunUsage>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct RunUsage {
    used: Amounts,
    /// The number of root modules that have exceeded their allowance and are still being evaluated.
    large_modules: usize,
}

impl RunBudget {
    fn usage(&self) -> MutexGuard<'_, RunUsage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more root module may exceed its allowance.
    fn enter(&self) {
        let is_full = |usage: &mut RunUsage| usage.large_modules == LARGE_AT_ONCE;
        let waited = self.freed.wait_while(self.usage(), is_full);
        waited.unwrap_or_else(PoisonError::into_inner).large_modules += 1;
    }

    fn leave(&self, unused: Amounts) {
        let mut usage = self.usage();
        usage.large_modules -= 1;
        for (used, unused) in usage.used.iter_mut().zip(unused) {
            *used -= unused;
        }
        drop(usage);
        self.freed.notify_one();
    }

    /// Takes `amount`, or the rest of the budget if that is less. Returns the amount taken.
    fn take(&self, resource: BudgetResource, amount: u64) -> u64 {
        let used = &mut self.usage().used[resource as usize];
        let taken = amount.min(RUN[resource as usize] - *used);
        *used += taken;
        taken
    }
}

/// The budget for evaluating one root module, or one constant expression.
///
/// Once it is exceeded, every further deduction fails, and so does [`super::evaluate`], even if `try()` caught the error.
#[derive(Debug)]
pub struct EvalBudget {
    owner: BudgetOwner,
    limits: Amounts,
    used: [Cell<u64>; 3],
    /// The amounts that may be used before drawing on the run's budget again.
    granted: [Cell<u64>; 3],
    run: Option<Arc<RunBudget>>,
    is_large: Cell<bool>,
    exceeded: Cell<Option<Exceeded>>,
}

impl EvalBudget {
    /// Creates the budget of a root module, which can draw on the run's budget.
    pub fn of_root(run: Arc<RunBudget>) -> Self {
        Self::new(BudgetOwner::Root, ROOT, ALLOWANCE, Some(run))
    }

    pub fn of_constant() -> Self {
        Self::new(BudgetOwner::Constant, CONSTANT, CONSTANT, None)
    }

    fn new(
        owner: BudgetOwner,
        limits: Amounts,
        granted: Amounts,
        run: Option<Arc<RunBudget>>,
    ) -> Self {
        Self {
            owner,
            limits,
            used: Default::default(),
            granted: granted.map(Cell::new),
            run,
            is_large: Cell::new(false),
            exceeded: Cell::new(None),
        }
    }

    /// Returns the error if the budget is exceeded.
    pub const fn exceeded(&self) -> Option<Exceeded> {
        self.exceeded.get()
    }

    /// Returns the numbers of steps, values and bytes used so far.
    pub fn used(&self) -> [u64; 3] {
        self.used.each_ref().map(Cell::get)
    }

    #[inline]
    pub fn steps(&self, count: usize) -> Result<(), Exceeded> {
        self.take(BudgetResource::Steps, count)
    }

    #[inline]
    pub fn values(&self, count: usize) -> Result<(), Exceeded> {
        self.take(BudgetResource::Values, count)
    }

    #[inline]
    pub fn bytes(&self, count: usize) -> Result<(), Exceeded> {
        self.take(BudgetResource::Bytes, count)
    }

    /// Deducts the cost of a value, including nested values.
    pub fn value(&self, value: &Value) -> Result<(), Exceeded> {
        let (values, bytes) = value.cost();
        self.values(values)?;
        self.bytes(bytes)
    }

    /// Deducts the steps for computing with the long numbers in a value, or for writing them.
    pub fn numbers(&self, value: &Value) -> Result<(), Exceeded> {
        self.steps(value.digits() / DIGITS_PER_STEP)
    }

    /// Fails if these amounts are not available. Does not deduct them.
    pub fn room_for(&self, values: usize, bytes: usize) -> Result<(), Exceeded> {
        self.reach(BudgetResource::Values, values)?;
        self.reach(BudgetResource::Bytes, bytes).map(drop)
    }

    #[inline]
    fn take(&self, resource: BudgetResource, count: usize) -> Result<(), Exceeded> {
        let total = self.reach(resource, count)?;
        self.used[resource as usize].set(total);
        Ok(())
    }

    /// Returns the total use including `count` more, but does not record it. Draws on the run's budget if necessary.
    #[inline]
    fn reach(&self, resource: BudgetResource, count: usize) -> Result<u64, Exceeded> {
        let at = resource as usize;
        let total = self.used[at].get().saturating_add(count as u64);
        if total > self.granted[at].get() {
            self.draw(resource, total)?;
        }
        Ok(total)
    }

    /// Draws enough from the run's budget to grant `total`.
    #[cold]
    fn draw(&self, resource: BudgetResource, total: u64) -> Result<(), Exceeded> {
        if let Some(exceeded) = self.exceeded.get() {
            return Err(exceeded);
        }
        let at = resource as usize;
        let (limit, granted) = (self.limits[at], self.granted[at].get());
        let Some(run) = self.run.as_ref().filter(|_| total <= limit) else {
            return Err(self.exceed(self.owner, resource, limit));
        };
        if !self.is_large.replace(true) {
            run.enter();
        }
        let amount = (total - granted).max(limit / PARTS).min(limit - granted);
        let granted = granted + run.take(resource, amount);
        self.granted[at].set(granted);
        if total > granted {
            return Err(self.exceed(BudgetOwner::Run, resource, RUN[at]));
        }
        Ok(())
    }

    fn exceed(&self, owner: BudgetOwner, resource: BudgetResource, limit: u64) -> Exceeded {
        let exceeded = Exceeded {
            owner,
            resource,
            limit,
        };
        self.exceeded.set(Some(exceeded));
        self.granted.iter().for_each(|granted| granted.set(0));
        exceeded
    }
}

impl Drop for EvalBudget {
    fn drop(&mut self) {
        if let Some(run) = self.run.as_ref().filter(|_| self.is_large.get()) {
            let unused = [0, 1, 2].map(|at| {
                let beyond = self.used[at].get().max(ALLOWANCE[at]);
                self.granted[at].get().saturating_sub(beyond)
            });
            run.leave(unused);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(amount: u64) -> usize {
        usize::try_from(amount).unwrap()
    }

    #[test]
    fn a_budget_can_be_used_up_completely() {
        for (resource, limit) in [
            (BudgetResource::Steps, "4000000 steps"),
            (BudgetResource::Values, "250000 values"),
            (BudgetResource::Bytes, "16000000 bytes of text"),
        ] {
            let budget = EvalBudget::of_root(Arc::default());
            let all = count(ROOT[resource as usize]);
            assert_eq!(budget.take(resource, all), Ok(()));
            let exceeded = budget.take(resource, 1).unwrap_err();
            let expected = format!("evaluation exceeds {limit}, the limit for one root module");
            assert_eq!(exceeded.to_string(), expected);
            // After one resource is exhausted, the others are refused too.
            assert_eq!(budget.exceeded(), Some(exceeded));
            assert!(budget.steps(1).is_err() && budget.bytes(1).is_err());
        }
    }

    #[test]
    fn an_allowance_does_not_depend_on_the_budget_of_the_run() {
        let run: Arc<RunBudget> = Arc::default();
        run.take(BudgetResource::Values, u64::MAX);
        let budget = EvalBudget::of_root(Arc::clone(&run));
        assert_eq!(budget.values(count(ALLOWANCE[1])), Ok(()));
        let said = "evaluation exceeds 4000000 values, the limit for all root modules in this run together, beyond the allowance of each";
        assert_eq!(budget.values(1).unwrap_err().to_string(), said);
    }

    #[test]
    fn unused_budget_returns_to_the_run() {
        let run: Arc<RunBudget> = Arc::default();
        let budget = EvalBudget::of_root(Arc::clone(&run));
        assert_eq!(budget.steps(count(ALLOWANCE[0]) + 1), Ok(()));
        assert!(run.usage().used[0] > 1);
        drop(budget);
        let usage = run.usage();
        assert_eq!((usage.used[0], usage.large_modules), (1, 0));
    }

    #[test]
    fn the_constants_of_a_file_share_a_budget() {
        let file = FileBudget::default();
        let all = count(CONSTANT[0]);
        let turns = FILE_STEPS / CONSTANT[0];
        for _ in 0..turns {
            assert_eq!(file.evaluate(|budget| budget.steps(all)), Ok(()));
        }
        assert!(file.evaluate(|budget| budget.steps(1)).is_err());
    }
}
