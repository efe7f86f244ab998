/// Loops that stream rows of weights: one row, or four streams of rows, times one to four tokens.
///
/// This is what decodes one sequence, at the speed of memory.
package dev.tenon.kernels.x86.linear.rows;
