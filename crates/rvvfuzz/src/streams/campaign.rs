//! A campaign: workers make streams, run them here and elsewhere, and keep what is new.

use super::corpus::{self, CorpusError};
use super::coverage::{Coverage, Watch, subjects};
use super::generate::{self, Chooser};
use super::inprocess::{Lab, Ran};
use super::jury::{JuryError, Verdict, judge, judge_pack};
use super::kept::Kept;
use super::known::{Known, without_known};
use super::minimise::minimise;
use super::mutate::{Made, Mutator, mutate};
use super::peers::Peer;
use super::report::{check_itself, expecting, report};
use super::runtime::{self, Environment};
use super::stream::Stream;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_isa::Class;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What a campaign is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The VLENs, in turn.
    pub vlens: Vec<u32>,
    /// Who else is asked.
    pub peers: Vec<Peer>,
    /// Workers.
    pub jobs: usize,
    /// Ends after this.
    pub time: Option<Duration>,
    /// Ends after so many streams.
    pub count: Option<u64>,
    /// Everything random follows from it; with one worker and a count, so does everything else.
    pub seed: u64,
    /// How streams are made.
    pub streams: generate::Options,
    /// Where findings, corpus and coverage go.
    pub out: PathBuf,
    /// Streams in one ELF.
    pub pack: usize,
    /// Streams to begin with.
    pub corpus: Vec<Stream>,
    /// Differences not to report.
    pub known: Vec<Known>,
}

/// A disagreement that has been made small and written down.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is called: the peer and the instructions.
    pub name: String,
    /// Where the report is.
    pub folder: PathBuf,
    /// How often it was met.
    pub times: u64,
}

/// What a campaign has done so far.
#[derive(Debug, Default)]
pub struct State {
    /// What was exercised.
    pub coverage: Coverage,
    /// Streams that added coverage.
    pub corpus: Kept,
    /// What each way to make a stream brought, in the order of [`Mutator::ALL`].
    pub mutators: [Made; Mutator::ALL.len()],
    /// Streams that ran.
    pub streams: u64,
    /// Instructions that ran.
    pub instructions: u64,
    /// Vector instructions that ran.
    pub vector: u64,
    /// Vector instructions compared, by peer and VLEN.
    pub compared: BTreeMap<(String, u32), u64>,
    /// Known differences met, by name.
    pub known: BTreeMap<String, u64>,
    /// Known differences left out before a peer was asked, by name.
    pub left_out: BTreeMap<String, u64>,
    /// Disagreements, by name.
    pub findings: BTreeMap<String, Finding>,
    /// Disagreements met, those of one name counted each time.
    pub disagreements: u64,
    /// Streams that a peer differed on in a pack, and not when it ran them again alone.
    pub unsteady: u64,
    /// The first instant at which every instruction had been reached.
    pub all_reached: Option<Duration>,
}

/// Why a campaign cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Something cannot be written.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
    /// There is nowhere to put the ELFs.
    #[error("no temporary folder: {0}")]
    Temporary(std::io::Error),
    /// A peer does not start, or `rvvsim` does not end.
    #[error(transparent)]
    Jury(#[from] JuryError),
}

/// Disagreements that are made small; a peer that is wrong everywhere would take for ever.
const MOST_MINIMISED: usize = 60;

/// How long one disagreement is worked on.
const LONGEST_MINIMISING: Duration = Duration::from_secs(20);

struct Campaign<'a> {
    options: &'a Options,
    state: Mutex<State>,
    stop: &'a AtomicBool,
    begin: Instant,
}

/// Runs a campaign until its time or count is up or `stop` is set. `progress` is called often.
///
/// # Errors
/// What keeps it from going on. What was found until then is saved.
pub fn run(
    options: &Options,
    stop: &AtomicBool,
    mut progress: impl FnMut(&State),
) -> Result<State, CampaignError> {
    let campaign = Campaign { options, state: Mutex::default(), stop, begin: Instant::now() };
    let mut first_error = None;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1))
            .map(|n| {
                let campaign = &campaign;
                scope.spawn(move || campaign.work(n))
            })
            .collect();
        while !workers.iter().all(|w| w.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            if options.time.is_some_and(|limit| campaign.begin.elapsed() >= limit) {
                stop.store(true, Ordering::Relaxed);
            }
            progress(&campaign.lock());
        }
        for worker in workers {
            if let Ok(Err(e)) = worker.join() {
                first_error.get_or_insert(e);
            }
        }
    });
    let state = campaign.state.into_inner().unwrap_or_else(|e| e.into_inner());
    let saved = save(options, &state);
    match first_error {
        Some(error) => Err(error),
        None => saved.map(|()| state),
    }
}

/// Writes the corpus, with what is expected of each stream.
fn save(options: &Options, state: &State) -> Result<(), CampaignError> {
    let mut labs: BTreeMap<u32, Lab> = BTreeMap::new();
    let mut entries = Vec::new();
    for (i, stream) in state.corpus.streams().iter().enumerate() {
        let lab = labs.entry(stream.vlen).or_insert_with(|| Lab::new(stream.vlen));
        if let Ok(ran) = lab.run(stream, 0, &mut Watch::default()) {
            entries.push(expecting(&format!("{}-{i}", stream.vlen), stream, &ran.kept));
        }
    }
    corpus::save(&options.out.join("corpus"), &entries)?;
    Ok(())
}

impl Campaign<'_> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.options.count.is_some_and(|n| self.lock().streams >= n)
    }

    fn work(&self, worker: usize) -> Result<(), CampaignError> {
        let result = self.work_on(worker);
        if result.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        result
    }

    fn work_on(&self, worker: usize) -> Result<(), CampaignError> {
        let folder = tempfile::tempdir().map_err(CampaignError::Temporary)?;
        let options = self.options;
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        rng.set_stream(worker as u64);
        let mut chooser = Chooser::default();
        let mut labs: BTreeMap<u32, Lab> = BTreeMap::new();
        if worker == 0 {
            self.replay_corpus(&mut labs);
        }
        for round in worker.. {
            if self.is_over() {
                break;
            }
            let vlen = options.vlens[round % options.vlens.len()];
            let lab = labs.entry(vlen).or_insert_with(|| Lab::new(vlen));
            chooser.learn(&self.lock().coverage.counts);
            let batch = self.batch(lab, &mut rng, &chooser);
            self.judge_itself(lab, &batch)?;
            for peer in &options.peers {
                let batch = self.without_known(lab, peer, &batch, &mut rng);
                let pack: Vec<&Stream> = batch.iter().map(|(s, _)| s).collect();
                let verdicts = judge_pack(lab, peer, &pack, folder.path())?;
                let compared =
                    batch.iter().zip(&verdicts).filter(|(_, v)| !matches!(v, Verdict::Incomparable));
                let vector = compared.map(|((_, ran), _)| ran.vector).sum::<u64>();
                *self.lock().compared.entry((peer.name.clone(), vlen)).or_default() += vector;
                for (n, (stream, _)) in batch.iter().enumerate().filter(|(n, _)| !verdicts[*n].agrees()) {
                    self.disagreement(lab, peer, stream, n, folder.path())?;
                }
            }
        }
        Ok(())
    }

    /// The streams less the steps that are known to crash or hang a peer; mostly without those of other known
    /// differences as well, since it takes several runs of the peer to tell a stream with one from news.
    fn without_known(
        &self,
        lab: &mut Lab,
        peer: &Peer,
        batch: &[(Stream, Ran)],
        rng: &mut ChaCha8Rng,
    ) -> Vec<(Stream, Ran)> {
        let known = &self.options.known;
        let deadly: Vec<Known> = known.iter().filter(|k| k.leave_out).cloned().collect();
        let mut all = Vec::with_capacity(batch.len());
        for (stream, ran) in batch {
            // The slot it will have.
            let n = all.len();
            let list = if rng.random_ratio(1, 8) { &deadly } else { known };
            match without_known(lab, stream, n, peer, list) {
                Ok(Some((rest, names))) => {
                    let mut state = self.lock();
                    for name in names {
                        *state.left_out.entry(name).or_default() += 1;
                    }
                    drop(state);
                    if let Ok(ran) = lab.run(&rest, n, &mut Watch::default()) {
                        all.push((rest, ran));
                    }
                }
                _ => all.push((stream.clone(), ran.clone())),
            }
        }
        all
    }

    /// What the given corpus covers is not new.
    fn replay_corpus(&self, labs: &mut BTreeMap<u32, Lab>) {
        for stream in &self.options.corpus {
            let lab = labs.entry(stream.vlen).or_insert_with(|| Lab::new(stream.vlen));
            let mut watch = Watch::default();
            if lab.run(stream, 0, &mut watch).is_ok() {
                let mut state = self.lock();
                state.coverage.add(&watch);
                state.corpus.add(stream.clone(), &watch.keys);
            }
        }
    }

    fn batch(&self, lab: &mut Lab, rng: &mut ChaCha8Rng, chooser: &Chooser) -> Vec<(Stream, Ran)> {
        let options = self.options;
        let size = options.pack.min(runtime::capacity(lab.vlen())).max(1);
        let mut batch = Vec::with_capacity(size);
        let mut watch = Watch::default();
        while batch.len() < size && !self.stop.load(Ordering::Relaxed) {
            let parents = self.parents(lab.vlen(), rng);
            let (used, made) = match &parents {
                Some((a, b)) => mutate(lab, a, b, rng, &options.streams, chooser, &mut watch),
                None => {
                    let made = generate::stream(lab, rng, &options.streams, chooser, &mut watch);
                    (vec![Mutator::Generate], made)
                }
            };
            let mut state = self.lock();
            let state = &mut *state;
            let new = made.is_ok() && state.coverage.add(&watch);
            for mutator in used {
                let of = &mut state.mutators[mutator as usize];
                of.tried += 1;
                of.valid += u64::from(made.is_ok());
                of.new += u64::from(new);
            }
            // What cannot be compared is thrown away: another will do.
            let Ok((stream, ran)) = made else { continue };
            state.streams += 1;
            state.instructions += ran.executed;
            state.vector += ran.vector;
            if new {
                state.corpus.add(stream.clone(), &watch.keys);
            }
            if state.all_reached.is_none() && state.coverage.reached() == subjects().count() {
                state.all_reached = Some(self.begin.elapsed());
            }
            batch.push((stream, ran));
        }
        batch
    }

    /// Two streams of the corpus, or nothing when a new one is to be made.
    fn parents(&self, vlen: u32, rng: &mut ChaCha8Rng) -> Option<(Stream, Stream)> {
        if rng.random_bool(0.6) {
            return None;
        }
        let state = self.lock();
        let mut pick = || {
            let all = state.corpus.streams();
            let at = rng.random_range(0..all.len().max(1));
            all.iter().cycle().skip(at).take(all.len()).find(|s| s.vlen == vlen).cloned()
        };
        Some((pick()?, pick()?))
    }

    /// `rvvsim` against itself: blocks against steps, and one stream of the batch as an ELF.
    fn judge_itself(&self, lab: &mut Lab, batch: &[(Stream, Ran)]) -> Result<(), CampaignError> {
        for (n, (stream, ran)) in batch.iter().enumerate() {
            let mut result = lab.check_blocks(stream, 0, ran).map_err(|e| e.to_string());
            if result.is_ok() && n == 0 {
                result = check_itself(lab, stream);
            }
            if let Err(why) = result {
                let small = minimise(stream, 300, |s| check_itself(lab, s).is_err_and(|e| e.contains("0x")));
                self.found("rvvsim", &small, &format!("rvvsim differs from itself: {why}\n\n"))?;
            }
        }
        Ok(())
    }

    fn disagreement(
        &self,
        lab: &mut Lab,
        peer: &Peer,
        stream: &Stream,
        n: usize,
        folder: &Path,
    ) -> Result<(), CampaignError> {
        let known = &self.options.known;
        let disagrees = |lab: &mut Lab, stream: &Stream| -> Result<bool, JuryError> {
            match judge(lab, peer, stream, n, folder) {
                Ok(verdict) => Ok(!verdict.agrees()),
                Err(JuryError::Violation(_)) => Ok(false),
                Err(other) => Err(other),
            }
        };
        let mut stream = stream.clone();
        // Alone it may agree: then what was different came from outside of the stream, which is worth telling
        // too.
        let alone = disagrees(lab, &stream)?;
        if let Ok(Some((rest, names))) = without_known(lab, &stream, n, peer, known) {
            match disagrees(lab, &rest)? {
                false if alone => {
                    let mut state = self.lock();
                    for name in names {
                        *state.known.entry(name).or_default() += 1;
                    }
                    return Ok(());
                }
                false => {}
                true => stream = rest,
            }
        }
        // A peer that took too long once, or was led astray by a stream before this one in the pack: counted,
        // since there is nothing to make small.
        if !alone && !disagrees(lab, &stream)? {
            self.lock().unsteady += 1;
            return Ok(());
        }
        self.lock().disagreements += 1;
        if self.lock().findings.len() >= MOST_MINIMISED {
            return Ok(());
        }
        let until = Instant::now() + LONGEST_MINIMISING;
        let small = minimise(&stream, 400, |candidate| {
            if Instant::now() > until {
                return false;
            }
            let real = disagrees(lab, candidate).unwrap_or(false);
            real && match without_known(lab, candidate, n, peer, known) {
                Ok(Some((rest, _))) => disagrees(lab, &rest).unwrap_or(false),
                _ => true,
            }
        });
        let name = name_of(&peer.name, &small);
        if let Some(finding) = self.lock().findings.get_mut(&name) {
            finding.times += 1;
            return Ok(());
        }
        let text = match report(lab, &self.options.peers, &name, &small, n, folder) {
            Ok(text) => text,
            Err(JuryError::Violation(e)) => e.to_string(),
            Err(e) => return Err(e.into()),
        };
        self.found(&peer.name, &small, &text)
    }

    /// Writes a finding down.
    fn found(&self, peer: &str, stream: &Stream, text: &str) -> Result<(), CampaignError> {
        let name = name_of(peer, stream);
        let folder = self.options.out.join("findings").join(&name);
        let io = |source| CorpusError::Io { path: folder.clone(), source };
        std::fs::create_dir_all(&folder).map_err(io)?;
        corpus::write_whole(&folder.join("report.txt"), text.as_bytes())?;
        corpus::save(&folder, &[expecting_now(&name, stream)])?;
        for (file, environment) in [("bare.elf", Environment::Bare), ("linux.elf", Environment::Linux)] {
            if let Ok(elf) = runtime::elf(&[stream], environment) {
                corpus::write_whole(&folder.join(file), &elf)?;
            }
        }
        self.lock().findings.insert(name.clone(), Finding { name, folder, times: 1 });
        Ok(())
    }
}

fn expecting_now(name: &str, stream: &Stream) -> super::text::Entry {
    match Lab::new(stream.vlen).run(stream, 0, &mut Watch::default()) {
        Ok(ran) => expecting(name, stream, &ran.kept),
        Err(_) => super::text::Entry { name: name.to_owned(), stream: stream.clone(), expected: Vec::new() },
    }
}

/// The peer and the instructions of a small stream: what findings are told apart by.
fn name_of(peer: &str, stream: &Stream) -> String {
    let mut ops: Vec<&str> = stream
        .steps
        .iter()
        .filter_map(|s| s.main)
        .map(rvv_isa::decode)
        // Changes of vtype only set the scene.
        .filter(|inst| inst.is_none_or(|i| i.op.class() != Class::VectorConfig))
        .map(|inst| inst.map_or("reserved", |i| i.op.name()))
        .collect();
    ops.sort_unstable();
    ops.dedup();
    ops.truncate(4);
    format!("{peer}-{}", if ops.is_empty() { "setup".to_owned() } else { ops.join("-") })
}
