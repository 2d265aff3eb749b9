// What a program does over JDBC: sees the catalogue with its comments, asks, asks again with a prepared statement, fails.
// Prints one line for each: a name, a tab, what was told.
//
//   java --add-opens=java.base/java.nio=ALL-UNNAMED -cp DRIVER Client.java jdbc:arrow-flight-sql://HOST:PORT/?useEncryption=false KEY

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

public class Client {
    public static void main(String[] args) throws Exception {
        Class.forName("org.apache.arrow.driver.jdbc.ArrowFlightJdbcDriver");
        Properties properties = new Properties();
        if (args.length > 1 && !args[1].isEmpty()) {
            properties.setProperty("token", args[1]);
        }
        try (Connection market = DriverManager.getConnection(args[0], properties)) {
            about(market.getMetaData());
            asks(market);
        } catch (SQLException | RuntimeException error) {
            tell("refused", words(error));
        }
    }

    static void about(DatabaseMetaData about) throws Exception {
        tell("server", about.getDatabaseProductName());
        tell("read_only", about.isReadOnly());
        tell("quote", about.getIdentifierQuoteString());
        tell("catalogs", column(about.getCatalogs(), 1));
        tell("schemas", column(about.getSchemas(), 1));
        tell("table_types", column(about.getTableTypes(), 1));
        tell("tables", column(about.getTables(null, "public", "prod%", null), 3));
        tell("primary_keys", column(about.getPrimaryKeys(null, "public", "products"), 4));
        tell("imported_keys", column(about.getImportedKeys(null, "public", "products"), 4));
        try (ResultSet columns = about.getColumns(null, "public", "products", "price_min%")) {
            while (columns.next()) {
                tell("column", columns.getString("COLUMN_NAME") + " " + columns.getString("TYPE_NAME"));
                tell("remarks", columns.getString("REMARKS"));
            }
        }
        // Tools ask whatever there is before they show a window; one that fails shows none.
        List<String> failed = new ArrayList<>();
        for (Method method : DatabaseMetaData.class.getMethods()) {
            if (method.getParameterCount() == 0) {
                try {
                    Object told = method.invoke(about);
                    if (told instanceof ResultSet rows) {
                        rows.close();
                    }
                } catch (ReflectiveOperationException error) {
                    failed.add(method.getName());
                }
            }
        }
        failed.sort(null);
        tell("cannot_tell", failed);
    }

    static void asks(Connection market) throws SQLException {
        try (Statement statement = market.createStatement()) {
            tell("products", column(statement.executeQuery("select count(*) n from products"), 1));
            try (ResultSet rows = statement.executeQuery("select title, tags, price_min_minor, created_at from products")) {
                int count = 0;
                while (rows.next()) {
                    rows.getString("title");
                    rows.getObject("tags");
                    rows.getLong("price_min_minor");
                    rows.getTimestamp("created_at");
                    count += 1;
                }
                tell("rows", count);
            }
            for (String wild : new String[] {"select * from nothing", "drop table products"}) {
                try {
                    statement.executeQuery(wild).close();
                    tell("error", "answered");
                } catch (SQLException error) {
                    tell("error", words(error));
                }
            }
        }
        try (PreparedStatement prepared = market.prepareStatement("select title from products order by 1 limit 3")) {
            tell("prepared_columns", prepared.getMetaData().getColumnCount());
            for (int turn = 0; turn < 2; turn += 1) {
                tell("prepared", column(prepared.executeQuery(), 1).size());
            }
        }
    }

    static List<String> column(ResultSet rows, int at) throws SQLException {
        try (rows) {
            List<String> told = new ArrayList<>();
            while (rows.next()) {
                told.add(rows.getString(at));
            }
            return told;
        }
    }

    static String words(Throwable error) {
        StringBuilder words = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            words.append(cause.getMessage()).append(" | ");
        }
        return words.toString().replaceAll("\\s+", " ");
    }

    static void tell(String name, Object told) {
        System.out.println(name + "\t" + told);
    }
}
