/// HTTP: connections and their limits, routes, streams of events, errors as JSON. Jetty is used here and nowhere else.
@Version("0.9.0")
@Export
package dev.tenon.platform.server.http;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
