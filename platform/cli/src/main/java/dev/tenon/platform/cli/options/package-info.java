/// Options that several commands share, and the texts that they read.
@Version("0.10.0")
@Export
package dev.tenon.platform.cli.options;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
