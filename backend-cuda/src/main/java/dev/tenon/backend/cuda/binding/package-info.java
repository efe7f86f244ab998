/// The calls of the CUDA driver that the backend makes, for bundles that offer another way to make them, and the
/// handles of an open device, for bundles that call NVIDIA's libraries themselves.
///
/// May change incompatibly until 1.0: import `[0.9,0.10)`.
@Version("0.9.0")
@Export
package dev.tenon.backend.cuda.binding;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
