/// The MiniMax architectures as graph builders.
package dev.tenon.models.minimax;
