/// Loops over pairs and quads of rows times 2 to 32 tokens, with AVX-512: what decodes several
/// sequences.
///
/// Weights are unpacked to registers and multiplied from there.
package dev.tenon.kernels.x86.linear.pairs;
