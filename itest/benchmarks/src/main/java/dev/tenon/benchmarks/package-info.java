/// JMH benchmarks. Each checks its answer before it is timed.
package dev.tenon.benchmarks;
