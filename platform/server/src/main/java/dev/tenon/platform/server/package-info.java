/// A server that answers HTTP requests with the models of an engine.
@Version("0.9.0")
@Export
package dev.tenon.platform.server;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
