//! Sizes of persistent collectives that MPI gives to only some ranks: all ranks exchange theirs
//! when the request is created, which may wait for others. The cost arises once, and every start
//! has the plan that suits the sizes.

use treepie_choice::{Progress, direct, uneven};
use treepie_collective::{Amount, Operation};
use treepie_mpi::Call;
use treepie_mpi::native::Native;
use treepie_profile::settings::Runner;

use crate::ground::Ground;
use crate::setup::Setup;
use crate::sizes::{self, BySize, Needed};

/// Words of a rank's row before its sizes: 1 if it has any.
const HEAD: usize = 1;

/// Sizes of an uneven call that all ranks know.
pub struct AgreedSizes {
    /// Sizes of all ranks.
    pub amount: Amount,
    /// Choice based on them; `None` if the setting names an algorithm.
    pub chosen: Option<BySize>,
}

/// Exchanges the sizes of a persistent collective, of which this rank knows `own`; that is `None`
/// for an erroneous call. Returns `None` if they have no influence, or ranks do not agree on them.
/// Collective, even if a single rank finds an error in the call.
pub fn exchange(
    native: &Native,
    setup: &Setup,
    ground: &Ground,
    (call, runner): (&Call, &Runner),
    own: Option<&Amount>,
) -> Option<AgreedSizes> {
    // If the root is invalid, `own` is `None`, and this rank still takes part.
    let (operation, root) = (call.operation, call.root as usize);
    // Plans that need more than the sizes of a rank's own blocks relay blocks.
    let matter = setup.progress == Progress::Called
        && sizes::needed(runner, ground, operation) != Needed::Nothing;
    if !matter {
        return None;
    }
    let amount = gathered(native, ground, (operation, root), own)?;
    let chosen = match runner {
        Runner::Auto => {
            // Without relays a rank only sends its own blocks.
            let direct = direct(operation)?;
            let best = sizes::choose(ground, (operation, root), &amount, direct);
            Some(best.filter(|best| best.algorithm != direct)?)
        }
        _ => None,
    };
    Some(AgreedSizes { amount, chosen })
}

fn gathered(
    native: &Native,
    ground: &Ground,
    (operation, root): (Operation, usize),
    own: Option<&Amount>,
) -> Option<Amount> {
    let ranks = ground.clusters.ranks();
    let length = match operation {
        Operation::Gatherv | Operation::Scatterv => ranks,
        _ => 2 * ranks,
    };
    let mut row = vec![0_u64; HEAD + length];
    if let Some(sizes) = own.and_then(uneven::row).filter(|row| row.len() == length) {
        row[0] = 1;
        row[HEAD..].copy_from_slice(&sizes);
    }
    let bytes: Vec<u8> = row.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let all = native.allgather(ground.private(), &bytes).ok()?;
    let words: Vec<u64> = all
        .chunks_exact(size_of::<u64>())
        .filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?)))
        .collect();
    let rows = || words.chunks_exact(row.len());
    let sizes: Vec<u64> = rows().flat_map(|row| &row[HEAD..]).copied().collect();
    let have_all = rows().all(|row| row[0] == 1);
    have_all.then(|| uneven::from_rows(operation, root, ranks, &sizes))?
}
