/// The fields of requests: which there are, and what values they take.
package dev.tenon.platform.server.fields;
