package org.hibernate.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

public interface ReturningWork<T> {
    T execute(Connection connection) throws SQLException;
}
