/// A device, its memory and its plans: what lies between a backend and a GPU's queues, the same for an
/// Orin and for a server's GPU. Nothing in this package is for other bundles.
package dev.tenon.backend.nv.tegra.device;
