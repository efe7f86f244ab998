/// Planning of a graph for a device: the memory that it needs and the launches of each step.
@Version("0.1.0")
@Export
package dev.tenon.kernels.nvidia.plan;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
