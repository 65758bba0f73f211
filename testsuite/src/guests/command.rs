//! `testsuite kernels`: every kernel × compiler × level × VLEN × freedom × emulator.

use super::report::table;
use super::{
    Cell, Compiler, CompilerError, Emulator, Environment, Freedom, Kernel, Known, Observed, Problem,
    USUAL_COMPILERS, build_folder, folder, kernels, known,
};
use clap::Args;
use rvv_cli::{out, outln};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What `testsuite kernels` takes.
#[derive(Args, Debug, Clone)]
pub struct Options {
    /// Compilers, names or paths; without any, the usual ones that are on PATH
    #[arg(long = "cc", num_args = 1..)]
    pub compilers: Vec<String>,
    /// Optimisation levels
    #[arg(long, value_delimiter = ',', default_value = "O0,O1,O2,O3")]
    pub levels: Vec<String>,
    /// VLENs
    #[arg(long, value_delimiter = ',', default_value = "128,256,512,1024")]
    pub vlens: Vec<u32>,
    /// What an implementation may choose: plain, ones, half (these also on QEMU), random
    #[arg(long, value_delimiter = ',', default_value = "plain,ones,half,random")]
    pub freedom: Vec<String>,
    /// A qemu-riscv64 to compare with
    #[arg(long)]
    pub qemu: Option<PathBuf>,
    /// A Spike to compare with (kernels are built a second time, for bare metal)
    #[arg(long)]
    pub spike: Option<PathBuf>,
    /// Run this rvvsim instead of the one in this program
    #[arg(long)]
    pub rvvsim: Option<PathBuf>,
    /// Leave rvvsim out: try kernels and compilers on the others
    #[arg(long)]
    pub no_rvvsim: bool,
    /// Only kernels with this in their names
    #[arg(long, default_value = "")]
    pub only: String,
    /// Take QEMU's output, of the first compiler and level, as the expected one from now on
    #[arg(long, requires = "qemu")]
    pub record: bool,
    /// Threads; as many as there are cores if not given
    #[arg(long)]
    pub jobs: Option<usize>,
    /// Seconds for one run of one kernel
    #[arg(long, default_value_t = 120)]
    pub timeout: u64,
}

/// A run of the command, resolved.
struct Plan {
    kernels: Vec<Kernel>,
    compilers: Vec<Compiler>,
    emulators: Vec<Emulator>,
    freedoms: Vec<Freedom>,
    known: Vec<Known>,
    build: PathBuf,
    options: Options,
}

/// Does it all and prints the table; whether all is well.
///
/// # Errors
/// When kernels cannot be read, or an option makes no sense.
pub fn main(options: &Options) -> Result<bool, Box<dyn Error>> {
    let plan = Plan::new(options)?;
    if plan.compilers.is_empty() {
        outln!("skipped: no RVV compiler");
        return Ok(true);
    }
    if options.record {
        return plan.record();
    }
    let cells = plan.run();
    out!("{}", table(&plan.kernels, &plan.compilers, &options.levels, &cells));
    for cell in &cells {
        for problem in cell.problems.iter().filter(|p| !matches!(p, Problem::Lacks(_))) {
            let known = cell.known.as_ref().map(|k| format!(" (known: {k})")).unwrap_or_default();
            outln!("{} {} -{}: {problem}{known}", cell.kernel, cell.compiler, cell.level);
        }
        if cell.problems.is_empty()
            && let Some(known) = &cell.known
        {
            outln!("{} {} -{}: good now, though known for: {known}", cell.kernel, cell.compiler, cell.level);
        }
    }
    let good: usize = cells.iter().map(|c| c.good).sum();
    let bad = cells.iter().filter(|c| c.fails()).count();
    outln!("{} programs, {good} good runs, {bad} programs with differences", cells.len());
    Ok(bad == 0)
}

impl Plan {
    fn new(options: &Options) -> Result<Self, Box<dyn Error>> {
        let mut kernels = kernels(&folder())?;
        kernels.retain(|k| k.name.contains(&options.only));
        let build = build_folder();
        let mut compilers = Vec::new();
        let usual: Vec<String> = USUAL_COMPILERS.iter().map(ToString::to_string).collect();
        let names = if options.compilers.is_empty() { &usual } else { &options.compilers };
        for name in names {
            match Compiler::find(name, &build) {
                Ok(compiler) => {
                    outln!("{name}: {}", compiler.version);
                    compilers.push(compiler);
                }
                Err(e) => outln!("{name}: {e}"),
            }
        }
        let mut emulators = Vec::new();
        if !options.no_rvvsim {
            emulators.push(options.rvvsim.clone().map_or(Emulator::Here, Emulator::Rvvsim));
        }
        emulators.extend(options.qemu.clone().map(Emulator::Qemu));
        emulators.extend(options.spike.clone().map(Emulator::Spike));
        let freedom = |name: &String| {
            Freedom::ALL.into_iter().find(|f| f.name == name).ok_or(format!("no such freedom: {name}"))
        };
        let freedoms = options.freedom.iter().map(freedom).collect::<Result<_, _>>()?;
        let known = known(&folder().join("known-bugs.txt"));
        Ok(Plan { kernels, compilers, emulators, freedoms, known, build, options: options.clone() })
    }

    fn run(&self) -> Vec<Cell> {
        let mut jobs = Vec::new();
        for kernel in &self.kernels {
            for compiler in &self.compilers {
                jobs.extend(self.options.levels.iter().map(|level| (kernel, compiler, level)));
            }
        }
        let threads =
            self.options.jobs.or(std::thread::available_parallelism().ok().map(Into::into)).unwrap_or(1);
        let next = AtomicUsize::new(0);
        let cells = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((kernel, compiler, level)) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let cell = self.cell(kernel, compiler, level);
                        cells.lock().expect("no thread panics with it").push(cell);
                    }
                });
            }
        });
        let mut cells = cells.into_inner().expect("no thread panics with it");
        cells.sort_by(|a: &Cell, b| {
            (&a.kernel, &a.compiler, &a.level).cmp(&(&b.kernel, &b.compiler, &b.level))
        });
        cells
    }

    fn cell(&self, kernel: &Kernel, compiler: &Compiler, level: &str) -> Cell {
        let known = self.known.iter().find(|k| k.covers(&kernel.name, &compiler.name, level));
        let mut cell = Cell {
            kernel: kernel.name.clone(),
            compiler: compiler.name.clone(),
            level: level.to_owned(),
            good: 0,
            problems: Vec::new(),
            known: known.map(|k| k.what.clone()),
        };
        let compile = |environment| compiler.compile(kernel, level, environment, &self.build);
        let wants_bare = self.emulators.iter().any(|e| matches!(e, Emulator::Spike(_)));
        let elfs = compile(Environment::Linux)
            .and_then(|linux| Ok((linux, wants_bare.then(|| compile(Environment::Bare)).transpose()?)));
        let (linux, bare) = match elfs {
            Ok(elfs) => elfs,
            Err(CompilerError::Lacks(what)) => {
                cell.problems.push(Problem::Lacks(what));
                return cell;
            }
            Err(e) => {
                cell.problems.push(Problem::Compile(e.to_string()));
                return cell;
            }
        };
        for &vlen in &self.options.vlens {
            for freedom in &self.freedoms {
                let mut seen: Vec<(&Emulator, Observed)> = Vec::new();
                for emulator in self.emulators.iter().filter(|e| e.can(vlen, freedom)) {
                    let elf =
                        if matches!(emulator, Emulator::Spike(_)) { bare.as_ref() } else { Some(&linux) };
                    let Some(elf) = elf else { continue };
                    match emulator.run(
                        elf,
                        &kernel.needs,
                        vlen,
                        freedom,
                        Duration::from_secs(self.options.timeout),
                    ) {
                        Ok(observed) => seen.push((emulator, observed)),
                        Err(e) => note(&mut cell, Problem::Emulator(format!("{emulator}: {e}"))),
                    }
                }
                cell.good += seen.iter().filter(|(_, o)| o.is(&kernel.expected)).count();
                if let Some(problem) = judge(&seen, &kernel.expected, freedom) {
                    let place = format!("VLEN {vlen}, {}: ", freedom.name);
                    note(
                        &mut cell,
                        match problem {
                            Problem::Program(what) => Problem::Program(place + &what),
                            Problem::Emulator(what) => Problem::Emulator(place + &what),
                            Problem::Alone(what) => Problem::Alone(place + &what),
                            other => other,
                        },
                    );
                }
            }
        }
        // A program that is known to be wrong is wrong where only one emulator runs it, too.
        if cell.problems.iter().any(|p| matches!(p, Problem::Program(_))) {
            cell.problems.retain(|p| !matches!(p, Problem::Alone(_)));
        }
        cell
    }

    /// Writes what QEMU printed as the expected output; only of kernels that agree with their scalar twins.
    fn record(&self) -> Result<bool, Box<dyn Error>> {
        let (Some(compiler), Some(level)) = (self.compilers.first(), self.options.levels.first()) else {
            return Err("--record needs a compiler and a level".into());
        };
        let (Some(qemu), Some(&vlen)) = (&self.options.qemu, self.options.vlens.first()) else {
            return Err("--record needs --qemu and a VLEN".into());
        };
        let mut all_good = true;
        for kernel in &self.kernels {
            let elf = compiler.compile(kernel, level, Environment::Linux, &self.build)?;
            let limit = Duration::from_secs(self.options.timeout);
            let seen = Emulator::Qemu(qemu.clone()).run(&elf, &kernel.needs, vlen, &Freedom::PLAIN, limit)?;
            let changed = if seen.stdout == kernel.expected { "as before" } else { "changed" };
            if seen.is(&seen.stdout) {
                std::fs::write(kernel.source.with_extension("expected"), &seen.stdout)?;
                outln!("{}: recorded, {changed}", kernel.name);
            } else {
                outln!("{}: not recorded: {}", kernel.name, seen.describe(&kernel.expected));
                all_good = false;
            }
        }
        Ok(all_good)
    }
}

/// Keeps the first problem of each sort.
fn note(cell: &mut Cell, problem: Problem) {
    let same = |p: &Problem| std::mem::discriminant(p) == std::mem::discriminant(&problem);
    if !cell.problems.iter().any(same) {
        cell.problems.push(problem);
    }
}

/// Who is to blame, if anybody. Emulators may well do different things with a wrong program where they are
/// free to choose, as long as none makes a right one of it.
fn judge(seen: &[(&Emulator, Observed)], expected: &[u8], freedom: &Freedom) -> Option<Problem> {
    let wrong: Vec<_> = seen.iter().filter(|(_, o)| !o.is(expected)).collect();
    let (_, first) = wrong.first()?;
    let all_agree = seen.iter().all(|(_, o)| o.agrees_with(first));
    let say = |(e, o): &&(&Emulator, Observed)| format!("{e}: {}", o.describe(expected));
    let text = wrong.iter().map(say).collect::<Vec<_>>().join("; ");
    Some(match seen {
        [_] => Problem::Alone(text),
        _ if all_agree => Problem::Program(text),
        _ if wrong.len() == seen.len() && *freedom != Freedom::PLAIN => Problem::Program(text),
        _ => Problem::Emulator(text),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Ending;
    use super::*;

    fn saw(text: &str, ending: Ending) -> Observed {
        Observed { ending, stdout: text.into(), remark: String::new() }
    }

    #[test]
    fn agreement_on_a_wrong_answer_blames_the_program() {
        let qemu = Emulator::Qemu(PathBuf::new());
        let good = || saw("1\n", Ending::Exited(0));
        let bad = || saw("2\n", Ending::Exited(0));
        let died = || saw("", Ending::Signaled(4));
        assert_eq!(judge(&[(&Emulator::Here, good()), (&qemu, good())], b"1\n", &Freedom::PLAIN), None);
        let both = judge(&[(&Emulator::Here, died()), (&qemu, died())], b"1\n", &Freedom::PLAIN);
        assert!(matches!(both, Some(Problem::Program(_))));
        let one = judge(&[(&Emulator::Here, bad()), (&qemu, good())], b"1\n", &Freedom::PLAIN);
        assert!(matches!(one, Some(Problem::Emulator(_))));
        let alone = judge(&[(&Emulator::Here, bad())], b"1\n", &Freedom::PLAIN);
        assert!(matches!(alone, Some(Problem::Alone(_))));
        let two = judge(&[(&Emulator::Here, bad()), (&qemu, died())], b"1\n", &Freedom::PLAIN);
        assert!(matches!(two, Some(Problem::Emulator(_))));
        let two = judge(&[(&Emulator::Here, bad()), (&qemu, died())], b"1\n", &Freedom::HALF);
        assert!(matches!(two, Some(Problem::Program(_))));
    }
}
