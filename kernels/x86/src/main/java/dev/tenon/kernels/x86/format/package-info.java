/// Inner loops that are written by hand for three formats, over pairs, quads and streams of rows, because they are
/// faster than those that follow from the layouts (docs/performance.md).
///
/// Where the parts of a block begin stands in the format's `Block` class only.
package dev.tenon.kernels.x86.format;
