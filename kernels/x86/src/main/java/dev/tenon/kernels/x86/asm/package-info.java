/// An assembler for x86-64.
///
/// [Assembler] has a method for each instruction that the kernels use, with VEX or EVEX encoding,
/// labels and constants; it knows nothing of kernels.
package dev.tenon.kernels.x86.asm;
