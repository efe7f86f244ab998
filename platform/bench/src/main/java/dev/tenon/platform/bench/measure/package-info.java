/// Runs and times tests.
package dev.tenon.platform.bench.measure;
