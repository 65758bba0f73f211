//! What campaigns find, measured: [`yardstick`] says how soon known faults are found, [`matrix`] how many
//! programs fail on which compiler.

pub mod chart;
pub mod features;
pub mod matrix;
pub mod order;
pub mod yardstick;

use super::campaign::Campaign;
use super::known::LIST;
use super::settings::Settings;
use super::store::{Store, StoreError};
use std::path::Path;

/// A campaign's file, new or to go on with, and the campaign; its verdicts are recognised later.
///
/// # Errors
/// When it cannot be opened, or holds another campaign.
pub fn open(path: &Path, settings: &Settings) -> Result<(Store, Campaign), String> {
    let campaign = Campaign::new(settings)?.unrecognised();
    let store = match Store::resume(path) {
        Ok((store, stored)) => match stored.differences(settings).first() {
            None => store,
            Some((field, was, is)) => {
                return Err(format!(
                    "{} was begun with other options: `{field}` is {was} there and {is} here; name another folder",
                    path.display()
                ));
            }
        },
        Err(StoreError::Empty { .. }) => {
            let names: Vec<String> =
                (0..campaign.testbeds.len()).map(|t| campaign.testbeds.name(t)).collect();
            Store::create(path, settings, &names).map_err(|e| e.to_string())?
        }
        Err(error) => return Err(error.to_string()),
    };
    campaign.restore(&store).map_err(|e| e.to_string())?;
    Ok((store, campaign))
}

/// Gives all verdicts the names of the known faults that they are, unless that was done with the same list.
///
/// # Errors
/// When the store cannot be read or written.
pub fn recognise(store: &mut Store, campaign: &Campaign) -> Result<(), StoreError> {
    let hash = LIST.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mark = format!("{hash:016x} {}", store.verdict_count()?);
    if store.meta("recognised")?.as_deref() == Some(&mark) {
        return Ok(());
    }
    for stored in store.verdicts()? {
        let (Some(verdict), Some(ir)) = (stored.verdict(), store.program(stored.program)?) else { continue };
        let fault = ir.parse().ok().and_then(|program| campaign.fault(&verdict, &program, None));
        store.save_fault(stored.id, fault.as_deref())?;
    }
    store.save_meta("recognised", &mark)
}
