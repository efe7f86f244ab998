/// What all vector kernels share: the shapes of vectors, access to weights, the order of sums, the exponential
/// function and tables. Everything below this package computes on one thread, and knows neither plans nor steps.
package dev.tenon.backend.cpu.vector.kernel;
