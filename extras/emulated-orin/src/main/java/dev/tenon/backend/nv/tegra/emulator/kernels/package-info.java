/// What the kernels of `kernels/nvidia` compute, in Java: one class a family. They are written from
/// what the sources say they do, not how, and are exact where those round on the way.
package dev.tenon.backend.nv.tegra.emulator.kernels;
