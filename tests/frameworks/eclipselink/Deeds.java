import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import javax.persistence.EntityManager;
import javax.persistence.EntityManagerFactory;
import javax.persistence.Persistence;
import org.eclipse.persistence.Version;

/** EclipseLink over JDBC, with the schema generation of JPA 2.1. */
final class Deeds {
    private static final String NONE = "IDENTITY reads lastval(), which is no ID";

    /** What is not in persistence.xml. */
    static Map<String, Object> place(String database) {
        Map<String, Object> place = new HashMap<>();
        place.put("javax.persistence.jdbc.url", url(database));
        place.put("eclipselink.logging.level", "OFF");
        return place;
    }

    static String url(String database) {
        return "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + database
            + "?user=" + System.getenv("PGUSER") + "&reWriteBatchedInserts=true";
    }

    static void migrate(String database) throws Exception {
        // snippet: migrate
        String text = Files.readString(Path.of(System.getenv("FRAMEWORK_MIGRATION"))); // of "pgflurry migrate print"
        try (Connection connection = DriverManager.getConnection(url(database))) {
            connection.createStatement().execute(text);
        }
        Map<String, Object> settings = place(database);
        settings.put("javax.persistence.schema-generation.database.action", "create");
        Persistence.generateSchema("shop", settings);
        // snippet: end
    }

    /** Does something in a transaction and gives the IDs. */
    static Report.Outcome in(String database, Function<EntityManager, List<Long>> act) {
        EntityManagerFactory factory = Persistence.createEntityManagerFactory("shop", place(database));
        try {
            EntityManager manager = factory.createEntityManager();
            manager.getTransaction().begin();
            List<Long> ids = act.apply(manager);
            manager.getTransaction().commit();
            return new Report.Outcome(null, ids);
        } finally {
            factory.close();
        }
    }

    static List<Long> ahead(EntityManager manager) {
        List<Long> ids = new ArrayList<>();
        for (int n = 0; n < 1000; n++) {
            Author author = new Author("author " + n);
            manager.persist(author); // it has its ID now
            ids.add(author.id);
        }
        return ids;
    }

    static List<Long> foreignKey(EntityManager manager) {
        Author author = new Author("Ada");
        author.books.add(new Book(author, "Notes"));
        author.books.add(new Book(author, "Letters"));
        manager.persist(author);
        return List.of(author.id, author.books.get(0).id, author.books.get(1).id);
    }

    static List<Long> insert(EntityManager manager) {
        Author author = new Author("Ada");
        manager.persist(author);
        return List.of(author.id);
    }

    static Report.Outcome testDatabase(String database) throws Exception {
        String name = database + "_test";
        try (Connection admin = DriverManager.getConnection(url("postgres"))) {
            admin.createStatement().execute("CREATE DATABASE " + name);
            migrate(name);
            List<Long> ids = in(name, Deeds::insert).ids();
            admin.createStatement().execute("DROP DATABASE " + name);
            return new Report.Outcome("generateSchema", ids);
        }
    }

    public static void main(String[] arguments) {
        if (arguments.length > 0) {
            System.out.println(Version.getVersion());
            return;
        }
        String database = System.getenv("PGDATABASE");
        Report.deed("migrate", () -> {
            migrate(database);
            return new Report.Outcome(null, List.of());
        });
        Report.none("insert", NONE);
        Report.none("batch", NONE);
        Report.deed("ahead", () -> in(database, Deeds::ahead));
        Report.deed("foreign_key", () -> in(database, Deeds::foreignKey));
        Report.deed("test_database", () -> testDatabase(database));
    }
}
