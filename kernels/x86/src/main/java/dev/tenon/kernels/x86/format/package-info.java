/// The quantised formats, each with its unpacking and its micro-kernels.
///
/// A new format is a `BlockCode` here and an entry in `Formats`; micro-kernels for pairs, quads and
/// streams of rows make it faster.
package dev.tenon.kernels.x86.format;
