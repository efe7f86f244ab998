/// The granite and granitehybrid architectures as graph builders.
package dev.tenon.models.granite;
