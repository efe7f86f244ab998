/// The embedded default backend: Vector API kernels, no native code to install.
package dev.tenon.backend.cpu.vector;
