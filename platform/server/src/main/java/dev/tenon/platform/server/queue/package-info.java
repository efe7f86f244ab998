/// Which requests run, and which wait.
@Version("0.9.0")
@Export
package dev.tenon.platform.server.queue;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
