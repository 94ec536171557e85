//! Expression trees: how they are made at random, and how they are cut down.

use super::op::{Op, Shape};
use super::ty::{Scalar, Ty, Value};
use super::{floats, ints, vectors};
use crate::random::Random;

/// One node; its operands come before it in the tree.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) ty: Ty,
    pub(crate) kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    /// A value from the input buffers: one for each row.
    Leaf(Vec<Value>),
    /// A number in the source, the same in each lane.
    Literal(u64),
    Apply(&'static Op, Vec<usize>),
    /// Lanes of a vector.
    Swizzle(usize, Vec<usize>),
    /// A vector of scalars and shorter vectors.
    Compose(Vec<usize>),
}

impl Kind {
    pub(crate) fn operands(&self) -> &[usize] {
        match self {
            Self::Leaf(_) | Self::Literal(_) => &[],
            Self::Apply(_, operands) | Self::Compose(operands) => operands,
            Self::Swizzle(operand, _) => std::slice::from_ref(operand),
        }
    }

    fn operands_mut(&mut self) -> &mut [usize] {
        match self {
            Self::Leaf(_) | Self::Literal(_) => &mut [],
            Self::Apply(_, operands) | Self::Compose(operands) => operands,
            Self::Swizzle(operand, _) => std::slice::from_mut(operand),
        }
    }
}

/// An expression; the last node is its root.
#[derive(Clone)]
pub(crate) struct Expr {
    pub(crate) nodes: Vec<Node>,
}

/// Every operation.
pub(crate) fn ops() -> impl Iterator<Item = &'static Op> {
    let all = [ints::OPS, ints::PACKED, floats::OPS, vectors::OPS];
    all.into_iter().flatten()
}

/// Whether the operation is between the scalars at hand.
pub(crate) fn is_within(op: &Op, scalars: &[Scalar]) -> bool {
    let from = match op.shape {
        Shape::From(scalar) => scalars.contains(&scalar),
        Shape::Fixed(operands, result) => operands
            .iter()
            .chain([&result])
            .all(|ty| scalars.contains(&ty.scalar)),
        Shape::Exponent | Shape::Shift => true,
        _ => true,
    };
    from && op.on.iter().any(|scalar| scalars.contains(scalar))
}

impl Expr {
    /// Whether any value in the expression is a float.
    pub(crate) fn has_floats(&self) -> bool {
        self.nodes.iter().any(|node| node.ty.scalar.is_float())
    }

    /// The expression up to `root`, without what that doesn't use.
    pub(crate) fn cut(&self, root: usize) -> Self {
        let mut used = vec![false; root + 1];
        used[root] = true;
        for index in (0..=root).rev() {
            if used[index] {
                for &operand in self.nodes[index].kind.operands() {
                    used[operand] = true;
                }
            }
        }
        let mut places = vec![0; root + 1];
        let mut nodes = Vec::new();
        for index in (0..=root).filter(|&index| used[index]) {
            places[index] = nodes.len();
            let mut node = self.nodes[index].clone();
            for operand in node.kind.operands_mut() {
                *operand = places[*operand];
            }
            nodes.push(node);
        }
        Self { nodes }
    }

    /// The expression with the value of node `at` read from the inputs.
    pub(crate) fn with_leaf(&self, at: usize, values: Vec<Value>) -> Self {
        let mut copy = self.clone();
        copy.nodes[at].kind = Kind::Leaf(values);
        copy.cut(copy.nodes.len() - 1)
    }
}

/// Nodes from which on an expression gets no deeper: the compilers of some drivers take minutes
/// for more.
const MAX_NODES: usize = 24;

/// Makes expressions over some scalars.
pub(crate) struct Generator<'a> {
    pub(crate) scalars: &'a [Scalar],
    pub(crate) rows: usize,
    pub(crate) random: &'a mut Random,
}

impl Generator<'_> {
    /// An expression of this type, at most `depth` operations deep.
    pub(crate) fn expression(&mut self, ty: Ty, depth: usize) -> Expr {
        let mut nodes = Vec::new();
        self.node(&mut nodes, ty, depth);
        Expr { nodes }
    }

    fn node(&mut self, nodes: &mut Vec<Node>, ty: Ty, depth: usize) -> usize {
        let kind = if depth == 0 || nodes.len() > MAX_NODES || self.random.chance(8) {
            Kind::Leaf((0..self.rows).map(|_| self.value(ty)).collect())
        } else if ty.lanes > 1 && self.random.chance(15) {
            self.compose(nodes, ty, depth)
        } else if self.random.chance(8) {
            let lanes = 2 + self.random.below(3);
            let from = self.node(nodes, Ty::new(ty.scalar, lanes), depth - 1);
            let pattern = (0..ty.lanes).map(|_| self.random.below(lanes));
            Kind::Swizzle(from, pattern.collect())
        } else {
            self.apply(nodes, ty, depth)
        };
        nodes.push(Node { ty, kind });
        nodes.len() - 1
    }

    fn compose(&mut self, nodes: &mut Vec<Node>, ty: Ty, depth: usize) -> Kind {
        let mut parts = Vec::new();
        let mut missing = ty.lanes;
        while missing > 0 {
            // Never the whole vector at once.
            let lanes = 1 + self.random.below(missing.min(ty.lanes - 1));
            parts.push(self.node(nodes, Ty::new(ty.scalar, lanes), depth - 1));
            missing -= lanes;
        }
        Kind::Compose(parts)
    }

    fn apply(&mut self, nodes: &mut Vec<Node>, ty: Ty, depth: usize) -> Kind {
        let scalars = self.scalars;
        let fitting: Vec<&'static Op> = ops()
            .filter(|op| op.gives(ty) && is_within(op, scalars))
            .collect();
        let op = fitting[self.random.below(fitting.len())];
        let compared = loop {
            let scalar = *self.random.pick(op.on);
            if scalars.contains(&scalar) || op.shape != Shape::Compare {
                break scalar;
            }
        };
        let folded = 2 + self.random.below(3);
        let mut operands = Vec::new();
        for (index, ty) in op.operands(ty, compared, folded).into_iter().enumerate() {
            // Never two numbers in one operation: WGSL would evaluate it while compiling, with
            // rules of its own.
            let number = index == 1 && self.random.chance(12);
            operands.push(match self.literal(op, ty).filter(|_| number) {
                Some(kind) => {
                    nodes.push(Node { ty, kind });
                    nodes.len() - 1
                }
                None => self.node(nodes, ty, depth - 1),
            });
        }
        Kind::Apply(op, operands)
    }

    /// A number as the second operand of an infix operator, where WGSL takes any.
    fn literal(&mut self, op: &Op, ty: Ty) -> Option<Kind> {
        let bound = match (op.name, ty.scalar) {
            _ if op.form != super::op::Form::Infix || ty.lanes > 1 => return None,
            ("<<" | ">>", _) => 32,
            (_, Scalar::U32) => u64::from(u32::MAX),
            (_, Scalar::I32) => 0x7fff_ffff,
            _ => return None,
        };
        Some(Kind::Literal(1 + self.random.bits() % (bound - 1)))
    }

    /// A value that is special every other time.
    pub(crate) fn value(&mut self, ty: Ty) -> Value {
        let mut value = [0; 4];
        for lane in &mut value[..ty.lanes] {
            *lane = self.lane(ty.scalar);
        }
        value
    }

    fn lane(&mut self, scalar: Scalar) -> u64 {
        let random = &mut *self.random;
        if random.chance(40) {
            return *random.pick(scalar.specials());
        }
        let bits = random.bits();
        match scalar {
            Scalar::Bool => bits & 1,
            Scalar::F32 if random.chance(75) => {
                // Ordinary numbers: up to 2^±12, where functions have bounds.
                let exponent = 115 + random.below(25) as u64;
                u64::from(bits as u32 & 0x807f_ffff) | exponent << 23
            }
            Scalar::F16 if random.chance(75) => {
                let exponent = 10 + random.below(10) as u64;
                u64::from(bits as u16 & 0x83ff) | exponent << 10
            }
            _ => scalar.wrap(i128::from(bits)),
        }
    }
}
