SELECT inet_client_port();
