/// The OLMo architectures as graph builders.
package dev.tenon.models.olmo;
