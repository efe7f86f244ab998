/// The Cohere architectures as graph builders.
package dev.tenon.models.cohere;
