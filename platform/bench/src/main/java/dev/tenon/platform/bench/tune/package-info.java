/// `tenon tune`: finds the settings with which a model is fastest on a device, or that the defaults are best.
package dev.tenon.platform.bench.tune;
