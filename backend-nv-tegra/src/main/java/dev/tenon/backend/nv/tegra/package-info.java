/// The two backends of this bundle, and the GPU of a Jetson Orin without the CUDA driver. Nothing in this
/// package is for other bundles.
package dev.tenon.backend.nv.tegra;
