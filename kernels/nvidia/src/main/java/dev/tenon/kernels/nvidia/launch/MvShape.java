package dev.tenon.kernels.nvidia.launch;

/// What a matrix-vector kernel multiplies.
///
/// @param rows rows of activations: a power of two
/// @param cols elements of a row
/// @param weightRows rows of the weight that a thread streams at once
/// @param allRows rows of all weights of the launch
record MvShape(int rows, int cols, int weightRows, int allRows) {}
