/// Packing of activations.
///
/// A row of float32 is rounded to bytes or words with a scale for each group, in the layout of
/// `PackedActivations`.
package dev.tenon.kernels.x86.pack;
