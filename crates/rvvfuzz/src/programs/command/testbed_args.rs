//! Options that say which testbeds there are.

use crate::programs::judge::probe::Named;
use crate::programs::settings::{CompilerSettings, EmulatorSettings, Settings, setups};
use crate::programs::testbed::compiler::Compiler;
use crate::programs::testbed::file::TestbedsFile;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug, Default)]
pub(super) struct TestbedArgs {
    /// Use only the built-in compiler (the direct lowering) and rvvsim
    #[arg(long, conflicts_with_all = ["testbeds", "compilers", "qemu", "levels", "flags"])]
    pub builtin: bool,
    /// A file that describes compilers and emulators; `rvvfuzz doctor` shows an example
    #[arg(long, value_name = "FILE")]
    pub testbeds: Option<PathBuf>,
    /// gcc and clang by name or path, besides the direct lowering; `none` for no other [default: all on PATH]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub compilers: Option<Vec<String>>,
    /// QEMU by name or path; `none` for no QEMU [default: qemu-riscv64 if it is on PATH]
    #[arg(long, value_name = "PATH")]
    pub qemu: Option<String>,
    /// Optimisation levels: -O0,-O2,'-O3 -flto' [default: -O0,-O2,-O3]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub levels: Option<Vec<String>>,
    /// Flags that take turns, one of these in each batch besides the levels, as far as a compiler knows them.
    /// What begins with + adds to -march: '-O2 +zvl256b','-O3 -fPIC'; `none` for none [default: a list of
    /// levels, extensions, tuning and languages, unless --levels is given]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, value_name = "FLAGS")]
    pub flags: Option<Vec<String>>,
    /// VLENs [default: 128,256,512,1024]
    #[arg(long, value_delimiter = ',')]
    pub vlen: Option<Vec<u32>>,
}

impl TestbedArgs {
    /// Nothing is said about testbeds.
    pub fn is_empty(&self) -> bool {
        let TestbedArgs { builtin, testbeds, compilers, qemu, levels, flags, vlen } = self;
        !builtin
            && testbeds.is_none()
            && compilers.is_none()
            && qemu.is_none()
            && levels.is_none()
            && flags.is_none()
            && vlen.is_none()
    }

    /// Puts the testbeds into the settings. `note` reports what was found and is left out, and why.
    /// Returns what was asked for by name: it must be there, and a first program must run on it.
    pub fn apply(&self, settings: &mut Settings, note: &mut dyn FnMut(String)) -> Result<Named, String> {
        let file = self.testbeds.as_deref().map(TestbedsFile::read).transpose()?;
        let file = file.unwrap_or_default();
        let mut named = Named::default();
        // All that is missing is reported at once.
        let mut missing = Vec::new();
        settings.compilers.clear();
        settings.emulators.clear();
        if file.builtin.unwrap_or(true) {
            settings.compilers.push(CompilerSettings::from(&Compiler::direct()));
            settings.emulators.push(EmulatorSettings::rvvsim());
        }
        let limits = settings.limits();
        for entry in &file.compiler {
            match entry.find(&limits) {
                Ok(found) => {
                    named.compilers.push(found.name.clone());
                    settings.compilers.push(found);
                }
                Err(why) => {
                    let name = entry.name.as_deref().unwrap_or(&entry.command);
                    missing.push(format!("compiler `{name}` of testbeds.toml: {why}"));
                }
            }
        }
        match &self.compilers {
            Some(names) => {
                for name in names.iter().filter(|n| !["none", "direct"].contains(&n.as_str())) {
                    match Compiler::find(name) {
                        Ok(found) => {
                            named.compilers.push(found.name.clone());
                            settings.compilers.push(CompilerSettings::from(&found));
                        }
                        Err(why) => missing.push(format!("compiler `{name}`: {why}")),
                    }
                }
            }
            // A file with compilers says which.
            None if file.compiler.is_empty() && !self.builtin => {
                let (found, refused) = Compiler::find_all();
                settings.compilers.extend(found.iter().map(CompilerSettings::from));
                refused.iter().for_each(|(name, why)| note(format!("compiler `{name}` is left out: {why}")));
            }
            None => {}
        }
        match self.qemu.as_deref() {
            Some("none") => {}
            Some(name) => match EmulatorSettings::qemu(name) {
                Ok(qemu) => {
                    named.emulators.push(qemu.name.clone());
                    settings.emulators.push(qemu);
                }
                Err(why) => missing.push(format!("QEMU: {why}")),
            },
            None if !self.builtin && rvv_tools::find::on_path("qemu-riscv64").is_some() => {
                match EmulatorSettings::qemu("qemu-riscv64") {
                    Ok(qemu) => settings.emulators.push(qemu),
                    Err(why) => note(format!("QEMU is left out: {why}")),
                }
            }
            None => {}
        }
        named.emulators.extend(file.emulator.iter().map(|e| e.name.clone()));
        settings.emulators.extend(file.emulator.iter().map(EmulatorSettings::from));
        if let Some(levels) = self.levels.clone().or(file.levels) {
            settings.levels = levels;
            settings.rotated.clear();
            named.levels = true;
        }
        if let Some(flags) = &self.flags {
            settings.rotated = flags.iter().filter(|f| *f != "none").cloned().collect();
        }
        if let Some(vlens) = self.vlen.clone().or(file.vlens) {
            settings.setups = setups(&vlens);
        }
        same_names(settings)?;
        if missing.is_empty() {
            return Ok(named);
        }
        missing.push(
            "nothing was run: name what is there; `rvvfuzz doctor` lists it, and what would add more".into(),
        );
        Err(missing.join("\n"))
    }
}

/// Compilers by their names or paths.
///
/// # Errors
/// All that are missing, and why.
pub(super) fn find_compilers(names: &[String]) -> Result<Vec<Compiler>, String> {
    let found: Vec<Result<Compiler, String>> = names
        .iter()
        .map(|name| Compiler::find(name).map_err(|why| format!("compiler `{name}`: {why}")))
        .collect();
    let missing: Vec<String> = found.iter().filter_map(|f| f.as_ref().err().cloned()).collect();
    match missing.is_empty() {
        true => Ok(found.into_iter().flatten().collect()),
        false => Err(missing.join("\n") + "\nnothing was run: `rvvfuzz doctor` lists what is there"),
    }
}

/// Two of one name could not be told apart.
fn same_names(settings: &Settings) -> Result<(), String> {
    for (n, compiler) in settings.compilers.iter().enumerate() {
        if settings.compilers[..n].iter().any(|c| c.name == compiler.name) {
            return Err(format!(
                "two compilers are called `{}`; give one another `name` in testbeds.toml",
                compiler.name
            ));
        }
    }
    Ok(())
}

/// Whether the compilers and emulators of a stored campaign are still what they were.
pub(super) fn still_there(settings: &Settings) -> Result<(), String> {
    let missing = lacking(settings)?;
    match missing.into_iter().next() {
        Some((_, why)) => Err(why),
        None => Ok(()),
    }
}

/// The compilers of a stored campaign that this machine does not have, by their places, and why.
///
/// # Errors
/// An emulator that it does not have.
pub(super) fn lacking(settings: &Settings) -> Result<Vec<(usize, String)>, String> {
    let mut missing = Vec::new();
    for (place, compiler) in settings.compilers.iter().enumerate() {
        let Some(command) = compiler.command.first() else { continue };
        let was = format!("the campaign was begun with `{}` {}", compiler.name, compiler.version);
        if compiler.family == "custom" {
            if rvv_tools::find::on_path(command).is_none() {
                missing.push((place, format!("{was}, and `{command}` is not on PATH")));
            }
            continue;
        }
        match Compiler::find(command) {
            Ok(is) if is.version == compiler.version => {}
            Ok(is) => {
                missing.push((place, format!("{was}, which is {} now; begin another campaign", is.version)))
            }
            Err(why) => missing.push((place, format!("{was}, which cannot be used now: {why}"))),
        }
    }
    for emulator in settings.emulators.iter().filter(|e| e.name == "qemu") {
        let was = format!("the campaign was begun with QEMU {}", emulator.version);
        let path = emulator.command.first().map_or("", String::as_str);
        let is =
            EmulatorSettings::qemu(path).map_err(|why| format!("{was}, which cannot be used now: {why}"))?;
        if is.version != emulator.version {
            return Err(format!("{was}, which is {} now; begin another campaign", is.version));
        }
    }
    Ok(missing)
}
