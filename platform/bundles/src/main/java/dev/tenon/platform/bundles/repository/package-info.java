/// Fetches bundles from repositories in Maven's layout and from indexes of OSGi repositories.
package dev.tenon.platform.bundles.repository;
