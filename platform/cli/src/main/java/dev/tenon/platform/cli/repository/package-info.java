/// Where bundles come from: Maven repositories and indexes of the OSGi repository service.
package dev.tenon.platform.cli.repository;
