package org.hibernate.id;

import java.io.Serializable;
import org.hibernate.engine.spi.SharedSessionContractImplementor;

public interface IdentifierGenerator extends Serializable {
    Object generate(SharedSessionContractImplementor session, Object entity);
}
