/// The GLM architectures as graph builders.
package dev.tenon.models.glm;
