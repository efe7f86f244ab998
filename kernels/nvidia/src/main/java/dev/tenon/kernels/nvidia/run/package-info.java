/// Running steps: what is the same on every device, whatever the driver.
@Version("0.1.0")
@Export
package dev.tenon.kernels.nvidia.run;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
