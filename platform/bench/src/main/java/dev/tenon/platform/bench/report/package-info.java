/// Reports of the benchmark suite: what was measured, and its pages. A report is its JSON file;
/// pages are made of it.
package dev.tenon.platform.bench.report;
