/// End points of a server, and filters before them, as services: an [EndpointProvider] gives both.
///
/// Requests and answers are texts, bytes, and JSON as maps, lists, strings, numbers, booleans and
/// null; no type of a server or of a JSON library is seen.
///
/// May change incompatibly until 1.0: import `[0.1,0.2)`.
@Version("0.1.0")
@Export
@NullMarked
package dev.tenon.api.http;

import org.jspecify.annotations.NullMarked;
import org.osgi.annotation.bundle.Export;
import org.osgi.annotation.versioning.Version;
