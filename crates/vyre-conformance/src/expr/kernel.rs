//! Expressions as one kernel: its source, its buffers, and the values that come back.

use std::fmt::Write as _;

use vyre_core::backend::{DispatchConfig, VyreBackend};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use super::tree::{Expr, Kind, Node};
use super::ty::{Scalar, Ty, Value};
use crate::case::Fault;

/// Rows of a kernel come in whole workgroups of this many.
pub(crate) const WORKGROUP: usize = 64;

/// What came back: of each expression, of each node that was stored, the value of each row.
pub(crate) type Observed = Vec<Vec<Option<Vec<Value>>>>;

/// The values of one scalar's columns, row by row.
#[derive(Default)]
struct Columns {
    /// One column per lane, each with a value per row.
    columns: Vec<Vec<u64>>,
}

/// A kernel under construction.
struct Writer {
    rows: usize,
    inputs: Vec<Columns>,
    body: String,
    /// Words and floats stored per row.
    stored: [usize; 2],
    /// Of each expression, of each node, where its lanes are stored.
    places: Vec<Vec<Option<usize>>>,
}

/// The source, and the bytes of the inputs, of a kernel that evaluates all of `exprs`.
pub(crate) struct Batch {
    pub(crate) source: String,
    inputs: Vec<(Scalar, Vec<u8>)>,
    rows: usize,
    stored: [usize; 2],
    places: Vec<Vec<Option<usize>>>,
}

/// Whether every node is stored, not only the root: floats are checked operation by operation.
fn is_traced(expr: &Expr) -> bool {
    expr.has_floats()
}

impl Batch {
    pub(crate) fn new(exprs: &[Expr], rows: usize) -> Self {
        let mut writer = Writer {
            rows: rows.next_multiple_of(WORKGROUP),
            inputs: Scalar::ALL.iter().map(|_| Columns::default()).collect(),
            body: String::new(),
            stored: [0; 2],
            places: Vec::new(),
        };
        for expr in exprs {
            writer.expression(expr);
        }
        writer.finish()
    }

    /// Runs the kernel.
    pub(crate) fn run(&self, backend: &dyn VyreBackend, exprs: &[Expr]) -> Result<Observed, Fault> {
        let kernel = Kernel::from_wgsl(&self.source)
            .map_err(|error| Fault::new(format!("{error}\n{}", self.source)))?;
        let mut builder = Program::builder("expressions");
        let mut bound = Vec::new();
        for (scalar, bytes) in &self.inputs {
            let name = format!("in_{}", scalar.letter());
            bound.push((builder.input(name.clone(), bytes.len() as u64), name));
        }
        let mut outputs = Vec::new();
        for (name, stored) in ["out_u", "out_f"].into_iter().zip(self.stored) {
            if stored > 0 {
                let id = builder.output(name, 4 * (stored * self.rows) as u64);
                bound.push((id, name.to_owned()));
                outputs.push(name);
            }
        }
        let groups = u32::try_from(self.rows / WORKGROUP).unwrap_or(u32::MAX);
        let mut op = builder.op(&kernel, [groups, 1, 1]);
        for (id, name) in &bound {
            op.bind(name, *id);
        }
        let program = builder.build()?;
        let inputs: Vec<&[u8]> = self
            .inputs
            .iter()
            .map(|(_, bytes)| bytes.as_slice())
            .collect();
        let bytes = backend
            .dispatch(&program, &inputs, &DispatchConfig::default())
            .map_err(|error| {
                let Fault(text) = error.into();
                Fault::new(format!("{text}\n{}", self.source))
            })?;
        let mut words = [Vec::new(), Vec::new()];
        for (name, bytes) in outputs.into_iter().zip(&bytes) {
            words[usize::from(name == "out_f")] = crate::context::words(bytes)?;
        }
        Ok(self.observed(exprs, &words))
    }

    fn observed(&self, exprs: &[Expr], words: &[Vec<u32>; 2]) -> Observed {
        let nodes = |(expr, places): (&Expr, &Vec<Option<usize>>)| {
            let nodes = expr.nodes.iter().zip(places);
            let values = nodes.map(|(node, place)| {
                let place = (*place)?;
                let rows = 0..self.rows;
                Some(
                    rows.map(|row| self.value(node.ty, place, row, words))
                        .collect(),
                )
            });
            values.collect()
        };
        exprs.iter().zip(&self.places).map(nodes).collect()
    }

    fn value(&self, ty: Ty, place: usize, row: usize, words: &[Vec<u32>; 2]) -> Value {
        let kind = usize::from(ty.scalar.is_float());
        let (words, stored) = (&words[kind], self.stored[kind]);
        let mut value = [0; 4];
        for (lane, bits) in value[..ty.lanes].iter_mut().enumerate() {
            let at = row * stored + place;
            *bits = match ty.scalar {
                Scalar::U64 | Scalar::I64 => {
                    let at = at + 2 * lane;
                    u64::from(words[at]) | u64::from(words[at + 1]) << 32
                }
                Scalar::F16 => {
                    let float = f32::from_bits(words[at + lane]);
                    half::f16::from_f32(float).to_bits().into()
                }
                _ => words[at + lane].into(),
            };
        }
        value
    }
}

impl Writer {
    fn expression(&mut self, expr: &Expr) {
        let traced = is_traced(expr);
        let mut texts: Vec<String> = Vec::new();
        let mut places = Vec::new();
        self.body.push_str("    {\n");
        for (index, node) in expr.nodes.iter().enumerate() {
            let text = self.node(node, &texts);
            let is_root = index + 1 == expr.nodes.len();
            let applied = !matches!(node.kind, Kind::Leaf(_) | Kind::Literal(_));
            if is_root || traced && applied {
                let name = format!("n{index}");
                let _ = writeln!(self.body, "        let {name} = {text};");
                places.push(Some(self.store(node.ty, &name)));
                texts.push(name);
            } else {
                texts.push(text);
                places.push(None);
            }
        }
        self.body.push_str("    }\n");
        self.places.push(places);
    }

    fn node(&mut self, node: &Node, texts: &[String]) -> String {
        match &node.kind {
            Kind::Leaf(values) => self.leaf(node.ty, values),
            Kind::Literal(bits) => {
                let suffix = if node.ty.scalar == Scalar::U32 {
                    "u"
                } else {
                    "i"
                };
                format!("{bits}{suffix}")
            }
            Kind::Apply(op, operands) => {
                let operands: Vec<String> = operands.iter().map(|&at| texts[at].clone()).collect();
                op.wgsl(node.ty, &operands)
            }
            Kind::Swizzle(operand, pattern) => {
                let lanes = pattern.iter().map(|&lane| &"xyzw"[lane..=lane]);
                format!("({}).{}", texts[*operand], lanes.collect::<String>())
            }
            Kind::Compose(parts) => {
                let parts: Vec<&str> = parts.iter().map(|&at| texts[at].as_str()).collect();
                format!("{}({})", node.ty.wgsl(), parts.join(", "))
            }
        }
    }

    fn leaf(&mut self, ty: Ty, values: &[Value]) -> String {
        let at = Scalar::ALL.iter().position(|scalar| *scalar == ty.scalar);
        let columns = &mut self.inputs[at.unwrap_or_default()].columns;
        let mut lanes = Vec::new();
        for lane in 0..ty.lanes {
            let letter = ty.scalar.letter();
            let element = format!("in_{letter}[row * COLUMNS_{letter} + {}u]", columns.len());
            lanes.push(match ty.scalar {
                Scalar::Bool => format!("({element} != 0u)"),
                _ => element,
            });
            // The last row is repeated up to a whole workgroup.
            let last = values[values.len() - 1];
            let mut column: Vec<u64> = values.iter().map(|value| value[lane]).collect();
            column.resize(self.rows, last[lane]);
            columns.push(column);
        }
        match ty.lanes {
            1 => lanes.remove(0),
            _ => format!("{}({})", ty.wgsl(), lanes.join(", ")),
        }
    }

    /// Stores the value `name`; returns its place in the row.
    fn store(&mut self, ty: Ty, name: &str) -> usize {
        let kind = usize::from(ty.scalar.is_float());
        let buffer = ["out_u", "out_f"][kind];
        let place = self.stored[kind];
        for lane in 0..ty.lanes {
            let value = match ty.lanes {
                1 => name.to_owned(),
                _ => format!("{name}.{}", &"xyzw"[lane..=lane]),
            };
            let words = match ty.scalar {
                Scalar::Bool => vec![format!("select(0u, 1u, {value})")],
                Scalar::U32 | Scalar::F32 => vec![value],
                Scalar::I32 => vec![format!("bitcast<u32>({value})")],
                Scalar::F16 => vec![format!("f32({value})")],
                Scalar::U64 | Scalar::I64 => {
                    vec![format!("u32({value})"), format!("u32({value} >> 32u)")]
                }
            };
            for word in words {
                let at = self.stored[kind];
                let stride = buffer.to_uppercase();
                let _ = writeln!(
                    self.body,
                    "        {buffer}[row * {stride} + {at}u] = {word};"
                );
                self.stored[kind] += 1;
            }
        }
        place
    }

    fn finish(self) -> Batch {
        let mut source = String::new();
        let mut inputs = Vec::new();
        let used = Scalar::ALL.iter().zip(&self.inputs);
        let used: Vec<_> = used
            .filter(|(_, columns)| !columns.columns.is_empty())
            .collect();
        if self.body.contains("f16") || used.iter().any(|(scalar, _)| **scalar == Scalar::F16) {
            source.push_str("enable f16;\n");
        }
        for (binding, (scalar, columns)) in used.into_iter().enumerate() {
            let letter = scalar.letter();
            let element = if *scalar == Scalar::Bool {
                "u32"
            } else {
                scalar.name()
            };
            let count = columns.columns.len();
            let _ = writeln!(source, "const COLUMNS_{letter} = {count}u;");
            let _ = writeln!(
                source,
                "@group(0) @binding({binding}) var<storage, read> in_{letter}: array<{element}>;"
            );
            inputs.push((*scalar, columns.bytes(*scalar, self.rows)));
        }
        for (index, name) in ["out_u", "out_f"].into_iter().enumerate() {
            let (stride, element) = (name.to_uppercase(), ["u32", "f32"][index]);
            let (binding, stored) = (10 + index, self.stored[index]);
            let _ = writeln!(source, "const {stride} = {stored}u;");
            let _ = writeln!(
                source,
                "@group(0) @binding({binding}) var<storage, read_write> {name}: array<{element}>;"
            );
        }
        let _ = write!(
            source,
            "@compute @workgroup_size({WORKGROUP})\nfn main(@builtin(global_invocation_id) id: \
             vec3<u32>) {{\n    let row = id.x;\n{}}}\n",
            self.body
        );
        Batch {
            source,
            inputs,
            rows: self.rows,
            stored: self.stored,
            places: self.places,
        }
    }
}

impl Columns {
    fn bytes(&self, scalar: Scalar, rows: usize) -> Vec<u8> {
        let len = scalar.width() as usize / 8;
        let mut bytes = Vec::new();
        for row in 0..rows {
            for column in &self.columns {
                bytes.extend_from_slice(&column[row].to_le_bytes()[..len]);
            }
        }
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}
