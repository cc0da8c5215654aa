import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Draws single IDs by JDBC and prints them, until standard input ends. Connects again when its connection is gone. */
public final class Draws {
    public static void main(String[] arguments) throws Exception {
        Thread end = new Thread(Draws::endWithInput);
        end.setDaemon(true);
        end.start();
        long pause = Long.parseLong(arguments[1]);
        while (true) {
            try (Connection connection = DriverManager.getConnection(arguments[0]);
                    PreparedStatement draw = connection.prepareStatement("SELECT next_snowflake()")) {
                while (true) {
                    try (ResultSet rows = draw.executeQuery()) {
                        rows.next();
                        say(String.valueOf(rows.getLong(1)));
                    }
                    Thread.sleep(pause);
                }
            } catch (SQLException problem) {
                String message = String.valueOf(problem.getMessage()).replaceAll("\\s+", " ");
                say("error " + problem.getSQLState() + " " + message);
                Thread.sleep(5 * pause);
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static void endWithInput() {
        try {
            while (System.in.read() >= 0) {
                // the input is never read further
            }
        } catch (java.io.IOException problem) {
            // it is the end, too
        }
        Runtime.getRuntime().halt(0);
    }
}
