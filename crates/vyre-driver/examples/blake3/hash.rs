//! Hashes files on the device, batch by batch, in the order in which they come.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::mem;
use std::path::{Path, PathBuf};

use blake3::Hash;
use vyre_driver::{BackendError, DispatchConfig, Program, VyreBackend};

use crate::batch::Batch;
use crate::program::{Kernels, SLOT};
use crate::report::Report;
use crate::tree::{NODE_BYTES, SEGMENT_CHUNKS};

pub(crate) struct Hasher<'a> {
    backend: &'a dyn VyreBackend,
    kernels: Kernels,
    batch: Batch,
    /// The files that end in the batch.
    files: Vec<Ended>,
    /// The values of segments in earlier batches, of the first file that ends in this one or later.
    values: Vec<u8>,
    report: &'a mut Report,
}

/// A file that was read to its end.
struct Ended {
    path: PathBuf,
    expected: Hash,
    /// How many of the batch's pieces lie before its end.
    pieces: usize,
}

impl<'a> Hasher<'a> {
    pub(crate) fn new(
        backend: &'a dyn VyreBackend,
        report: &'a mut Report,
    ) -> Result<Self, BackendError> {
        Ok(Self {
            backend,
            kernels: Kernels::new()?,
            batch: Batch::default(),
            files: Vec::new(),
            values: Vec::new(),
            report,
        })
    }

    /// Reads a file, and hashes the batch whenever that is full.
    pub(crate) fn add(&mut self, path: &Path) -> Result<(), Box<dyn Error>> {
        let mut file = match File::open(path) {
            Ok(file) => BufReader::new(file),
            Err(error) => {
                self.report.unreadable(path, &error);
                return Ok(());
            }
        };
        let mut expected = blake3::Hasher::new();
        for first_chunk in (0..).step_by(SEGMENT_CHUNKS) {
            if self.batch.is_full() {
                self.flush()?;
            }
            match self.batch.read(&mut file, first_chunk) {
                Ok((bytes, ended)) => {
                    expected.update(bytes);
                    self.report.read(bytes.len());
                    if ended {
                        break;
                    }
                }
                Err(error) => {
                    self.abandon();
                    self.report.unreadable(path, &error);
                    return Ok(());
                }
            }
        }
        self.files.push(Ended {
            path: path.to_owned(),
            expected: expected.finalize(),
            pieces: self.batch.pieces().len(),
        });
        Ok(())
    }

    /// Hashes what was read, and reports the files that end in it.
    pub(crate) fn flush(&mut self) -> Result<(), Box<dyn Error>> {
        if self.batch.pieces().is_empty() {
            return Ok(());
        }
        let program = self.kernels.hash(&self.batch)?;
        let slots = run(self.backend, &program, self.batch.data(), self.report)?;
        let mut roots = slots.chunks(SLOT).map(|slot| &slot[..NODE_BYTES]);
        let mut taken = 0;
        for file in mem::take(&mut self.files) {
            let of_file = roots.by_ref().take(file.pieces - taken);
            taken = file.pieces;
            self.values.extend(of_file.flatten());
            let digest = self.digest()?;
            self.report.hashed(&file.path, digest, file.expected)?;
        }
        self.values.extend(roots.flatten());
        self.batch.truncate(0);
        Ok(())
    }

    /// The digest of the file whose segments gave the values. Takes these.
    fn digest(&mut self) -> Result<Hash, Box<dyn Error>> {
        let mut values = mem::take(&mut self.values);
        if values.len() > NODE_BYTES {
            let program = self.kernels.combine(values.len() / NODE_BYTES)?;
            values = run(self.backend, &program, &values, self.report)?;
        }
        Ok(Hash::from_slice(&values)?)
    }

    /// Forgets the file that is being read.
    fn abandon(&mut self) {
        match self.files.last() {
            Some(last) => self.batch.truncate(last.pieces),
            None => {
                self.batch.truncate(0);
                self.values.clear();
            }
        }
    }
}

/// Runs a program of one input and one output.
fn run(
    backend: &dyn VyreBackend,
    program: &Program,
    input: &[u8],
    report: &mut Report,
) -> Result<Vec<u8>, BackendError> {
    let mut outputs = Vec::new();
    let config = DispatchConfig::default();
    let dispatched = backend.dispatch_reported(program, &[input], &config, &mut outputs)?;
    report.dispatched(dispatched);
    Ok(outputs.concat())
}
