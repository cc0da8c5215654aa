import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.tool.hbm2ddl.SchemaUpdate;

/** Hibernate 3 over JDBC, with its hbm2ddl. */
final class Deeds {
    static String url(String database) {
        return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + database
            + "?user=" + System.getenv("PGUSER") + "&reWriteBatchedInserts=true";
    }

    static Configuration configuration(String database) {
        return new Configuration()
            .setProperty("hibernate.connection.driver_class", "org.postgresql.Driver")
            .setProperty("hibernate.connection.url", url(database))
            .setProperty("hibernate.dialect", SnowflakeDialect.class.getName())
            .setProperty("hibernate.jdbc.batch_size", "1000")
            .addAnnotatedClass(Author.class)
            .addAnnotatedClass(Book.class);
    }

    static void migrate(String database) throws Exception {
        try (Connection connection = DriverManager.getConnection(url(database))) {
            String text = Files.readString(Path.of(System.getenv("FRAMEWORK_MIGRATION")));
            connection.createStatement().execute(text);
        }
        SchemaUpdate update = new SchemaUpdate(configuration(database));
        update.execute(false, true);
        if (!update.getExceptions().isEmpty()) {
            throw (Exception) update.getExceptions().get(0);
        }
    }

    /** Does something in a transaction and gives the IDs. */
    static Report.Outcome in(String database, Function<Session, List<Long>> act) {
        SessionFactory factory = configuration(database).addAnnotatedClass(DrawnAuthor.class).buildSessionFactory();
        try {
            Session session = factory.openSession();
            session.beginTransaction();
            List<Long> ids = act.apply(session);
            session.getTransaction().commit();
            return new Report.Outcome(null, ids);
        } finally {
            factory.close();
        }
    }

    static List<Long> insert(Session session) {
        Author author = new Author("Ada");
        session.save(author);
        return List.of(author.id);
    }

    static List<Long> batch(Session session) {
        List<Long> ids = new ArrayList<>();
        for (int n = 0; n < 1000; n++) {
            Author author = new Author("author " + n);
            session.save(author); // an INSERT of its own
            ids.add(author.id);
        }
        return ids;
    }

    static List<Long> ahead(Session session) {
        List<Long> ids = new ArrayList<>();
        for (int n = 0; n < 1000; n++) {
            DrawnAuthor author = new DrawnAuthor("author " + n);
            session.save(author); // it has its ID now, and no INSERT was sent
            ids.add(author.id);
        }
        return ids;
    }

    static List<Long> foreignKey(Session session) {
        Author author = new Author("Ada");
        author.books.add(new Book(author, "Notes"));
        author.books.add(new Book(author, "Letters"));
        session.save(author);
        return List.of(author.id, author.books.get(0).id, author.books.get(1).id);
    }

    static Report.Outcome testDatabase(String database) throws Exception {
        String name = database + "_test";
        try (Connection admin = DriverManager.getConnection(url("postgres"))) {
            admin.createStatement().execute("CREATE DATABASE " + name);
            migrate(name);
            List<Long> ids = in(name, Deeds::insert).ids();
            admin.createStatement().execute("DROP DATABASE " + name);
            return new Report.Outcome("hbm2ddl", ids);
        }
    }

    /** The version, which Debian's build left out of Hibernate. A link to its jar has it in the name. */
    static String version() throws Exception {
        Path jar = Path.of(Session.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (DirectoryStream<Path> links = Files.newDirectoryStream(jar.getParent(), "hibernate-core-*.jar")) {
            return links.iterator().next().getFileName().toString().replaceAll("hibernate-core-|\\.jar", "");
        }
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            System.out.println(version());
            return;
        }
        String database = System.getenv("PGDATABASE");
        Report.deed("migrate", () -> {
            migrate(database);
            return new Report.Outcome(null, List.of());
        });
        Report.deed("insert", () -> in(database, Deeds::insert));
        Report.deed("batch", () -> in(database, Deeds::batch));
        Report.deed("ahead", () -> in(database, Deeds::ahead));
        Report.deed("foreign_key", () -> in(database, Deeds::foreignKey));
        Report.deed("test_database", () -> testDatabase(database));
    }
}
