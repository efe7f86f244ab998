package dev.tenon.kernels.nvidia.launch;

import dev.tenon.kernels.nvidia.DeviceWeight;

/// The first two matrices of a feed-forward layer.
///
/// @param gate its product is activated
/// @param up its product is multiplied with that
/// @param activation as kernels number it
public record GatedWeights(DeviceWeight gate, DeviceWeight up, int activation) {}
