package org.hibernate.engine.spi;

import org.hibernate.jdbc.ReturningWork;

public interface SharedSessionContractImplementor {
    <T> T doReturningWork(ReturningWork<T> work);
}
