/// Machine code for x86-64 processors, generated from Java at run time.
///
/// [X86KernelProvider] finds out what the processor can run and offers the kernels of the widest
/// feature set; [Formats] makes those of quantised formats of their layouts. Nothing here is
/// exported. The packages build on each other in this order: `asm`, `call`, `cpu`, `block`, then
/// `layout`, `format`, `pack`, the loops in `linear.rows`, `linear.panels` and `linear.pairs`, then `linear`,
/// beside them `attention` and `element`.
package dev.tenon.kernels.x86;
