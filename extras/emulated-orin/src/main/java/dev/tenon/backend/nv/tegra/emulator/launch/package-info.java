/// Launches as the emulated GPU decodes them, and the kernels that it recognises by their machine code.
package dev.tenon.backend.nv.tegra.emulator.launch;
