/// What the loops of the linear kernels need of a format, and the layouts that both know.
///
/// A format turns its blocks into levels and scales ([BlockCode]); a micro-kernel is its inner part
/// of a loop over pairs, quads or streams of rows. The layouts are those of packed activations, of
/// panels, and of scratch memory.
package dev.tenon.kernels.x86.block;
