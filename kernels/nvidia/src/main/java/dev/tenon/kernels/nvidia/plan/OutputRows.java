package dev.tenon.kernels.nvidia.plan;

import dev.tenon.kernels.nvidia.KvBuffer;

/// Where the rows of an output beside the default one are.
///
/// @param memory float32 rows, each a piece
/// @param width elements of a row
/// @param selected whether there is a row for each token that wants logits; otherwise for each token
public record OutputRows(KvBuffer memory, int width, boolean selected) {}
