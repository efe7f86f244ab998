/// Machine code as compilers write it, and the parameters of its kernels.
@Version("0.1.0")
@Export
package dev.tenon.backend.nv.tegra.code;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
