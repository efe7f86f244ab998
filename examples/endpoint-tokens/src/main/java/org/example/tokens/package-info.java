/// An end point that counts tokens, and a filter that limits rates.
package org.example.tokens;
