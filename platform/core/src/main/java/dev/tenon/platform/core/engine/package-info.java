/// The engine: loading models, their sessions, and the bundles that come and go.
package dev.tenon.platform.core.engine;
