/// What the backends for NVIDIA devices share, without any driver. In this package are the words in
/// which planning and backends speak: buffers, weights and launches of kernels, and a device's traits.
/// `source` holds the CUDA C and what is prebuilt of it, `compile` compiles it, `plan` turns a graph
/// into launches, `step` is about the input of a step, and `run` runs steps.
///
/// Users import `[1.0,2)`.
@Version("1.0.0")
@Export
package dev.tenon.kernels.nvidia;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
