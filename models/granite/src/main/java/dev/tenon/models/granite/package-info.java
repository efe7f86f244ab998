/// The Granite architectures as graph builders.
package dev.tenon.models.granite;
