/// The programs of the benchmark suite, and what they measure with.
package dev.tenon.platform.bench.suite.programs;
