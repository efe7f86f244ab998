/// Reading of GGUF files.
@Version("2.3.0")
@Export
package dev.tenon.platform.core.gguf;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
