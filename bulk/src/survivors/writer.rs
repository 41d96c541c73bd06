//! What is written of classes, by callers who know what records are.

use super::keep::{ClassMode, Select};
use super::store::{ClassStore, Member};
use uriscan_core::chunk::Prefix;

/// What is to be written of classes.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// A line for the survivor of each class, instead of its position.
    pub lines: bool,
    /// A line for each omitted record.
    pub dupes: bool,
    /// An object for each class that is written.
    pub clusters: bool,
}

/// Writes classes.
pub trait ClassWriter: Sync {
    /// Which classes are written.
    fn select(&self) -> Select;

    /// What writes one record after the other; each thread has its own.
    fn session(&self) -> Box<dyn ClassSession + '_>;
}

/// Appends what is written to buffers.
pub trait ClassSession {
    /// The line for a survivor of `count` records.
    fn result(&mut self, survivor: &[u8], count: u64, out: &mut Vec<u8>);

    /// The line for the omitted record at `position`. Without a survivor, its class was seen by an earlier run; an empty one is the
    /// canonical form of the record.
    fn dupe(
        &mut self,
        position: u64,
        record: Prefix<'_>,
        survivor: Option<Prefix<'_>>,
        out: &mut Vec<u8>,
    );

    /// The beginning of a class of `count` records.
    fn cluster_start(&mut self, survivor: &[u8], count: u64, out: &mut Vec<u8>);

    fn cluster_member(&mut self, position: u64, member: &[u8], survivor: &[u8], out: &mut Vec<u8>);

    fn cluster_end(&mut self, out: &mut Vec<u8>);
}

/// Appends the class of this number in `store`, whose members are in order.
pub(super) fn push_cluster(
    store: &ClassStore,
    mode: ClassMode,
    class: u32,
    session: &mut dyn ClassSession,
    out: &mut Vec<u8>,
) {
    let (position, survivor) = store.survivor(mode, class);
    session.cluster_start(survivor, store.count(class), out);
    let members = store.members_of(class);
    let (before, after) =
        members.split_at(members.partition_point(|member| member.position < position));
    let mut push = |position, text: &[u8]| session.cluster_member(position, text, survivor, out);
    let text = |member: &Member| mode.text(store.bytes_of(member));
    before.iter().for_each(|member| push(member.position, text(member)));
    push(position, survivor);
    after.iter().for_each(|member| push(member.position, text(member)));
    session.cluster_end(out);
}
