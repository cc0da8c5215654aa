package org.hibernate;

public class HibernateException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public HibernateException(String message, Throwable cause) {
        super(message, cause);
    }
}
