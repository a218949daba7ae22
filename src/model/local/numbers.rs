//! Tensors as plain numbers, where they lie.

use candle_core::{CpuStorage, Layout, Result, Storage, bail};

/// The numbers of a tensor of f32 on the processor, one row after the other.
pub(super) fn numbers<'a>(storage: &'a Storage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (Storage::Cpu(CpuStorage::F32(values)), Some((from, to))) => Ok(&values[from..to]),
        _ => bail!("expected contiguous f32 on the CPU"),
    }
}
