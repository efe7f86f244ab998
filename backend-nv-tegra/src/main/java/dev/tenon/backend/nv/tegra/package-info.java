/// The backend of Jetson Orins, and their GPU without the CUDA driver. Nothing in this
/// package is for other bundles.
package dev.tenon.backend.nv.tegra;
