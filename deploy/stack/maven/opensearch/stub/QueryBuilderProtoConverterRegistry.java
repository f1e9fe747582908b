package org.opensearch.transport.grpc.spi;

/** A name that the k-NN plugin refers to; the module that holds it is not installed. */
public interface QueryBuilderProtoConverterRegistry {}
