/// Writing of GGUF files: any model, one in other formats, one with random weights.
@Version("1.0.0")
@Export
package dev.tenon.platform.tools.gguf;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
