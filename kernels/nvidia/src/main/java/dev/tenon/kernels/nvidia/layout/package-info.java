/// How weights lie on a device whose kernels are made of the layout that their format gives.
@Version("0.1.0")
@Export
package dev.tenon.kernels.nvidia.layout;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
