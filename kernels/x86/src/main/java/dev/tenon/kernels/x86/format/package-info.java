/// Inner loops that are written by hand for three formats, over pairs, quads and streams of rows.
///
/// Where the parts of a block begin stands in the format's `Block` class; how much is gained, in docs/performance.md.
package dev.tenon.kernels.x86.format;
