/// Reading and writing of GGUF files.
@Version("1.0.0")
@Export
package dev.tenon.platform.core.gguf;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
