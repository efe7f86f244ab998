package dev.tenon.backend.cpu.vector.kernel.permuted;

/// Where the parts of a block are.
///
/// @param bytes bytes of a block
/// @param firstWord where its words begin
/// @param words how many it has, a multiple of 4
/// @param firstF16 where its F16 numbers begin
/// @param f16Count how many it has
record PermutedBlock(int bytes, int firstWord, int words, int firstF16, int f16Count) {}
