/// What is installed: formats, architectures, backends and the rest, from OSGi services or `ServiceLoader`.
package dev.tenon.platform.core.registry;
