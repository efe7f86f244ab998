/// The emulated board: device nodes of nvgpu and nvmap, address spaces and channels, and the GPU that executes
/// what they submit.
package dev.tenon.backend.nv.tegra.emulator.board;
