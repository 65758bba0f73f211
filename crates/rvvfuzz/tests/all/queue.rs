//! Work of every kind in one queue: programs, reductions, bisections and measurements, on a file and on a
//! server.

use crate::fleet::{PASSWORD, place, run, rvvfuzz, said};
use rvvfuzz::programs::judge::outcome::{Kind, Outcome};
use rvvfuzz::programs::judge::vote::{Culprit, Verdict};
use rvvfuzz::programs::settings::{CompilerSettings, Settings};
use rvvfuzz::programs::store::lease::{Able, Leases, Next, Worked};
use rvvfuzz::programs::store::orders::Order;
use rvvfuzz::programs::store::{BatchRecord, Place, ProgramRecord, Reduction, Store};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

fn settings() -> Settings {
    let mut settings = Settings { batch: 2, schedules: vec!["unit".into()], ..Settings::default() };
    let gcc = CompilerSettings { name: "gcc".into(), family: "gcc".into(), ..settings.compilers[0].clone() };
    settings.compilers.push(gcc);
    settings
}

fn batch(first: u64, rest: Option<Vec<usize>>) -> BatchRecord {
    let verdict = Verdict {
        testbeds: vec![0],
        ..Verdict::new(Culprit::Compiler("gcc".into()), Kind::BuildCrash, "in f".into())
    };
    let program = |number| ProgramRecord {
        number,
        outcomes: vec![Some(Outcome::BuildCrash("in f".into())); 2],
        ir: Some("rvv-ir 1\n".into()),
        verdicts: vec![verdict.clone()],
    };
    BatchRecord {
        first,
        count: 2,
        programs: vec![program(first), program(first + 1)],
        rest,
        ..BatchRecord::default()
    }
}

fn order(seed: u64) -> Order {
    Order {
        settings: Settings { seed, ..settings() },
        seconds: 2.0,
        cpu: false,
        jobs: 1,
        version: "1".into(),
    }
}

fn reduction() -> Reduction {
    let text = |t: &str| Some(t.to_string());
    Reduction { signature: text("s"), ir: text("rvv-ir 1\n"), c: None, report: text("# r"), bisect: true }
}

/// What waits is taken by priority, once, by who can do it; what the dead had is anybody's.
fn by_priority(place: &Place) {
    drop(Store::create(place, &settings(), &["a".into(), "b".into()]).unwrap());
    let minute = Duration::from_secs(60);
    let all = Able { all: 2, lacks: Vec::new() };
    let join = |seconds| Leases::join(place, Duration::from_secs(seconds)).unwrap().0.able(all.clone());
    let mut store = Store::shared(place).unwrap();
    let save = |store: &mut Store, leases: &Leases, record: &BatchRecord| {
        let worked = Worked { worker: leases.worker(), seconds: 60.0, reduces: true, able: leases.ability() };
        store.save_leased(record, 1.0, &worked).unwrap()
    };
    // One machine lacks the second compiler, and leaves a rest.
    let poor = join(60).able(Able { all: 2, lacks: vec![1] });
    assert_eq!(poor.take(9).unwrap(), Next::Programs(0, 2));
    let ids = save(&mut store, &poor, &batch(0, None)).unwrap();
    assert_eq!((ids.len(), poor.take(9).unwrap()), (2, Next::Programs(2, 2)));
    // Somebody orders measurements, twice the same.
    let ordered = store.order_all(&[order(1), order(2)], 0).unwrap();
    assert_eq!(store.order_all(&[order(2), order(1)], 0).unwrap()[1], ordered[0]);
    let wanted = store.order_all(&[order(3)], 5).unwrap()[0].id;
    // The machine that is left takes it all, in this order; what it cannot do, it leaves.
    let mut rich = join(60).measuring(|o| o.settings.seed != 2);
    poor.release().unwrap();
    assert_eq!(rich.take(9).unwrap(), Next::Programs(2, 2));
    // A machine that leaves soon begins no measurement.
    assert_eq!(rich.take_within(9, Some(Duration::from_secs(1))).unwrap(), Next::Rest(0, 2, vec![1]));
    assert_eq!(rich.take(9).unwrap(), Next::Measure(wanted, Box::new(order(3))));
    assert_eq!(rich.take(9).unwrap(), Next::Measure(ordered[0].id, Box::new(order(1))));
    assert_eq!(rich.take(9).unwrap(), Next::Programs(4, 2));
    // Nor is one that comes after everything.
    let least = store.order_all(&[order(5)], -40).unwrap()[0].id;
    assert_eq!(rich.take(9).unwrap(), Next::Programs(6, 2));
    rich.give_back(least).unwrap();
    // One that failed here is not taken here again.
    rich.give_back(wanted).unwrap();
    assert_eq!(rich.take(9).unwrap(), Next::Programs(8, 2));
    let other = join(1).measuring(|_| true);
    assert_eq!(other.take(9).unwrap(), Next::Measure(wanted, Box::new(order(3))));
    // What was measured is stored once, by who has it.
    assert!(!store.save_measurement(wanted, "{}", rich.worker()).unwrap());
    assert!(store.save_measurement(wanted, "{\"x\":1}", other.worker()).unwrap());
    assert!(!store.save_measurement(wanted, "{\"x\":2}", other.worker()).unwrap());
    let results: Vec<_> =
        store.order_all(&[order(3), order(2)], 0).unwrap().into_iter().map(|o| o.result).collect();
    assert_eq!(results, [Some("{\"x\":1}".to_string()), None]);
    // Of two verdicts of one bug, one is bisected: by who reduced it, or who comes when that one is silent.
    let finding = |leases: &Leases| leases.take_finding(&|_| true).unwrap();
    let mut found = [finding(&other).unwrap(), finding(&other).unwrap()];
    found.sort_by_key(|f| f.verdict.id);
    assert_eq!([found[0].verdict.id, found[1].verdict.id], [ids[0], ids[1]]);
    assert!(found[0].reduced.is_none() && finding(&rich).is_none());
    assert!(store.save_leased_reduction(ids[0], &reduction(), other.worker(), 1.0).unwrap());
    assert!(!store.save_leased_reduction(ids[1], &reduction(), other.worker(), 1.0).unwrap());
    assert!(finding(&rich).is_none());
    std::thread::sleep(Duration::from_millis(1200));
    // What is to be reduced comes first.
    let worked = Worked { worker: rich.worker(), seconds: 60.0, reduces: false, able: rich.ability() };
    let more = store.save_leased(&batch(2, None), 1.0, &worked).unwrap().unwrap();
    assert_eq!([0, 1].map(|_| finding(&rich).unwrap().verdict.id), [more[0], more[1]]);
    let bisected = finding(&rich).unwrap();
    assert_eq!((bisected.verdict.id, bisected.reduced.as_deref()), (ids[0], Some("rvv-ir 1\n")));
    store.save_leased_bisection(ids[0], Some("late"), other.worker()).unwrap();
    assert_eq!(store.verdict(ids[0]).unwrap().unwrap().report_md.as_deref(), Some("# r"));
    store.save_leased_bisection(ids[0], Some("# with the pass"), rich.worker()).unwrap();
    assert_eq!(store.verdict(ids[0]).unwrap().unwrap().report_md.as_deref(), Some("# with the pass"));
    assert!(finding(&other).is_none());
    // What waits and what is taken can be seen.
    let queue = store.queue().unwrap();
    let of = |kind: &str| queue.iter().find(|q| q.0 == kind).map(|q| (q.1, q.2));
    assert_eq!(
        (of("measure"), of("rest"), of("bisect"), of("reduce")),
        (Some((2, 1)), Some((0, 1)), None, Some((0, 2)))
    );
    // The rest is done, and the campaign ends; a measurement that nobody here can do keeps nobody.
    let mut ends = Leases::join(place, minute).unwrap().0;
    ends.end_at(10).unwrap();
    assert!(save(&mut store, &rich, &batch(0, Some(vec![1]))).is_some());
    assert_eq!(rich.take(9).unwrap(), Next::Wait);
    // What is below everything is done when no programs are left.
    let last = store.order_all(&[order(4)], -31).unwrap()[0].id;
    assert_eq!(rich.take(9).unwrap(), Next::Measure(last, Box::new(order(4))));
    assert!(store.save_measurement(last, "{}", rich.worker()).unwrap());
    for first in [4, 6, 8] {
        assert!(save(&mut store, &rich, &batch(first, None)).is_some());
    }
    assert_eq!(rich.take(9).unwrap(), Next::Wait, "it has a measurement itself");
    assert!(store.save_measurement(ordered[0].id, "{}", rich.worker()).unwrap());
    assert_eq!(rich.take(9).unwrap(), Next::End);
    assert_eq!(
        store.done().unwrap().into_iter().collect::<Vec<_>>(),
        [(0, 2), (2, 2), (4, 2), (6, 2), (8, 2)]
    );
}

#[test]
fn what_waits_is_taken_by_priority() {
    let folder = tempfile::tempdir().unwrap();
    by_priority(&Place::from(&folder.path().join("c.db")));
}

/// A clang of which a pass, the seventh, crashes on subtractions. It says when it is bisected, and is slow
/// then while there is a file `slow`.
fn broken_clang(folder: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let find = |v: &&&str| places.iter().map(|p| p.join(format!("clang-{v}"))).find(|p| p.exists());
    let real = ["19", "22", "21"].iter().find_map(|v| find(&v))?;
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let text = format!(
        r#"#!/bin/sh
PATH=$PATH:/usr/bin:/bin
limit=none broken=
for word in "$@"; do
    case $word in
        --version) exec {real} --version ;;
        -opt-bisect-limit=*) limit=${{word#*=}} ;;
        *.c) grep -q __riscv_vsub "$word" && broken=yes ;;
    esac
done
if [ $limit = none ]; then
    [ "$broken" ] && {{ echo 'LLVM ERROR: a broken pass' >&2; exit 134; }}
    exec {real} "$@"
fi
echo x >> {folder}/bisected
[ -e {folder}/slow ] && sleep 2
for n in 1 2 3 4 5 6 7 8 9; do
    [ $n -le $limit ] && echo "BISECT: running pass ($n) Pass$n on f" >&2
done
[ "$broken" ] && [ $limit -ge 7 ] && {{ echo 'LLVM ERROR: a broken pass' >&2; exit 134; }}
exec {real} "$@" -mllvm -opt-bisect-limit=-1
"#,
        real = real.display(),
        folder = folder.display()
    );
    std::fs::write(bin.join("broken-clang"), text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("broken-clang"), mode).unwrap();
    Some(bin)
}

fn until(what: &str, is: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(240);
    while !is() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A worker that is killed in the middle of a bisection, and one in the middle of a measurement: others do
/// both.
fn killed_in_the_middle(test: &str, folder: &Path, store: &str) {
    let Some(bin) = broken_clang(folder) else {
        println!("{test}: skipped, no clang 19 or later (tools/setup)");
        return;
    };
    let temporary = folder.join("temporary");
    std::fs::create_dir_all(&temporary).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let command = |args: &[&str]| {
        let mut command = rvvfuzz(folder, args);
        command.env("PATH", &path).env("TMPDIR", &temporary);
        command
    };
    let campaign = "--compilers broken-clang --qemu none --levels -O1 --vlen 128 --ops 1-4 --intrinsics vsub_vv_i32m1 \
                    --batch 4 --inputs 0 --reduce-time 5s --jobs 1 --lease 2s --count 4 --setups-drawn 1";
    let work: Vec<&str> = ["work", "--store", store].into_iter().chain(campaign.split_whitespace()).collect();
    let spawn = |args: &[&str]| -> Child {
        let log = std::fs::File::options().append(true).create(true).open(folder.join("log")).unwrap();
        command(args).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
    };
    let log = || String::from_utf8_lossy(&std::fs::read(folder.join("log")).unwrap_or_default()).into_owned();
    let open = || Store::read(place(folder, store)).unwrap();
    let kind = |kind: &str| open().queue().unwrap().into_iter().find(|q| q.0 == kind).map(|q| (q.1, q.2));
    // In the middle of a bisection.
    std::fs::write(folder.join("slow"), "").unwrap();
    let mut worker = spawn(&work);
    until("nothing is bisected", || {
        assert!(!log().contains("rvvfuzz: "), "{}", log());
        folder.join("bisected").exists()
    });
    worker.kill().unwrap();
    worker.wait().unwrap();
    std::fs::remove_file(folder.join("slow")).unwrap();
    let reports = || open().verdicts().unwrap().into_iter().filter_map(|v| v.report_md).collect::<Vec<_>>();
    let bisected = |reports: &[String]| reports.iter().filter(|r| r.contains("The guilty pass")).count();
    assert!(kind("bisect").is_some() && bisected(&reports()) == 0, "{}", log());
    // Another orders measurements, which come first for whoever builds programs.
    let yardstick = format!(
        "yardstick --store {store} --compilers broken-clang --seeds 2 --time 3s --levels -O1 --vlen 128 --ops 1-4 --batch 4 \
         --inputs 0"
    );
    let yardstick: Vec<&str> = yardstick.split_whitespace().collect();
    let ask = || {
        let output = command(&yardstick).output().unwrap();
        (output.status.code(), said(&output))
    };
    let (code, text) = ask();
    assert!(code == Some(0) && text.contains("0 of 2 campaigns are measured"), "{text}");
    assert_eq!(kind("measure"), Some((2, 0)));
    let mut worker = spawn(&work);
    until("nothing is measured", || kind("measure").is_some_and(|(_, taken)| taken > 0));
    std::thread::sleep(Duration::from_millis(500));
    worker.kill().unwrap();
    worker.wait().unwrap();
    let measured = |text: &str| text.contains("0 of 2") || text.contains("1 of 2");
    assert!(measured(&ask().1) && kind("measure").is_some());
    // What it had begun ends with it.
    let begun = || {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let lines = all.filter_map(|p| std::fs::read(p.path().join("cmdline")).ok());
        let ours = temporary.display().to_string();
        lines
            .filter(|l| {
                String::from_utf8_lossy(l).contains("yardstick") && String::from_utf8_lossy(l).contains(&ours)
            })
            .count()
    };
    until("a measurement goes on for nobody", || begun() == 0);
    // The next one does everything that is left.
    let output = command(&work).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("verdict"), "{text}");
    let (code, text) = ask();
    assert!(code == Some(0) && text.contains("| broken-clang "), "{text}");
    let reports = reports();
    assert_eq!(bisected(&reports), 1, "{reports:?}");
    assert!(reports.iter().any(|r| r.contains("pass 7, Pass7 on f")), "{reports:?}");
    assert_eq!(open().queue().unwrap(), []);
    assert_eq!(open().done().unwrap().values().sum::<u64>(), 4);
    assert!(!log().contains(PASSWORD));
    // A campaign that others have finished is all there for the page, too.
    let (code, text) = run(folder, &["report", "--store", store, "--html", "page.html"]);
    assert_eq!(code, 1, "{text}");
    assert!(std::fs::read_to_string(folder.join("page.html")).unwrap().contains("pass 7, Pass7 on f"));
}

/// A campaign that is as long as a CPU time says is not ended by the clock, and not run again.
#[test]
fn a_campaign_of_the_yardstick_has_its_cpu_time() {
    let folder = tempfile::tempdir().unwrap();
    let Some(bin) = broken_clang(folder.path()) else {
        println!("a_campaign_of_the_yardstick_has_its_cpu_time: skipped, no clang 19 or later (tools/setup)");
        return;
    };
    let line = "yardstick --compilers broken-clang --seeds 1 --time 2s --cpu --levels -O1 --vlen 128 --ops 1-4 \
                --intrinsics vadd_vv_i32m1 --batch 4 --inputs 0 --json measured.json";
    let line: Vec<&str> = line.split_whitespace().collect();
    let measure = || {
        let mut command = rvvfuzz(folder.path(), &line);
        let output = command.env("PATH", format!("{}:/usr/bin:/bin", bin.display())).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        let text = std::fs::read_to_string(folder.path().join("measured.json")).unwrap();
        let measured: serde_json::Value = serde_json::from_str(&text).unwrap();
        let campaign = &measured["campaigns"][0];
        (campaign["cpu_minutes"].as_f64().unwrap(), campaign["programs"].as_u64().unwrap())
    };
    let (minutes, programs) = measure();
    // What does not fit into the rest is not begun.
    assert!(minutes * 60.0 >= 1.0 && programs > 0, "{programs} programs in {minutes} CPU-minutes");
    assert_eq!(measure(), (minutes, programs));
}

#[test]
fn workers_of_a_file_may_die_in_the_middle_of_anything() {
    let folder = tempfile::tempdir().unwrap();
    killed_in_the_middle("workers_of_a_file_may_die_in_the_middle_of_anything", folder.path(), "shared.db");
}

#[cfg(feature = "postgres")]
#[test]
fn workers_of_a_server_may_die_in_the_middle_of_anything() {
    let test = "workers_of_a_server_may_die_in_the_middle_of_anything";
    let Some(server) = crate::server::Server::start(test) else { return };
    by_priority(&server.database("kinds").parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    killed_in_the_middle(test, folder.path(), &server.database("killed"));
}
