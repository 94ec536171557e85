//! Holds what a backend computed against what the host expects, and cuts a difference down.

use std::sync::Arc;

use vyre_core::backend::VyreBackend;

use super::expected::{Expected, Operand, expected, moved, packs};
use super::kernel::{Batch, Observed};
use super::tree::{Expr, Kind, Node};
use super::ty::{Scalar, Value, show};
use crate::case::{Fault, Faults};

/// Kernels that a search for a smaller one may run.
const SHRINKING_RUNS: usize = 60;

/// A value that WGSL does not allow.
struct Finding {
    node: usize,
    row: usize,
    message: String,
}

/// Runs all of `exprs` in one kernel; fails with the smallest kernel for each that shows a difference.
pub(crate) fn check(
    backend: &Arc<dyn VyreBackend>,
    exprs: &[Expr],
    rows: usize,
) -> Result<(), Fault> {
    let batch = Batch::new(exprs, rows);
    let observed = batch.run(&**backend, exprs)?;
    let mut faults = Faults::default();
    for (expr, values) in exprs.iter().zip(&observed) {
        if let Some(finding) = find(expr, values, rows) {
            faults.add(Err(smallest(backend, expr, values, rows, finding)));
        }
    }
    faults.into_result()
}

/// The values of each node: those that were stored, those given, and those the host knows.
fn values(expr: &Expr, observed: &[Option<Vec<Value>>], rows: usize) -> Vec<Vec<Value>> {
    let mut all: Vec<Vec<Value>> = Vec::new();
    for (node, observed) in expr.nodes.iter().zip(observed) {
        let values = match (&node.kind, observed) {
            (Kind::Leaf(values), _) => values.clone(),
            (Kind::Literal(bits), _) => vec![[*bits; 4]; rows],
            (_, Some(observed)) => observed.clone(),
            // Integers alone: there is one value only.
            (_, None) => (0..rows).map(|row| exact(expr, node, &all, row)).collect(),
        };
        all.push(values);
    }
    all
}

fn exact(expr: &Expr, node: &Node, values: &[Vec<Value>], row: usize) -> Value {
    let mut value = [0; 4];
    let operands = operands(expr, node, values, row);
    for (lane, expected) in lanes(node, &operands, row).into_iter().enumerate() {
        if let Expected::Bits(bits) = expected {
            value[lane] = bits;
        }
    }
    value
}

/// The values of one row; leaves may have fewer rows than the kernel.
fn at_row(values: &[Value], row: usize) -> Value {
    values[row.min(values.len() - 1)]
}

fn operands(expr: &Expr, node: &Node, values: &[Vec<Value>], row: usize) -> Vec<Operand> {
    let operands = node.kind.operands().iter();
    operands
        .map(|&at| Operand::exact(expr.nodes[at].ty, at_row(&values[at], row)))
        .collect()
}

/// What each lane of a node may be, given its operands.
fn lanes(node: &Node, operands: &[Operand], row: usize) -> Vec<Expected> {
    match &node.kind {
        Kind::Leaf(values) => {
            let value = at_row(values, row);
            let lanes = value[..node.ty.lanes].iter();
            lanes.map(|&bits| Expected::Bits(bits)).collect()
        }
        Kind::Literal(bits) => vec![Expected::Bits(*bits)],
        Kind::Apply(op, _) => expected(op, node.ty, operands),
        Kind::Swizzle(_, pattern) => {
            let lanes = pattern.iter();
            lanes.map(|&lane| moved(&operands[0], lane)).collect()
        }
        Kind::Compose(_) => {
            let parts = operands.iter();
            let lanes = parts.flat_map(|part| (0..part.ty.lanes).map(|lane| moved(part, lane)));
            lanes.collect()
        }
    }
}

/// The operands of node `at`, each with the range of what it may be without being rounded to what
/// was stored of it.
///
/// WGSL section "Reassociation and fusion" lets several operations become one that is at least as
/// accurate, so its result lies in what the errors of all of them together allow.
fn unstored_operands(expr: &Expr, at: usize, known: &[Vec<Value>], row: usize) -> Vec<Operand> {
    let mut all: Vec<Operand> = Vec::new();
    for (index, node) in expr.nodes[..at].iter().enumerate() {
        let mut operand = Operand::exact(node.ty, at_row(&known[index], row));
        if node.ty.scalar.is_float() && !matches!(node.kind, Kind::Leaf(_)) {
            let parts: Vec<Operand> = node.kind.operands().iter().map(|&at| all[at]).collect();
            for (lane, expected) in lanes(node, &parts, row).into_iter().enumerate() {
                operand.ranges[lane] = match expected {
                    Expected::Any => None,
                    Expected::Float(_, span) => operand.ranges[lane].map(|own| own.hull(span)),
                    _ => operand.ranges[lane],
                };
            }
        }
        all.push(operand);
    }
    let operands = expr.nodes[at].kind.operands().iter();
    operands.map(|&at| all[at]).collect()
}

/// The first value that is not as expected.
fn find(expr: &Expr, observed: &[Option<Vec<Value>>], rows: usize) -> Option<Finding> {
    // Of the root the host's own value is wanted, so it is left out of what is known.
    let known = values(expr, observed, rows);
    for (index, got) in observed.iter().enumerate() {
        let Some(got) = got else { continue };
        for (row, got) in got.iter().enumerate().take(rows) {
            if let Some(message) = difference(expr, index, &known, row, got) {
                return Some(Finding {
                    node: index,
                    row,
                    message,
                });
            }
        }
    }
    None
}

fn difference(
    expr: &Expr,
    at: usize,
    known: &[Vec<Value>],
    row: usize,
    got: &Value,
) -> Option<String> {
    let node = &expr.nodes[at];
    let operands = operands(expr, node, known, row);
    let (wrong, expected) = refused(node, &operands, row, got)?;
    if expr.has_floats() {
        refused(node, &unstored_operands(expr, at, known, row), row, got)?;
    }
    let name = match &node.kind {
        Kind::Apply(op, operands) => op.wgsl(node.ty, &vec!["_".to_owned(); operands.len()]),
        Kind::Leaf(_) => "a value of a buffer".to_owned(),
        Kind::Literal(_) => "a literal".to_owned(),
        Kind::Swizzle(..) => "a swizzle".to_owned(),
        Kind::Compose(_) => "a composition".to_owned(),
    };
    let operands = operands.iter();
    let operands: Vec<String> = operands.map(|it| show(it.ty, &it.value)).collect();
    Some(format!(
        "{name} of type {} over {}: lane {wrong} of {} is not {}",
        node.ty.wgsl(),
        operands.join("; "),
        show(node.ty, got),
        expected.show(node.ty.scalar)
    ))
}

/// The first lane that can't come of these operands, and what could.
fn refused(
    node: &Node,
    operands: &[Operand],
    row: usize,
    got: &Value,
) -> Option<(usize, Expected)> {
    let mut lanes = lanes(node, operands, row);
    if let Kind::Apply(op, _) = node.kind
        && let Some(refused) = packs(op, operands, got[0])
    {
        lanes[0] = refused;
    }
    let scalar = node.ty.scalar;
    let mut lanes = lanes.into_iter().enumerate();
    lanes.find(|(lane, expected)| !expected.accepts(scalar, got[*lane]))
}

/// Cuts the expression down as long as the backend stays wrong, and says what is left.
fn smallest(
    backend: &Arc<dyn VyreBackend>,
    expr: &Expr,
    observed: &[Option<Vec<Value>>],
    rows: usize,
    finding: Finding,
) -> Fault {
    let mut best = (expr.clone(), finding);
    let mut known = values(expr, observed, rows);
    let mut runs = 0;
    let mut at = 0;
    // Each turn tries one node: the failing one as the root first, then leaves for operands.
    while runs < SHRINKING_RUNS && at < best.0.nodes.len() {
        let last = best.0.nodes.len() - 1;
        let candidate = if at == 0 && best.1.node < last {
            Some(best.0.cut(best.1.node))
        } else {
            let index = last - at;
            let inner = !matches!(best.0.nodes[index].kind, Kind::Leaf(_) | Kind::Literal(_));
            (at > 0 && inner).then(|| best.0.with_leaf(index, known[index].clone()))
        };
        at += 1;
        let Some(candidate) = candidate else { continue };
        runs += 1;
        if let Some((finding, observed)) = rerun(backend, &candidate, rows) {
            known = values(&candidate, &observed[0], rows);
            best = (candidate, finding);
            at = 0;
        }
    }
    let batch = Batch::new(std::slice::from_ref(&best.0), rows);
    Fault::new(format!(
        "{}\nrow {} of the smallest kernel that was found ({runs} tried):\n{}\n{}",
        best.1.message,
        best.1.row,
        given(&best.0, best.1.row),
        batch.source
    ))
}

/// The values of the leaves, in the order of their columns.
fn given(expr: &Expr, row: usize) -> String {
    let leaves = expr.nodes.iter().filter_map(|node| match &node.kind {
        Kind::Leaf(values) => Some((node.ty, at_row(values, row))),
        _ => None,
    });
    let shown = leaves.map(|(ty, value)| format!("{}: {}", ty.wgsl(), show(ty, &value)));
    format!("inputs: {}", shown.collect::<Vec<_>>().join("; "))
}

fn rerun(backend: &Arc<dyn VyreBackend>, expr: &Expr, rows: usize) -> Option<(Finding, Observed)> {
    let exprs = std::slice::from_ref(expr);
    let observed = Batch::new(exprs, rows).run(&**backend, exprs).ok()?;
    let finding = find(expr, &observed[0], rows)?;
    Some((finding, observed))
}

/// The scalars that every device has.
pub(crate) const PLAIN: &[Scalar] = &[Scalar::Bool, Scalar::U32, Scalar::I32, Scalar::F32];
