/// Frameworks of their own in which handed jars are tried.
package dev.tenon.platform.contracts.framework;
