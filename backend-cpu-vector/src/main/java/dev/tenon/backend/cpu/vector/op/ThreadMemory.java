package dev.tenon.backend.cpu.vector.op;

import dev.tenon.backend.cpu.vector.kernel.linear.Scratch;
import dev.tenon.backend.cpu.vector.kernel.states.StateWork;
import dev.tenon.backend.cpu.vector.kv.Tiles;
import dev.tenon.backend.cpu.vector.memory.Activations;
import dev.tenon.backend.cpu.vector.memory.GateTile;

/// What a thread of the team has to itself while a plan runs.
///
/// @param scratch memory of linear kernels
/// @param tiles memory of attention
/// @param gateTile memory of gate and up projections
/// @param normed `[width]`, memory for a single normed row
/// @param work what the thread works at in ops with a state
public record ThreadMemory(Scratch scratch, Tiles tiles, GateTile gateTile, Activations normed, StateWork work) {}
