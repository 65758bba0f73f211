//! `rvvfuzz yardstick`.

use super::run::{ProgramArgs, stop_flag};
use super::{Done, duration, exit, write_file};
use crate::programs::judge::probe::{Named, try_testbeds};
use crate::programs::measure::yardstick::{Measured, Yardstick};
use crate::programs::measure::{open, recognise};
use crate::programs::report::live::LiveLine;
use crate::programs::settings::{CompilerSettings, EmulatorSettings, Settings, setups};
use crate::programs::store::orders::Order;
use crate::programs::store::{Place, Store, StoreError};
use crate::programs::testbed::compiler::Compiler;
use crate::programs::workers::{self, Event, Options};
use clap::Args;
use rvv_cli::{errln, figures, outln};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Measure how soon known faults are found: campaigns of one compiler each, over several seeds.
///
/// A change of the generator is judged by this table: for each fault of bugs/known.toml that a compiler has,
/// with how many seeds it was found, and the median number of programs and of CPU-minutes to its first
/// verdict. Programs keep what triggers known faults, and nothing is reduced. Verdicts are recognised after a
/// campaign, which is no part of its time.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz yardstick --compilers riscv64-linux-gnu-gcc-14.2,clang-22 --seeds 3 --time 8m --json before.json
  rvvfuzz yardstick --compilers riscv64-linux-gnu-gcc-14.2,clang-22 --seeds 3 --time 8m --policy spill,control \\
      --folder other --against before.json
  rvvfuzz yardstick --compilers clang-22 --seeds 10 --store postgres://fuzz@db/rvv    the workers of that campaign measure

Each campaign is a file in the folder, which is read again by the next call: after a kill the same command continues, and
when all are finished it only makes the tables. Another folder is another measurement. With --store, campaigns are ordered
once, and those who work on that store measure them, before other work and if they have the compiler; the same command makes the
tables when all are there.
It ends with 0, or with 2 if it could not run.")]
pub struct Command {
    /// gcc and clang by name or path; each has campaigns of its own
    #[arg(long, value_delimiter = ',', value_name = "NAMES", required_unless_present = "order")]
    compilers: Vec<String>,
    /// Campaigns of each compiler, with the seeds 1, 2, … (or from --seed on)
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    seeds: u16,
    /// Time of each campaign
    #[arg(long, value_parser = duration, default_value = "8m")]
    time: Duration,
    /// --time is CPU time, compilers included, so that other work on the machine takes nothing from it
    #[arg(long)]
    cpu: bool,
    /// Worker threads of a campaign
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// The folder of the campaigns' files
    #[arg(long, default_value = "yardstick", value_name = "DIR")]
    folder: PathBuf,
    /// Order the campaigns from the workers of this store, instead of running them here
    #[arg(long, value_name = "URL|FILE", conflicts_with = "folder")]
    store: Option<Place>,
    /// Wait until they are done
    #[arg(long, requires = "store")]
    wait: bool,
    /// Sooner than other work, or later: above 10 before programs that somebody left, below -10 after rests,
    /// below -30 after all programs
    #[arg(long, default_value_t = 0, requires = "store", allow_hyphen_values = true, value_name = "N")]
    priority: i32,
    /// One campaign that was ordered; for workers
    #[arg(long, hide = true, value_name = "FILE")]
    order: Option<PathBuf>,
    /// Optimisation levels
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    levels: Option<Vec<String>>,
    /// Flags that take turns, as of `rvvfuzz run`; `none` for none [default: as of `rvvfuzz run`, unless
    /// --levels is given]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "FLAGS")]
    flags: Option<Vec<String>>,
    /// VLENs [default: 128,256,512,1024]
    #[arg(long, value_delimiter = ',')]
    vlen: Option<Vec<u32>>,
    /// Write everything that was measured to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Compare with what --json wrote before
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Put the tables into this document, between its marks for `rvvfuzz yardstick`
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Draw the known faults found over time
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    programs: ProgramArgs,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.measure())
    }

    fn measure(&self) -> Done {
        if let Some(order) = &self.order {
            return self.ordered(order);
        }
        // What cannot be read is told before hours of work.
        let against = self.against.as_ref().map(read).transpose()?;
        let found = |name: &String| Compiler::find(name).map_err(|why| format!("compiler `{name}`: {why}"));
        let compilers = self.compilers.iter().map(found).collect::<Result<Vec<_>, _>>()?;
        let stop = stop_flag();
        let campaigns = match &self.store {
            Some(place) => match self.by_workers(place, &compilers, &stop)? {
                Some(campaigns) => campaigns,
                None => return Ok(true),
            },
            None => self.here(&compilers, &stop)?,
        };
        let version = env!("CARGO_PKG_VERSION").to_string();
        let yardstick = Yardstick { version, seconds: self.time.as_secs_f64(), campaigns };
        let table = yardstick.table(against.as_ref());
        outln!("{table}");
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(&yardstick).map_err(|e| e.to_string())?;
            write_file(path, &(text + "\n"))?;
        }
        if let Some(path) = &self.svg {
            write_file(path, &yardstick.svg())?;
        }
        if let Some(path) = &self.markdown {
            figures::update(path, "rvvfuzz yardstick", "rvvfuzz", &table).map_err(|e| e.to_string())?;
        }
        Ok(true)
    }

    fn settings(&self, compiler: &Compiler, n: u64) -> Settings {
        let mut settings = Settings::default();
        self.programs.apply(&mut settings);
        settings.seed = settings.seed.wrapping_add(n);
        // Known faults are what is looked for.
        settings.triggers = self.programs.known_triggers.unwrap_or(1);
        settings.compilers.push(CompilerSettings::from(compiler));
        settings.emulators = vec![EmulatorSettings::rvvsim()];
        if let Some(levels) = &self.levels {
            settings.levels = levels.clone();
            settings.rotated.clear();
        }
        if let Some(flags) = &self.flags {
            settings.rotated = flags.iter().filter(|f| *f != "none").cloned().collect();
        }
        if let Some(vlens) = &self.vlen {
            settings.setups = setups(vlens);
        }
        settings
    }

    /// Each compiler with each seed, here, one after the other.
    fn here(&self, compilers: &[Compiler], stop: &AtomicBool) -> Result<Vec<Measured>, String> {
        std::fs::create_dir_all(&self.folder).map_err(|e| format!("{}: {e}", self.folder.display()))?;
        let length = Length { time: self.time, cpu: self.cpu, jobs: self.jobs };
        let mut campaigns = Vec::new();
        for n in 0..u64::from(self.seeds) {
            for compiler in compilers {
                let settings = self.settings(compiler, n);
                let path = self.folder.join(format!("{}-{}.db", compiler.name, settings.seed));
                campaigns.push(campaign(compiler, &settings, &path, &length, stop)?);
                if stop.load(Ordering::Relaxed) {
                    return Err("stopped; the same command continues".to_string());
                }
            }
        }
        Ok(campaigns)
    }

    /// What workers of a store have measured, if they have done all of it.
    fn by_workers(
        &self,
        place: &Place,
        compilers: &[Compiler],
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Measured>>, String> {
        let fail = |e: StoreError| e.to_string();
        let seeds = 0..u64::from(self.seeds);
        let order = |(n, compiler): (u64, &Compiler)| Order {
            settings: self.settings(compiler, n),
            seconds: self.time.as_secs_f64(),
            cpu: self.cpu,
            jobs: self.jobs,
            version: env!("CARGO_PKG_VERSION").to_string(),
        };
        let orders: Vec<Order> =
            seeds.flat_map(|n| compilers.iter().map(move |c| (n, c))).map(order).collect();
        let mut store = Store::shared(place).map_err(fail)?;
        loop {
            let all = store.order_all(&orders, self.priority.into()).map_err(fail)?;
            let done: Vec<&String> = all.iter().filter_map(|o| o.result.as_ref()).collect();
            if done.len() == orders.len() {
                let read = |text: &&String| serde_json::from_str(text).map_err(|e| format!("{place}: {e}"));
                return done.iter().map(read).collect::<Result<Vec<_>, _>>().map(Some);
            }
            if !self.wait || stop.load(Ordering::Relaxed) {
                outln!(
                    "{} of {} campaigns are measured; the workers of {place} do the others, and the same command makes the tables",
                    done.len(),
                    orders.len()
                );
                return Ok(None);
            }
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// A campaign that was ordered; who ordered it holds the other end of the input.
    fn ordered(&self, path: &Path) -> Done {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
        let order: Order = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        let stop = stop_flag();
        let watched = Arc::clone(&stop);
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            watched.store(true, Ordering::Relaxed);
        });
        let named = order.settings.compilers.last().and_then(|c| c.command.first());
        let compiler = Compiler::find(named.ok_or_else(|| wrong("it has no compiler".to_string()))?)?;
        let time = Duration::try_from_secs_f64(order.seconds).map_err(|e| wrong(e.to_string()))?;
        let file = self.folder.join("campaign.db");
        let length = Length { time, cpu: order.cpu, jobs: order.jobs };
        let measured = campaign(&compiler, &order.settings, &file, &length, &stop)?;
        if stop.load(Ordering::Relaxed) {
            return Err("stopped".to_string());
        }
        let text = serde_json::to_string(&measured).map_err(|e| e.to_string())?;
        write_file(self.json.as_deref().unwrap_or(Path::new("-")), &text)?;
        Ok(true)
    }
}

/// How long a campaign is.
struct Length {
    time: Duration,
    /// Whether that is CPU time.
    cpu: bool,
    jobs: u16,
}

/// The campaign of a compiler and a seed: run, continued, or only read.
fn campaign(
    compiler: &Compiler,
    settings: &Settings,
    path: &Path,
    length: &Length,
    stop: &AtomicBool,
) -> Result<Measured, String> {
    let (mut store, campaign) = open(path, settings)?;
    let fail = |e: StoreError| e.to_string();
    let spent = if length.cpu { store.before().cpu } else { store.before().clock };
    let left = length.time.saturating_sub(Duration::from_secs_f64(spent.max(0.0)));
    let finished = format!("{}{}", length.time.as_secs(), if length.cpu { " of CPU time" } else { "" });
    let done = store.meta("finished").map_err(fail)?.is_some_and(|t| t == finished);
    if !done && !left.is_zero() {
        try_testbeds(&campaign.testbeds, &Named::all(settings), &settings.limits())?;
        let mut line = LiveLine::default();
        line.say(&format!("{} {}, seed {}", compiler.name, compiler.version, settings.seed));
        let options = Options {
            jobs: length.jobs.into(),
            time: (!length.cpu).then_some(left),
            cpu_time: length.cpu.then_some(left),
            count: None,
            batch: settings.batch,
            reducer: None,
            shared: None,
        };
        let result = workers::run(&campaign, &mut store, &options, stop, |event| match event {
            Event::Progress(progress) => line.show(progress),
            Event::Broken(testbed, why) => line.say(&format!("{testbed} does not work: {why}")),
            Event::Verdict(..) => {}
        });
        line.end();
        result.map_err(|e| e.to_string())?;
        if !stop.load(Ordering::Relaxed) {
            store.save_meta("finished", &finished).map_err(fail)?;
        }
    }
    errln!("{} {}, seed {}: recognising verdicts", compiler.name, compiler.version, settings.seed);
    recognise(&mut store, &campaign).map_err(fail)?;
    Measured::read(&store, compiler).map_err(fail)
}

fn read(path: &PathBuf) -> Result<Yardstick, String> {
    let wrong = |why: String| format!("{}: {why}; --against is what --json wrote", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))
}
