/// Who may ask: keys and hosts.
@Version("0.9.0")
@Export
package dev.tenon.platform.server.auth;

import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
