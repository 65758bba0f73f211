//! The command line of `rvvgen`.

use clap::{Args, Parser, Subcommand, ValueEnum};
use rvv_intrinsics::Extension;
use rvv_ir::VlChoice;
use rvvgen::{Category, Human, Lengths, Mutator, POLICIES, Scheduler, Selection, Settings, Sizes, Weights};
use std::path::PathBuf;
use std::sync::Arc;

/// Generates well-defined programs of RVV intrinsics, with their expected output.
///
/// Each program is a file in a small language (program.ir), the same as C or as an ELF, and the expected
/// output at each VLEN: every defined bit, `?` for what the specification leaves open. The same seed, number,
/// options and version give the same files, on any machine. Exit codes: 0 good, 1 a run printed something
/// wrong or coverage is incomplete, 2 the command line or a file is wrong or cannot be written, 141 its
/// output was closed.
#[derive(Parser, Debug)]
#[command(
    name = "rvvgen",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  rvvgen --seed 7 -o out                            out/program.ir, program.c, expected.128.txt …
  rvvgen --seed 7 --emit elf -o out && rvvsim out/program.elf --vlen 256 \\
    | rvvgen check out/program.ir --vlen 256        a run without any compiler, judged
  rvvgen --emit self-check --vlen 256 -o out        a C file for hardware: exits with 0, or says the error
  rvvgen --emit c --libc -o out                     a C program that prints text, for people and bug reports
  rvvgen --intrinsics 'vfw*_rm' --count 100 -o out  a hundred programs about some intrinsics
  rvvgen --policy spill --policy rounding -o out    biased programs; `rvvgen policies` lists them
  rvvgen coverage --count 1000                      what a thousand programs reach
  rvvgen mutate out/program.ir --count 10 -o more   ten mutants of a program, with expected outputs
  rvvgen stats --count 1000                         data flow, loops and control flow of a thousand
  rvvgen learn ~/src/library --out human.toml       count what people do
  rvvgen import kernel.c -o out                     make programs of their functions
  rvvgen coverage --executed                        run all intrinsics on the built-in emulator"
)]
pub struct Options {
    #[command(subcommand)]
    pub command: Option<Command>,

    #[command(flatten)]
    pub generate: GenerateOptions,
}

/// What can be done besides generating programs.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compare the output of a run with the expected output: exit 0 if every defined bit is right, 1 if not.
    Check(CheckOptions),
    /// Count the intrinsics that programs reach.
    Coverage(CoverageOptions),
    /// Count what a compiler vectorises of plain C, by policy.
    Vectorised(VectorisedOptions),
    /// Write programs that must not compile, one defect each, and judge a compiler by them.
    Invalid(InvalidOptions),
    /// Change programs a little, again and again: each mutant is valid and has its expected output.
    Mutate(MutateOptions),
    /// Measure what programs are like: data flow, loops, control flow.
    Stats(StatsOptions),
    /// Count what people do with intrinsics in C and C++, as a table for `--policy human`.
    Learn(LearnOptions),
    /// Make programs of functions in C that use intrinsics, each with its expected output.
    Import(ImportOptions),
    /// List the named policies and the weights.
    Policies,
}

/// Where sources are and how they are read.
#[derive(Args, Debug)]
pub struct SourceOptions {
    /// Folders and files of C and C++.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Folders to look for headers in, besides the file's and those above it. Repeatable.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    pub include: Vec<PathBuf>,

    /// Define a macro: NAME or NAME=VALUE. Repeatable.
    #[arg(short = 'D', long = "define", value_name = "NAME")]
    pub define: Vec<String>,

    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Learning from real code.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvgen learn ~/src/OpenBLAS ~/src/XNNPACK --out human.toml   a table of two libraries
  rvvgen --policy human --table human.toml -o out              programs by it
  rvvgen learn ~/src/mylib --compare --table human.toml        what the library does beside the table")]
pub struct LearnOptions {
    #[command(flatten)]
    pub source: SourceOptions,

    /// Write the table to this file.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// The version of a library, for the table: NAME=COMMIT, where NAME is a folder's name. Repeatable.
    #[arg(long, value_name = "NAME=COMMIT")]
    pub commit: Vec<String>,

    /// Print the shares beside those of a table: rvvgen's own, or that of --table.
    #[arg(long)]
    pub compare: bool,

    /// The table to compare with.
    #[arg(long, value_name = "FILE", requires = "compare")]
    pub table: Option<PathBuf>,

    /// Write no progress, and name what could not be read.
    #[arg(short, long)]
    pub verbose: bool,
}

/// Importing.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvgen import kernel.c -o out        out/NAME/program.ir, program.c, expected.128.txt … for each function
  rvvgen import ~/src/OpenBLAS         what share of its functions can be imported, and why the rest cannot
  rvvfuzz replay out/saxpy/program.ir  judge every compiler by it")]
pub struct ImportOptions {
    #[command(flatten)]
    pub source: SourceOptions,

    /// Write the programs to this folder, each to one of its own.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Only functions with this name. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub function: Vec<String>,

    /// Seed of the data.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Elements that a length parameter stands for.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub len: u64,

    /// The VLENs at which programs must have a meaning, in bits: powers of two, 128 to 65536.
    #[arg(long, value_name = "BITS", value_delimiter = ',', default_value = "128,256,512,1024",
          value_parser = parse_vlen)]
    pub vlen: Vec<u32>,

    /// Name every function that cannot be imported, and why.
    #[arg(short, long)]
    pub verbose: bool,

    /// Rewrite the table of shares in a document, between its marks.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub markdown: Option<PathBuf>,
}

/// Writing programs.
#[derive(Args, Debug)]
pub struct GenerateOptions {
    /// The folder to write to; it is created if missing.
    #[arg(short, long, value_name = "DIR", required = true)]
    pub output: Option<PathBuf>,

    /// The number of the first program. Programs of one seed call different intrinsics.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub number: u64,

    /// The number of programs. If more than one, each gets a folder: DIR/0000, DIR/0001, …
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub count: u64,

    /// Formats to write besides program.ir. Repeatable.
    #[arg(long, value_enum, default_value = "c", value_delimiter = ',')]
    pub emit: Vec<Form>,

    /// Source of the expected output.
    #[arg(long, value_enum, default_value_t = Oracle::Internal)]
    pub oracle: Oracle,

    /// Use the C library: the C program prints text with stdio.
    #[arg(long)]
    pub libc: bool,

    /// The VLENs at which programs must have a meaning, in bits: powers of two, 128 to 65536.
    #[arg(long, value_name = "BITS", value_delimiter = ',', default_value = "128,256,512,1024",
          value_parser = parse_vlen)]
    pub vlen: Vec<u32>,

    /// The vl that vsetvl returns for VLMAX < AVL < 2*VLMAX: max, or half (ceil(AVL/2)).
    #[arg(long, value_name = "CHOICE", default_value = "max", value_parser = parse_vl)]
    pub vl: VlChoice,

    #[command(flatten)]
    pub style: StyleOptions,
}

/// What programs are like.
#[derive(Args, Debug)]
pub struct StyleOptions {
    /// Seed of all random choices.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Only intrinsics whose name matches: a pattern without `__riscv_`, e.g. 'vfw*_rm'. Repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "Selection")]
    pub intrinsics: Vec<String>,

    /// No intrinsics whose name matches. Repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = "Selection")]
    pub except: Vec<String>,

    /// Only intrinsics of this list: v, bf16 or crypto. Repeatable.
    #[arg(long, value_name = "LIST", value_parser = parse_extension, help_heading = "Selection",
          value_delimiter = ',')]
    pub extension: Vec<Extension>,

    /// Only names of this category: explicit, explicit-policy, overloaded, overloaded-policy. Repeatable.
    #[arg(long, value_name = "KIND", value_parser = parse_category, help_heading = "Selection",
          value_delimiter = ',')]
    pub category: Vec<Category>,

    /// Only types of this SEW/LMUL: 1, 2, 4, … 64. Repeatable.
    #[arg(long, value_name = "N", value_parser = parse_ratio, help_heading = "Selection",
          value_delimiter = ',')]
    pub ratio: Vec<u32>,

    /// Operations per program, not counting loads and stores, about: a number, or a range from which small
    /// ones are drawn more often.
    #[arg(long, value_name = "N|MIN-MAX", default_value_t = Sizes::OPERATIONS, help_heading = "Style",
          value_parser = parse_ops)]
    pub ops: Sizes,

    /// Elements per buffer: a number or a range. Without it, such that strip loops run never, once, twice
    /// and often at every VLEN.
    #[arg(long, value_name = "N|MIN-MAX", help_heading = "Style", value_parser = parse_len)]
    pub len: Option<Sizes>,

    /// A named generation policy; see `rvvgen policies`. Repeatable; later ones override earlier ones.
    #[arg(long, value_name = "NAME", value_parser = parse_policy, help_heading = "Style")]
    pub policy: Vec<String>,

    /// The table that the policy `human` draws from: what `rvvgen learn DIR --out FILE` has written. Without it,
    /// that of public libraries.
    #[arg(long, value_name = "FILE", help_heading = "Style")]
    pub table: Option<PathBuf>,

    /// A TOML file of weights from 0 to 1, `name = weight`; see `rvvgen policies`.
    #[arg(long, value_name = "FILE", help_heading = "Style")]
    pub weights: Option<PathBuf>,

    /// Order of loads and stores: all-in (first and last), unit (at their operation), random. The output is
    /// the same.
    #[arg(long, value_name = "ORDER", default_value = "unit", value_parser = parse_scheduler,
          help_heading = "Style")]
    pub scheduler: Scheduler,
}

/// Judging a run.
#[derive(Args, Debug)]
pub struct CheckOptions {
    /// The program.
    pub program: PathBuf,

    /// The VLEN it ran at, in bits.
    #[arg(long, value_name = "BITS", value_parser = parse_vlen, required_unless_present = "expected")]
    pub vlen: Option<u32>,

    /// The vl that vsetvl returned in the run: max or half. With the cryptographic extensions an emulator may
    /// not halve every vl: run it without them (--isa rv64gcv).
    #[arg(long, value_name = "CHOICE", default_value = "max", value_parser = parse_vl)]
    pub vl: VlChoice,

    /// The expected output, instead of evaluating the program: an expected.VLEN.txt.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["vlen", "vl"])]
    pub expected: Option<PathBuf>,

    /// The output of the run, instead of standard input.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Counting.
#[derive(Args, Debug)]
pub struct CoverageOptions {
    /// The number of programs.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub count: u64,

    /// The VLEN at which they are evaluated.
    #[arg(long, value_name = "BITS", default_value = "128", value_parser = parse_vlen)]
    pub vlen: u32,

    /// Print JSON.
    #[arg(long)]
    pub json: bool,

    /// Run programs on rvvsim until every selected intrinsic is tested: what it writes changes a defined bit
    /// of the output, and the output is as expected, at 4 VLENs and under 2 agnostic policies.
    #[arg(long, conflicts_with_all = ["curve", "count", "vlen"])]
    pub executed: bool,

    /// Show how coverage grows with the number of programs, for each category.
    #[arg(long)]
    pub curve: bool,

    /// Count def-use pairs: which operation's result was which operand of which other operation.
    #[arg(long, conflicts_with_all = ["curve", "executed"])]
    pub pairs: bool,

    /// Draw that curve.
    #[arg(long, value_name = "FILE", requires = "curve")]
    pub svg: Option<PathBuf>,

    /// Rewrite the table of that curve in a document, between its marks.
    #[arg(long, value_name = "FILE", requires = "curve", hide_short_help = true)]
    pub markdown: Option<PathBuf>,

    #[command(flatten)]
    pub style: StyleOptions,
}

/// Counting vectorised loops.
#[derive(Args, Debug)]
pub struct VectorisedOptions {
    /// The compiler, gcc or clang: a path, or a name on PATH. It is asked for -O3.
    #[arg(long, value_name = "NAME")]
    pub compiler: String,

    /// A policy of plain C: loops unless one is given. Repeatable. `unguided` is what they are compared with.
    #[arg(long, value_name = "NAME", value_parser = parse_policy)]
    pub policy: Vec<String>,

    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// The number of seeds: medians are over them.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=10))]
    pub seeds: u64,

    /// How much C of each seed: programs are added until they have so many assignments and calls.
    #[arg(long, value_name = "N", default_value_t = 4000)]
    pub assignments: usize,

    /// Rewrite the tables in a document, between their marks.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub markdown: Option<PathBuf>,
}

/// Writing programs that must not compile.
#[derive(Args, Debug)]
pub struct InvalidOptions {
    /// The number of programs; they go through all kinds of defects in turn.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub count: u64,

    /// Compile each with this compiler, gcc or clang, with and without the defect. Exit code 1 if it crashes,
    /// does not end, or accepts a defect.
    #[arg(long, value_name = "NAME", required_unless_present = "output")]
    pub compiler: Option<String>,

    /// Write them to this folder: DIR/0000/invalid.c, valid.c, defect.txt, …
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Seconds after which a compiler hangs.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub limit: u64,

    #[command(flatten)]
    pub style: StyleOptions,
}

/// Mutating programs.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvgen mutate program.ir --count 100 -o mutants        DIR/0000/program.ir, expected.128.txt, …
  rvvgen mutate a.ir --with b.ir --mutator splice -o d   statements of b.ir in a.ir
  rvvgen mutate a.ir --generations 20 -o d               mutants of mutants, each near the last change
  rvvgen mutate --count 1000 --run                       mutants of generated programs, run on rvvsim
  rvvgen mutate --count 800 --stats                      what becomes of each mutator's attempts")]
pub struct MutateOptions {
    /// The program. Without it, programs are generated, by the seed and the style below.
    pub program: Option<PathBuf>,

    /// The folder to write to: a folder for each mutant.
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["stats", "run"])]
    pub output: Option<PathBuf>,

    /// A second program, from which statements are taken.
    #[arg(long, value_name = "FILE")]
    pub with: Option<PathBuf>,

    /// The number of mutants; with --stats, of rounds in which every mutator is tried once.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub count: u64,

    /// Mutations of each mutant, one after the other, each near what the one before it changed.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub generations: u64,

    /// Only by this mutator. Repeatable; they take turns.
    #[arg(long, value_name = "NAME", value_parser = parse_mutator, value_delimiter = ',')]
    pub mutator: Vec<Mutator>,

    /// Try every mutator, and show what becomes of it: `applies` is the share of programs that have something
    /// to change; of those, valid as made, valid after something without meaning was taken out, unchanged, and
    /// none; of mutants, those whose output depends on the change, and statements taken out of each.
    #[arg(long, conflicts_with_all = ["output", "run", "generations"])]
    pub stats: bool,

    /// Run each mutant on rvvsim at every VLEN, and compare. Exit code 1 if one prints something wrong.
    #[arg(long)]
    pub run: bool,

    /// Print JSON.
    #[arg(long)]
    pub json: bool,

    /// Rewrite the table of --stats in a document, between its marks.
    #[arg(long, value_name = "FILE", requires = "stats", hide_short_help = true)]
    pub markdown: Option<PathBuf>,

    /// Formats to write besides program.ir. Repeatable.
    #[arg(long, value_enum, default_value = "ir", value_delimiter = ',')]
    pub emit: Vec<Form>,

    /// The VLENs at which mutants must have a meaning, in bits: powers of two, 128 to 65536.
    #[arg(long, value_name = "BITS", value_delimiter = ',', default_value = "128,256,512,1024",
          value_parser = parse_vlen)]
    pub vlen: Vec<u32>,

    /// The vl that vsetvl returns for VLMAX < AVL < 2*VLMAX: max, or half (ceil(AVL/2)).
    #[arg(long, value_name = "CHOICE", default_value = "max", value_parser = parse_vl)]
    pub vl: VlChoice,

    #[command(flatten)]
    pub style: StyleOptions,
}

/// Measuring.
#[derive(Args, Debug)]
pub struct StatsOptions {
    /// The number of programs.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub count: u64,

    /// The VLENs at which programs must have a meaning, in bits: powers of two, 128 to 65536.
    #[arg(long, value_name = "BITS", value_delimiter = ',', default_value = "128,256,512,1024",
          value_parser = parse_vlen)]
    pub vlen: Vec<u32>,

    /// Print JSON.
    #[arg(long)]
    pub json: bool,

    /// Read the programs' C as `rvvgen learn` reads that of people, and print its shares beside those of the
    /// table (--table, or that of public libraries), with the distance of each.
    #[arg(long, conflicts_with = "json")]
    pub beside: bool,

    /// Rewrite the table of figures in a document, between its marks.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub markdown: Option<PathBuf>,

    #[command(flatten)]
    pub style: StyleOptions,
}

/// A format of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Form {
    /// program.c: passes its output buffers to write(2); needs no library.
    C,
    /// program.cpp: the same in C++, with references and templates.
    Cpp,
    /// self-check.c: contains the expected values and compares.
    SelfCheck,
    /// program.elf: machine code, without a compiler.
    Elf,
    /// program.ir alone.
    Ir,
}

/// Source of the expected output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Oracle {
    /// The reference evaluator: expected.VLEN.txt.
    Internal,
    /// None: the C program prints checksums of its defined bits, for comparing runs.
    Differential,
    /// None: the program prints its output.
    None,
}

fn parse_vlen(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(vlen) if vlen.is_power_of_two() && (128..=65536).contains(&vlen) => Ok(vlen),
        _ => Err("a VLEN is a power of two from 128 to 65536".to_string()),
    }
}

fn parse_ratio(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(ratio) if ratio.is_power_of_two() && ratio <= 64 => Ok(ratio),
        _ => Err("SEW/LMUL is 1, 2, 4, 8, 16, 32 or 64".to_string()),
    }
}

fn parse_sizes(text: &str, most: usize) -> Result<Sizes, String> {
    let sizes: Sizes = text.parse()?;
    if sizes.most > most {
        return Err(format!("at most {most}"));
    }
    Ok(sizes)
}

fn parse_ops(text: &str) -> Result<Sizes, String> {
    parse_sizes(text, 1000)
}

fn parse_len(text: &str) -> Result<Sizes, String> {
    parse_sizes(text, 100_000)
}

fn one_of<T>(found: Option<T>, known: impl Iterator<Item = &'static str>) -> Result<T, String> {
    found.ok_or_else(|| format!("there are {}", known.collect::<Vec<_>>().join(", ")))
}

fn parse_vl(text: &str) -> Result<VlChoice, String> {
    one_of(VlChoice::from_name(text), VlChoice::ALL.into_iter().map(VlChoice::name))
}

fn parse_extension(text: &str) -> Result<Extension, String> {
    one_of(Extension::from_name(text), Extension::ALL.into_iter().map(Extension::name))
}

fn parse_category(text: &str) -> Result<Category, String> {
    one_of(Category::from_name(text), Category::ALL.into_iter().map(Category::name))
}

fn parse_scheduler(text: &str) -> Result<Scheduler, String> {
    one_of(Scheduler::from_name(text), Scheduler::ALL.into_iter().map(Scheduler::name))
}

fn parse_mutator(text: &str) -> Result<Mutator, String> {
    one_of(Mutator::from_name(text), Mutator::ALL.iter().map(|m| m.name()))
}

fn parse_policy(text: &str) -> Result<String, String> {
    let found = POLICIES.iter().any(|(name, ..)| *name == text).then(|| text.to_string());
    one_of(found, POLICIES.iter().map(|(name, ..)| *name))
}

impl StyleOptions {
    /// Which intrinsics.
    pub fn selection(&self) -> Selection {
        let all = Selection::default();
        let or = |given: &[_], all: Vec<_>| if given.is_empty() { all } else { given.to_vec() };
        Selection {
            names: self.intrinsics.iter().map(|p| bare(p)).collect(),
            except: self.except.iter().map(|p| bare(p)).collect(),
            extensions: if self.extension.is_empty() { all.extensions } else { self.extension.clone() },
            categories: or(&self.category, all.categories),
            ratios: self.ratio.clone(),
        }
    }

    /// What programs are like.
    ///
    /// # Errors
    /// A sentence on what is wrong with a pattern or the file of weights.
    pub fn settings(&self, vlens: Vec<u32>, vl: VlChoice) -> Result<Settings, String> {
        if let Some(pattern) = self.selection().idle_pattern() {
            return Err(format!(
                "no intrinsic is called `{pattern}`; patterns are of explicit names without `__riscv_`, \
                 with * and ?: \
                 'vfw*_rm'"
            ));
        }
        let human = match &self.table {
            Some(path) => Some(Arc::new(Human::new(crate::learn::read_table(path)?))),
            None => None,
        };
        let mut weights = Weights::default();
        for name in &self.policy {
            weights.apply(name);
        }
        if let Some(path) = &self.weights {
            let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
            let text = std::fs::read_to_string(path).map_err(|e| at(&e))?;
            weights.read(&text).map_err(|e| at(&e))?;
        }
        Ok(Settings {
            len: self.len.map_or(Lengths::Strips, Lengths::Range),
            vlens,
            vls: vec![vl],
            weights,
            scheduler: self.scheduler,
            selection: self.selection(),
            human,
        })
    }
}

/// People paste whole names.
fn bare(pattern: &str) -> String {
    pattern.strip_prefix("__riscv_").unwrap_or(pattern).to_string()
}
