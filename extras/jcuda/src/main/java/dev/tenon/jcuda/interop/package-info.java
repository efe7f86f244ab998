/// JCuda's objects for handles and addresses that the CUDA backend hands out as numbers.
///
/// May change incompatibly until 1.0: import `[0.9,0.10)`.
@Version("0.9.0")
@Export
package dev.tenon.jcuda.interop;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
