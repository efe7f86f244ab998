/// Encoders as graph builders: what makes vectors of texts and scores of documents.
package dev.tenon.models.bert;
