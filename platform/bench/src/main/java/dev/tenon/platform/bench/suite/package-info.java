/// Runs the programs of the benchmark suite, each in a process of its own, and keeps their report.
package dev.tenon.platform.bench.suite;
