/// The embedded default backend: Vector API kernels, no native code to install. This package holds the service and
/// its device, and finds out what the JVM and the machine can do; everything else is in the packages below it.
package dev.tenon.backend.cpu.vector;
