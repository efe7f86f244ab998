/// Reading over HTTP, for whatever downloads.
@Version("2.0.0")
@Export
package dev.tenon.platform.cli.http;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
