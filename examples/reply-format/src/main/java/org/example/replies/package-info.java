/// How models of an invented family write what is not plain answer.
package org.example.replies;
