/// Counters and histograms, and their text form for Prometheus.
package dev.tenon.platform.server.metrics;
