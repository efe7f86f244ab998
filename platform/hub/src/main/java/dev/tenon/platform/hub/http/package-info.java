/// Reading over HTTP, for whatever downloads.
@Version("0.1.0")
@Export
package dev.tenon.platform.hub.http;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
