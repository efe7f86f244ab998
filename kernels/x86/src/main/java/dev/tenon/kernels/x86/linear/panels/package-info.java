/// Loops over panels of unpacked rows times many tokens: what reads prompts.
///
/// Weights are unpacked once to scratch memory and multiplied with all tokens from there.
package dev.tenon.kernels.x86.linear.panels;
