//! `KernelError`: why a WGSL source is no kernel, and where in the source.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use naga::back::pipeline_constants::PipelineConstantError;
use naga::front::wgsl::ParseError;
use naga::valid::ValidationError;
use naga::{ShaderStage, Span, WithSpan};
use thiserror::Error;

use super::isolate::IsolationError;
use super::location::{At, Chain, Excerpt, SourceLocation};

/// Why a WGSL source could not become a [`Kernel`](super::Kernel).
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The source is not WGSL.
    #[error("wgsl error{}: {message}{}", At(.location), Excerpt(.location))]
    Parse {
        /// What is wrong.
        message: String,
        /// Where, if known.
        location: Option<SourceLocation>,
        /// naga's own error.
        #[source]
        source: Box<ParseError>,
    },

    /// The source is WGSL, but breaks a rule of the language or needs something vyre lacks.
    #[error("invalid kernel{}: {message}{}", At(.location), Excerpt(.location))]
    Validate {
        /// What is wrong, with the chain of causes.
        message: String,
        /// Where, if known.
        location: Option<SourceLocation>,
        /// naga's own error.
        #[source]
        source: Box<WithSpan<ValidationError>>,
    },

    /// The source is longer than positions in it can be counted.
    #[error("the source has {bytes} bytes, the most is {}", u32::MAX)]
    SourceTooLong {
        /// Length of the source in bytes.
        bytes: usize,
    },

    /// The source declares no entry point.
    #[error("the source has no entry point; mark a function with @compute @workgroup_size(…)")]
    NoEntryPoint,

    /// No entry point has the wanted name.
    #[error("no entry point is named '{wanted}'; {}", Available(.available))]
    EntryPointNotFound {
        /// The name asked for.
        wanted: String,
        /// The names of the compute entry points.
        available: Vec<String>,
    },

    /// The source has several compute entry points and none was chosen.
    #[error("the source has {} compute entry points; choose one with `entry_point`; {}",
        .available.len(), Available(.available))]
    AmbiguousEntryPoint {
        /// The names of the compute entry points.
        available: Vec<String>,
    },

    /// The entry point is of a graphics or ray tracing stage.
    #[error("entry point '{name}' is of the {stage:?} stage; only compute entry points can run")]
    NotCompute {
        /// The entry point.
        name: String,
        /// Its stage.
        stage: ShaderStage,
    },

    /// The entry point uses a resource that is neither a storage nor a uniform buffer.
    #[error("variable '{name}' is {kind}; kernels use storage and uniform buffers only")]
    UnsupportedBinding {
        /// The variable.
        name: String,
        /// What it is, with its article.
        kind: &'static str,
    },

    /// The entry point uses a feature of the language that vyre doesn't offer.
    #[error("entry point '{entry_point}' uses {feature}, which kernels can't")]
    UnsupportedFeature {
        /// The entry point.
        entry_point: String,
        /// The feature.
        feature: &'static str,
    },

    /// Two variables the entry point uses share a group and binding.
    #[error("variables {} share @group({group}) @binding({binding}); give each its own",
        .names.join(", "))]
    DuplicateBinding {
        /// The group.
        group: u32,
        /// The binding.
        binding: u32,
        /// The variables.
        names: Vec<String>,
    },

    /// A variable's group is over what every device has.
    #[error(
        "variable '{name}' is in @group({group}); the last group is {}",
        super::reflect::MAX_GROUP
    )]
    GroupOutOfRange {
        /// The variable.
        name: String,
        /// Its group.
        group: u32,
    },

    /// A value was given for an override the source doesn't declare.
    #[error("no override is named '{name}'; {}", Available(.available))]
    UnknownOverride {
        /// The name given.
        name: String,
        /// The names of the declared overrides.
        available: Vec<String>,
    },

    /// The entry point uses overrides that have neither a default nor a given value.
    #[error("no value for override {}; set it with `override_constant`", .names.join(", "))]
    MissingOverride {
        /// The overrides without a value.
        names: Vec<String>,
    },

    /// A value can't be held by the type of its override.
    #[error("override '{name}' is of type {type_name} and can't hold {value}")]
    OverrideValue {
        /// The override.
        name: String,
        /// The value given.
        value: f64,
        /// The override's type in WGSL.
        type_name: &'static str,
    },

    /// The override values make an expression or a type invalid.
    #[error("invalid kernel{} with {}: {}{}",
        At(.location), Values(.values), Chain(.source.as_ref()), Excerpt(.location))]
    OverrideEvaluation {
        /// The values given; the others are defaults.
        values: Vec<(String, f64)>,
        /// Where, if known.
        location: Option<SourceLocation>,
        /// naga's own error.
        #[source]
        source: Box<PipelineConstantError>,
    },

    /// A barrier that some invocations of a workgroup may reach and others not: they would wait
    /// for each other without end. WGSL section "Uniformity" has the rules.
    #[error("barrier{} is in non-uniform control flow: because of the condition{}, some \
        invocations of a workgroup may reach it and others not; let all of them reach it{}",
        At(.location), At(.cause), Excerpt(.location))]
    NonUniformBarrier {
        /// The barrier.
        location: Option<SourceLocation>,
        /// The branch or loop whose condition isn't uniform.
        cause: Option<SourceLocation>,
    },

    /// The workgroup has no invocations, or too many.
    #[error("workgroup size {size:?} has {} invocations; each axis can be from 1 to 16384, and all \
        together at most {}", .size.iter().map(|&axis| u128::from(axis)).product::<u128>(), u32::MAX)]
    WorkgroupSize {
        /// Invocations along x, y and z.
        size: [u32; 3],
    },

    /// The workgroup variables are larger than can be counted.
    #[error("the workgroup variables take {bytes} bytes, the most is {}", u32::MAX)]
    WorkgroupMemory {
        /// Their size in bytes.
        bytes: u64,
    },

    /// The thread that parses could not start.
    #[error("no thread to parse the kernel in; free memory or raise the limit of threads")]
    Thread(#[source] Arc<io::Error>),

    /// naga panicked.
    #[error("naga panicked on this source, which is a fault of naga: {message}")]
    CompilerPanic {
        /// The message of the panic.
        message: String,
    },
}

impl From<IsolationError> for KernelError {
    fn from(error: IsolationError) -> Self {
        match error {
            IsolationError::Thread(error) => Self::Thread(Arc::new(error)),
            IsolationError::Panic { message } => Self::CompilerPanic { message },
        }
    }
}

impl KernelError {
    pub(super) fn parse(error: ParseError, source: &str) -> Self {
        let mut message = error.message().to_owned();
        for note in error.notes() {
            message.push_str("; ");
            message.push_str(note);
        }
        let (span, label) = error.labels().next().unwrap_or((Span::UNDEFINED, ""));
        let label = if message.contains(label) { "" } else { label };
        Self::Parse {
            message,
            location: SourceLocation::new(span, label, source),
            source: Box::new(error),
        }
    }

    pub(super) fn validate(error: WithSpan<ValidationError>, source: &str) -> Self {
        Self::Validate {
            message: Chain(error.as_inner()).to_string(),
            location: locate(&error, source),
            source: Box::new(error),
        }
    }

    pub(super) fn overrides(
        error: PipelineConstantError,
        values: &BTreeMap<String, f64>,
        source: &str,
    ) -> Self {
        let location = match &error {
            PipelineConstantError::ValidationError(error) => locate(error, source),
            _ => None,
        };
        let values = values.iter().map(|(name, value)| (name.clone(), *value));
        Self::OverrideEvaluation {
            values: values.collect(),
            location,
            source: Box::new(error),
        }
    }
}

fn locate(error: &WithSpan<ValidationError>, source: &str) -> Option<SourceLocation> {
    // The innermost span comes first; later ones only widen the context.
    let span = error
        .spans()
        .map(|(span, _)| *span)
        .find(Span::is_defined)?;
    SourceLocation::new(span, "", source)
}

struct Values<'a>(&'a [(String, f64)]);

impl fmt::Display for Values<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(((first, value), rest)) = self.0.split_first() else {
            return formatter.write_str("the default values of its overrides");
        };
        write!(formatter, "{first} = {value}")?;
        rest.iter()
            .try_for_each(|(name, value)| write!(formatter, ", {name} = {value}"))
    }
}

struct Available<'a>(&'a [String]);

impl fmt::Display for Available<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => formatter.write_str("the source declares none"),
            names => write!(formatter, "available: {}", names.join(", ")),
        }
    }
}
