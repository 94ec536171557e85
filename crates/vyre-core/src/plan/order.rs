//! The order of groups: phases, each one class, and steps, the levels within a phase.
//!
//! All groups of a phase have one class; a phase begins when the one before has ended. A group
//! is in the first phase of its class in which nothing that it waits for comes later. Within its
//! phase it is in step 0, or one after the last of those it waits for there.

use super::group::{Group, Groups, NO_SET};

/// Where every group stands, and into how many chunks it is cut.
pub(super) struct Order {
    /// The groups in the order in which they run.
    pub(super) sequence: Vec<u32>,
    /// Of each group, by its index.
    pub(super) places: Vec<Place>,
    /// Of each set.
    pub(super) sets: Vec<SetPlace>,
    /// The first step of each phase, and the number of steps.
    pub(super) first_steps: Vec<u32>,
}

/// Where a group stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) phase: u32,
    /// Counted over all phases.
    pub(super) step: u32,
    /// Items that its tiles are cut into.
    pub(super) chunks: u32,
}

/// The last phase that a set of groups reaches into.
#[derive(Clone, Copy, Default)]
pub(super) struct SetPlace {
    pub(super) phase: u32,
    /// The last step that it has in this phase, counted from the phase's first.
    last_level: u32,
}

impl Order {
    pub(super) fn new(groups: &Groups, rows: u32, workgroups: u32) -> Self {
        let (mut places, phases) = phases(groups);
        let sets = levels(groups, &mut places);
        let first_steps = steps(&mut places, phases);
        let step_count = first_steps.last().copied().unwrap_or(0) as usize;

        let mut step_tiles = vec![0_u64; step_count];
        let mut step_groups = vec![0_u32; step_count];
        for (group, place) in groups.groups.iter().zip(&places) {
            let tiles = &mut step_tiles[place.step as usize];
            *tiles = tiles.saturating_add(u64::from(group.tiles) * u64::from(rows));
            step_groups[place.step as usize] += 1;
        }
        for (group, place) in groups.groups.iter().zip(&mut places) {
            place.chunks = chunks(group, step_tiles[place.step as usize], workgroups);
        }
        Self {
            sequence: sequence(&places, &step_groups),
            places,
            sets,
            first_steps,
        }
    }

    /// Whether a group has to wait for its set; if not, that is empty or of an earlier phase.
    pub(super) fn waits(&self, group: &Group, place: Place) -> bool {
        group.set != NO_SET && self.sets[group.set as usize].phase == place.phase
    }
}

/// The share of the workgroups that a group has by its share of the tiles of its step.
fn chunks(group: &Group, step_tiles: u64, workgroups: u32) -> u32 {
    let share = (u64::from(workgroups) * u64::from(group.tiles)).div_ceil(step_tiles);
    // Not over the number of workgroups, since the step has at least the group's tiles.
    u32::try_from(share)
        .unwrap_or(workgroups)
        .clamp(1, group.tiles)
}

/// Gives every group its phase; the number of phases.
///
/// Classes take turns, so a phase's class follows from its number. Phases that stay empty are taken
/// out again.
fn phases(groups: &Groups) -> (Vec<Place>, u32) {
    let mut classes: Vec<u32> = groups.groups.iter().map(|group| group.class).collect();
    classes.sort_unstable();
    classes.dedup();
    if classes.len() < 2 {
        return (vec![Place::default(); groups.groups.len()], 1);
    }
    let turns = classes.len() as u64;
    let mut phases: Vec<u64> = Vec::with_capacity(groups.groups.len());
    let mut earliest: Vec<u64> = Vec::with_capacity(groups.sets());
    for group in &groups.groups {
        let earliest = match group.set {
            NO_SET => 0,
            set => {
                // Groups come in the order of their sets' first use.
                if set as usize == earliest.len() {
                    let members = groups.set(set).iter();
                    let last = members.map(|&member| phases[member as usize]).max();
                    earliest.push(last.unwrap_or(0));
                }
                earliest[set as usize]
            }
        };
        let turn = classes.partition_point(|&class| class < group.class) as u64;
        phases.push(earliest + (turn + turns - earliest % turns) % turns);
    }
    renumber(&phases, turns)
}

/// Counts phases without empty ones, and as one where neighbours have the same class.
fn renumber(phases: &[u64], turns: u64) -> (Vec<Place>, u32) {
    let mut used = phases.to_vec();
    used.sort_unstable();
    used.dedup();
    let mut count = 0;
    let mut numbers = Vec::with_capacity(used.len());
    for (index, phase) in used.iter().enumerate() {
        if index > 0 && used[index - 1] % turns != phase % turns {
            count += 1;
        }
        numbers.push(count);
    }
    let places = phases.iter().map(|phase| Place {
        phase: numbers[used.partition_point(|other| other < phase)],
        ..Place::default()
    });
    (places.collect(), count + 1)
}

/// Gives every group its level within its phase as its step, and every set its place.
fn levels(groups: &Groups, places: &mut [Place]) -> Vec<SetPlace> {
    let mut sets: Vec<SetPlace> = Vec::with_capacity(groups.sets());
    for (index, group) in groups.groups.iter().enumerate() {
        if group.set == NO_SET {
            continue;
        }
        if group.set as usize == sets.len() {
            let members = groups.set(group.set).iter();
            let last = members
                .map(|&member| places[member as usize])
                .map(|place| (place.phase, place.step))
                .max();
            let (phase, last_level) = last.unwrap_or_default();
            sets.push(SetPlace { phase, last_level });
        }
        let set = sets[group.set as usize];
        let place = &mut places[index];
        if set.phase == place.phase {
            place.step = set.last_level + 1;
        }
    }
    sets
}

/// Counts steps over all phases; the first of each phase, and their number.
fn steps(places: &mut [Place], phases: u32) -> Vec<u32> {
    let mut first_steps = vec![0; phases as usize + 1];
    for place in places.iter() {
        let steps = &mut first_steps[place.phase as usize + 1];
        *steps = place.step.saturating_add(1).max(*steps);
    }
    for phase in 1..first_steps.len() {
        first_steps[phase] += first_steps[phase - 1];
    }
    for place in places {
        place.step += first_steps[place.phase as usize];
    }
    first_steps
}

/// The groups by step, and in a step in the order in which they were opened.
fn sequence(places: &[Place], step_groups: &[u32]) -> Vec<u32> {
    let starts = step_groups.iter().scan(0, |next, groups| {
        let start = *next;
        *next += groups;
        Some(start)
    });
    let mut next: Vec<u32> = starts.collect();
    let mut sequence = vec![0; places.len()];
    for (group, place) in (0_u32..).zip(places) {
        let place = &mut next[place.step as usize];
        sequence[*place as usize] = group;
        *place += 1;
    }
    sequence
}
