package org.opensearch.protobufs;

/** A name that the k-NN plugin refers to; the module that holds it is not installed. */
public class QueryContainer {
    public enum QueryContainerCase { KNN }
}
