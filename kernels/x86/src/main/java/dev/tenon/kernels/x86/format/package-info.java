/// The quantised formats, each with its unpacking and its micro-kernels.
///
/// One package for all of them: four of the seven formats are a single class, and Q4_K and Q5_K share
/// [NibbleCode]. Where the parts of a block begin stands in the format's own class only.
///
/// A new format is a `BlockCode` here and an entry in `Formats`; micro-kernels for pairs, quads and
/// streams of rows make it faster.
package dev.tenon.kernels.x86.format;
