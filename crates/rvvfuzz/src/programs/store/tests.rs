use super::*;

pub(in crate::programs) fn batch(first: u64) -> BatchRecord {
    let verdict = Verdict {
        culprit: Culprit::Compiler("cc <1> & \"x\"".into()),
        symptom: Kind::BuildCrash,
        testbeds: vec![1, 2],
        axes: vec!["level"],
        buffer: None,
        detail: "in f, at x.cc:1".into(),
        early: None,
        fault: None,
    };
    let ice = Outcome::BuildCrash("ä".repeat(5000));
    BatchRecord {
        first,
        count: 2,
        seconds: 0.5,
        operations: 20,
        checks: 40,
        pairs: 2,
        triggers: 0,
        programs: vec![
            ProgramRecord {
                number: first,
                outcomes: vec![Some(Outcome::Pass), None],
                ir: None,
                verdicts: vec![],
            },
            ProgramRecord {
                number: first + 1,
                outcomes: vec![Some(ice.clone()), Some(ice)],
                ir: Some("rvv-ir 1\n".into()),
                verdicts: vec![verdict],
            },
        ],
        calls: vec![("__riscv_vadd_vv_i8m1", false, first)],
        timings: vec![(0, None, 0.1), (0, Some(0), 0.2)],
        broken: vec![("x".into(), "gone".into())],
        ..BatchRecord::default()
    }
}

fn create(path: &Path) -> Store {
    Store::create(path, &Settings::default(), &["a".into(), "b".into()]).unwrap()
}

#[test]
fn letters_are_kinds() {
    for k in Kind::ALL {
        assert_eq!(kind(letter(Some(k))), Some(k));
    }
    assert_eq!(kind('-'), None);
}

#[test]
fn what_is_stored_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    let mut store = create(&path);
    assert_eq!(store.save(&batch(0), Spent { clock: 1.0, cpu: 2.0 }).unwrap().len(), 1);
    let ids = store.save(&batch(2), Spent { clock: 2.0, cpu: 4.0 }).unwrap();
    let reduction = Reduction { signature: Some("s".into()), ..Reduction::default() };
    store.save_reduction(ids[0], &reduction).unwrap();
    drop(store);
    let (store, settings) = Store::resume(&path).unwrap();
    assert_eq!(settings, Settings::default());
    assert_eq!(store.done().unwrap(), BTreeMap::from([(0, 2), (2, 2)]));
    assert_eq!((store.covered(), store.before()), (1, Spent { clock: 2.0, cpu: 4.0 }));
    let outcomes = store.rows("select outcomes from programs order by number", |r| r.get::<String>(0));
    assert_eq!(outcomes.unwrap(), [".-", "i2", ".-", "i2"]);
    let said: Vec<String> = store.all_outcomes().unwrap().into_iter().map(|(_, letters)| letters).collect();
    assert_eq!(said, [".-", "ii", ".-", "ii"]);
    // A pass and a crash on the first testbed, twice each; a crash on the second.
    let at = |k: Kind| Kind::ALL.iter().position(|o| *o == k).unwrap();
    let matrix = store.matrix(2).unwrap();
    assert_eq!((matrix[0][at(Kind::Pass)], matrix[0][at(Kind::BuildCrash)]), (2, 2));
    assert_eq!((matrix[1][at(Kind::Pass)], matrix[1][at(Kind::BuildCrash)]), (0, 2));
    // The second testbed says the same as the first.
    assert_eq!(store.rows("select detail from details", |r| r.get::<String>(0)).unwrap().len(), 2);
    assert!(matches!(Store::resume(&path), Err(StoreError::Busy { .. })));
    Store::read(&path).unwrap();
    drop(store);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "one file: {left:?}");
}

#[test]
fn a_batch_is_stored_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    let mut store = create(&path);
    store.save(&batch(0), Spent { clock: 1.0, cpu: 2.0 }).unwrap();
    // The second program is there already: the transaction fails at its end.
    let mut clash = batch(4);
    clash.programs[1].number = 0;
    assert!(store.save(&clash, Spent { clock: 2.0, cpu: 4.0 }).is_err());
    assert_eq!(store.done().unwrap(), BTreeMap::from([(0, 2)]));
    store.save(&batch(4), Spent { clock: 2.0, cpu: 4.0 }).unwrap();
}

#[test]
fn a_full_disk_keeps_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    let mut store = create(&path);
    store.save(&batch(0), Spent { clock: 1.0, cpu: 2.0 }).unwrap();
    let pages: i64 = store.one("pragma page_count").unwrap();
    store.rows(&format!("pragma max_page_count = {}", pages + 2), |_| Ok(())).unwrap();
    let error =
        (1..1000).find_map(|n| store.save(&batch(2 * n), Spent { clock: 2.0, cpu: 4.0 }).err()).unwrap();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(error.to_string().contains("--resume"), "{error}");
    drop(store);
    let (store, _) = Store::resume(&path).unwrap();
    assert!(store.done().unwrap().contains_key(&0));
}

#[test]
fn strange_files_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    drop(create(&path));
    assert!(matches!(
        Store::create(&path, &Settings::default(), &[]),
        Err(StoreError::Exists { programs: 0, .. })
    ));
    let db = Connection::open(&path).unwrap();
    db.execute("update meta set value = '6' where key = 'format'", []).unwrap();
    drop(db);
    for error in [Store::resume(&path).err(), Store::read(&path).err(), {
        Store::create(&path, &Settings::default(), &[]).err()
    }] {
        let said = error.unwrap().to_string();
        assert!(said.contains("newer rvvfuzz") && said.contains("format 6"), "{said}");
    }
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "not a database, but long enough to be looked at as one").unwrap();
    assert!(matches!(Store::resume(&text), Err(StoreError::Foreign { .. })));
    assert!(matches!(Store::create(&text, &Settings::default(), &[]), Err(StoreError::Foreign { .. })));
    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute("create table t(a)", []).unwrap();
    assert!(matches!(Store::resume(&other), Err(StoreError::Foreign { .. })));
    let nowhere = folder.path().join("no/such/folder.db");
    assert!(matches!(Store::create(&nowhere, &Settings::default(), &[]), Err(StoreError::Open { .. })));
    assert!(matches!(Store::resume(&nowhere), Err(StoreError::Empty { .. })));
    assert!(Store::read(folder.path()).is_err());
}

#[test]
fn an_older_format_is_read_and_gets_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.db");
    let mut store = create(&path);
    store.save(&batch(0), Spent { clock: 1.0, cpu: 2.0 }).unwrap();
    store.save(&batch(6), Spent { clock: 2.0, cpu: 3.0 }).unwrap();
    drop(store);
    let older = "drop table measurements; drop table states; drop table leases; drop table workers; update meta set value = '2' where key = 'format';";
    Connection::open(&path).unwrap().execute_batch(older).unwrap();
    let store = Store::read(&path).unwrap();
    assert_eq!((store.format, store.workers().unwrap().len(), store.verdict_count().unwrap()), (2, 0, 2));
    drop(store);
    // A worker gets what is missing first, then what is new.
    let place = Place::from(&path);
    let (leases, _) = lease::Leases::join(&place, Duration::from_secs(60)).unwrap();
    let mut taken = Vec::new();
    for _ in 0..3 {
        taken.push(leases.take(2).unwrap());
    }
    let first = crate::programs::sampling::batch(2, Settings::default().batch).end.min(6) - 2;
    assert_eq!(taken[0], lease::Next::Programs(2, first));
    assert!(taken.contains(&lease::Next::Programs(8, 2)) || first < 4, "{taken:?}");
    // Another finds nothing of it until the first has gone.
    let (other, _) = lease::Leases::join(&place, Duration::from_secs(60)).unwrap();
    assert_ne!(other.take(2).unwrap(), taken[0]);
    leases.release().unwrap();
    assert_eq!(other.take(2).unwrap(), taken[0]);
    let (store, _) = (Store::read(&path).unwrap(), other);
    assert_eq!((store.format, store.workers().unwrap().len()), (FORMAT, 2));
}

#[test]
fn a_store_of_format_4_goes_on_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (new, old) = (folder.path().join("new.db"), folder.path().join("old.db"));
    let mut store = create(&new);
    store.save(&batch(0), Spent { clock: 1.0, cpu: 2.0 }).unwrap();
    drop(store);
    // The tables as they were, with letters that are not coded and a lease without a priority.
    let db = Connection::open(&old).unwrap();
    db.execute_batch(&schema::sqlite(4)).unwrap();
    let copied = ["meta", "batches", "programs", "details", "verdicts", "notes", "costs"];
    let copied: String = copied.iter().map(|t| format!("insert into {t} select * from new.{t};")).collect();
    let sql = format!(
        "pragma application_id = {}; attach '{}' as new; {copied} update meta set value = '4' where key = 'format'; \
         update programs set outcomes = 'ii' where outcomes = 'i2'; insert into meta values('next', '4'); \
         insert into leases values('programs', 2, 2, '', 0.0);",
        0x7276_7666,
        new.display()
    );
    db.execute_batch(&sql).unwrap();
    drop(db);
    let letters = |store: &Store| store.all_outcomes().unwrap().into_iter().map(|o| o.1).collect::<Vec<_>>();
    let store = Store::read(&old).unwrap();
    assert_eq!((store.format, letters(&store)), (4, vec![".-".to_string(), "ii".to_string()]));
    assert_eq!(store.queue().unwrap(), [("programs".to_string(), 1, 0)]);
    drop(store);
    let place = Place::from(&old);
    let (leases, _) = lease::Leases::join(&place, Duration::from_secs(60)).unwrap();
    assert_eq!(leases.take(2).unwrap(), lease::Next::Programs(2, 2));
    assert_eq!(leases.take(2).unwrap(), lease::Next::Programs(4, 2));
    let mut store = Store::shared(&place).unwrap();
    let able = lease::Able::default();
    let worked = lease::Worked { worker: leases.worker(), seconds: 60.0, reduces: false, able: &able };
    assert!(store.save_leased(&batch(2), 1.0, &worked).unwrap().is_some());
    assert_eq!(
        (store.format, letters(&store)),
        (FORMAT, [".-", "ii", ".-", "ii"].map(String::from).to_vec())
    );
    assert_eq!(store.matrix(2).unwrap()[1].iter().sum::<u64>(), 2);
}
