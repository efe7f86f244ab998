package dev.tenon.backend.cpu.vector;

import dev.tenon.backend.cpu.vector.kernel.Scratch;

/// What a thread of the team has to itself while a plan runs.
///
/// @param scratch memory of linear kernels
/// @param tiles memory of attention
/// @param gateTile memory of gate and up projections
/// @param normed `[width]`, memory for a single normed row
record ThreadMemory(Scratch scratch, Tiles tiles, GateTile gateTile, Activations normed) {}
