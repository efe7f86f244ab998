/// End points and filters of providers: from requests of the api to those of the server.
package dev.tenon.platform.server.provided;
