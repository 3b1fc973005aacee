package org.apache.logging.log4j;

public interface Marker {
    String getName();
}
