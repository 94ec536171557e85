//! Out of bounds, a read gives zero, a write is dropped, and an atomic operation does nothing.

mod atomics;
mod bindings;
mod variables;

use vyre_core::backend::VyreBackend;
use vyre_core::kernel::Kernel;
use vyre_core::program::BufferRole::{InOut, Input};
use vyre_core::program::Program;

use super::UNTOUCHED;
use crate::harness::{declare, run};

/// Words of a range of a buffer that is bound, and as many before it and after it.
const RANGE: usize = 64;

/// The first and the last index in bounds, and ones out of bounds: near ones, ones whose offset in
/// bytes wraps around back into bounds, negative ones.
fn indices(len: u32) -> Vec<u32> {
    let near = [0, len - 1, len, len + 1, 2 * len];
    let wrapping = [4, 8, 16, 32].map(|stride| ((1_u64 << 32) / stride) as u32 + 1);
    let far = [
        0x3fff_ffff,
        0x4000_0000,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_fffe,
        u32::MAX,
    ];
    [&near[..], &wrapping, &far].concat()
}

/// Elements in memory that a kernel reads and writes, each of them a number.
#[derive(Clone, Copy)]
struct Place<'a> {
    /// Declarations; what is in a buffer has the name `place`, group 0 and binding 2.
    module: &'a str,
    /// Statements that declare what is in a function.
    local: &'a str,
    /// The element of index `_` as a `u32`.
    read: &'a str,
    /// The statement that makes the element of index `_` the number `#`; none if it is constant.
    write: &'a str,
    /// Elements.
    len: u32,
    /// What lies around the elements, as a `u32` that is 0 until someone writes there.
    around: &'a str,
    /// What the range of a buffer holds that is bound to `place`; none if it is not in a buffer.
    contents: &'a [u32],
}

impl Default for Place<'_> {
    fn default() -> Self {
        Self {
            module: "",
            local: "",
            read: "",
            write: "",
            len: 6,
            around: "0u",
            contents: &[],
        }
    }
}

impl Place<'_> {
    /// Writes `k + 1` to each element `k`; then reads the element of each index, writes 99 to it,
    /// and reads all elements.
    fn kernel(&self, index_type: &str) -> Kernel {
        let Self {
            module,
            local,
            len,
            around,
            ..
        } = self;
        let read = |index: &str| self.read.replace('_', index);
        let write = |index: &str, value: &str| self.write.replace('_', index).replace('#', value);
        let source = format!(
            "@group(0) @binding(0) var<storage, read> indices: array<{index_type}>;
             @group(0) @binding(1) var<storage, read_write> seen: array<u32>;
             {module}
             @compute @workgroup_size(1) fn probe() {{
                 {local}
                 for (var turn = 0u; turn < arrayLength(&indices); turn++) {{
                     let index = indices[turn];
                     let at = turn * {len}u + turn;
                     for (var k = 0u; k < {len}u; k++) {{ {} }}
                     seen[at] = {};
                     {}
                     for (var k = 0u; k < {len}u; k++) {{ seen[at + 1u + k] = {}; }}
                 }}
                 seen[arrayLength(&seen) - 1u] = {around};
             }}",
            write("k", "(k + 1u)"),
            read("index"),
            write("index", "99u"),
            read("k"),
        );
        let kernel = source.replace("enable f16;", "");
        let enable = if kernel == source { "" } else { "enable f16;" };
        Kernel::from_wgsl(&format!("{enable}{kernel}")).unwrap()
    }

    /// What the kernel sees.
    fn expected(&self, indices: &[u32]) -> Vec<u32> {
        let mut seen = Vec::new();
        for &index in indices {
            let mut elements: Vec<u32> = (1..=self.len).collect();
            let element = elements.get_mut(index as usize);
            seen.push(element.as_deref().copied().unwrap_or(0));
            if let Some(element) = element
                && !self.write.is_empty()
            {
                *element = 99;
            }
            seen.extend(elements);
        }
        seen.push(0);
        seen
    }

    fn program(&self, index_type: &str, indices: &[u32]) -> Program {
        let mut builder = Program::builder("probe");
        let index_buffer = declare(&mut builder, ("indices", Input, indices.len()));
        let seen_len = self.expected(indices).len();
        let seen = declare(&mut builder, ("seen", InOut, seen_len));
        let data = declare(&mut builder, ("data", InOut, 3 * RANGE));
        let mut op = builder.op(&self.kernel(index_type), [1, 1, 1]);
        op.bind("indices", index_buffer).bind("seen", seen);
        if !self.contents.is_empty() {
            let byte_len = 4 * self.contents.len() as u64;
            op.bind("place", data.slice(4 * RANGE as u64, byte_len));
        }
        builder.build().unwrap()
    }

    /// Fails unless accesses with indices of both types do what they should, and nothing else.
    fn assert_is_kept_to(&self, backend: &dyn VyreBackend) {
        let indices = indices(self.len);
        for index_type in ["u32", "i32"] {
            let program = self.program(index_type, &indices);
            let seen = vec![UNTOUCHED; self.expected(&indices).len()];
            let mut data = vec![UNTOUCHED; 3 * RANGE];
            let range = RANGE..RANGE + self.contents.len();
            data[range.clone()].copy_from_slice(self.contents);
            let outputs = run(backend, &program, &[&indices, &seen, &data]);
            assert_eq!(outputs[0], self.expected(&indices), "{index_type}");
            for word in (0..data.len()).filter(|word| !range.contains(word)) {
                assert_eq!(outputs[1][word], UNTOUCHED, "{index_type}, word {word}");
            }
        }
    }
}
