//! What the manual leaves open is not compared, and stays open where it is written only in part.

use rvvfuzz::streams::coverage::Watch;
use rvvfuzz::streams::inprocess::{Lab, Open};
use rvvfuzz::streams::runtime::Environment;
use rvvfuzz::streams::text::parse;

/// A segment load that traps in its first segment may have written some of its fields; a compare then writes
/// ten bits of one.
#[test]
fn a_mask_over_a_load_that_trapped_closes_its_own_bits_only() {
    let text = "stream open\nvlen 256\nseed 0x3b2570ec2ec5a35e\n\
        zero x0 x1 x2 x3 x4 x5 x6 x7 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 \
        x27 x28 x29 x30 x31 f v csrs\n\
        step *9a066a57\nstep *01747d57\nstep 00087437 0004041b 00c41413 ff840413 *43047a07\n\
        step 00a00c93 08100d13 *81acf9d7\nstep *7a403a57\n";
    let entry = parse(text).expect("a stream").remove(0);
    for environment in [Environment::Bare, Environment::Linux] {
        let ran =
            Lab::new(256).run_as(environment, &entry.stream, 0, &mut Watch::default()).expect("it ends");
        let v20 = &ran.open[20 * 32..20 * 32 + 8];
        assert_eq!(v20[0], Open::No);
        assert_eq!(v20[1], Open::FreeBits);
        assert!(v20[2..].iter().all(|o| *o == Open::Free), "{environment:?}: {v20:?}");
    }
}
