// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Executors;

/**
 * One of three services that look into a database for each request: Shop front|cart|ledger PORT.
 *
 * The HTTP server and client of the JDK and JDBC, as anybody would write them; nothing here knows of
 * tracing. front asks cart (CART), which asks ledger (LEDGER). POST /plant?ms=MS makes an UPDATE in
 * this service slow for one tenant.
 */
public class Shop {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final String DATABASE = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";
    private static final String[] TABLES = {"items", "prices", "stock", "notes"};
    private static final String[] FINISH = {"MERGE INTO stock (tenant, amount) KEY (tenant) VALUES ('x', 1)",
        "DELETE FROM items WHERE amount = 0", "DELETE FROM notes WHERE amount = 0"};
    private static volatile double plantedMs;

    private final String next; // null: there is none

    Shop(String next) {
        this.next = next;
    }

    interface Handler {
        String answer(String last) throws Exception;
    }

    /** H2 calls it as a function. */
    public static double pause(double ms) throws InterruptedException {
        Thread.sleep((long) ms);
        return 1;
    }

    /** Tables of the connection's own: requests do not wait for each other. */
    static void lookUp(String tenant) throws SQLException {
        try (Connection connection = DriverManager.getConnection(DATABASE);
            Statement statement = connection.createStatement()) {
            for (String table : TABLES) {
                statement.execute("CREATE LOCAL TEMPORARY TABLE " + table
                    + " (tenant VARCHAR, amount INT, price DOUBLE DEFAULT 1)");
                statement.execute("INSERT INTO " + table + " (tenant, amount) VALUES ('acme', 3), ('initech', 2)");
                statement.executeQuery("SELECT * FROM " + table).close();
            }
            update(connection, tenant);
            for (String finish : FINISH) {
                statement.execute(finish);
            }
            for (String table : TABLES) {
                statement.execute("DROP TABLE " + table);
            }
        }
    }

    private static void update(Connection connection, String tenant) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
            "UPDATE prices SET price = price + pause(?) WHERE tenant = ?")) {
            statement.setDouble(1, tenant.equals("acme") ? plantedMs : 0);
            statement.setString(2, tenant);
            statement.executeUpdate();
        }
    }

    private String order(String tenant) throws Exception {
        lookUp(tenant);
        if (next == null) {
            return "{\"items\":3}";
        }
        HttpRequest request = HttpRequest.newBuilder(URI.create(next + "/look/" + tenant)).build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private static String list(String last) throws InterruptedException {
        pause(5);
        return "[]";
    }

    private static String plant(String last) {
        plantedMs = Double.parseDouble(last.substring(last.indexOf('=') + 1));
        return "{}";
    }

    private static void reply(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getRequestBody().readAllBytes();
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static void route(HttpServer server, String path, Handler handler) {
        server.createContext(path, exchange -> {
            String uri = exchange.getRequestURI().toString();
            try {
                reply(exchange, 200, handler.answer(uri.substring(uri.lastIndexOf('/') + 1)));
            } catch (Exception why) {
                System.err.println(uri + ": " + why);
                reply(exchange, 500, why.toString());
            }
        });
    }

    public static void main(String[] arguments) throws Exception {
        Shop shop = new Shop(System.getenv(arguments[0].equals("front") ? "CART"
            : arguments[0].equals("cart") ? "LEDGER" : "NONE"));
        try (Connection connection = DriverManager.getConnection(DATABASE);
            Statement statement = connection.createStatement()) {
            statement.execute("CREATE ALIAS pause FOR \"Shop.pause\"");
        }
        HttpServer server = HttpServer.create(
            new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[1])), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        route(server, "/order/", shop::order);
        route(server, "/look/", shop::order);
        route(server, "/list", Shop::list);
        route(server, "/plant", Shop::plant);
        server.start();
    }
}
