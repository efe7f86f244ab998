/// The launches of a planned graph: which kernels an op runs for a step of some shape, with which grid and
/// arguments.
package dev.tenon.kernels.nvidia.launch;
