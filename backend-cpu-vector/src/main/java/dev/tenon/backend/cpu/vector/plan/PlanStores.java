package dev.tenon.backend.cpu.vector.plan;

import dev.tenon.backend.cpu.vector.kv.CpuKv;
import dev.tenon.backend.cpu.vector.kv.CpuStates;
import dev.tenon.backend.cpu.vector.memory.PlanMemory;

/// Where a plan keeps what it computes.
///
/// @param cache pages
/// @param states memory of states; null if no op has one
/// @param memory owner of all memory
record PlanStores(CpuKv cache, CpuStates states, PlanMemory memory) {}
