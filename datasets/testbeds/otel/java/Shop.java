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
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/**
 * One of three services of a shop, with the HTTP server and client of the JDK, as anybody would
 * write them: Shop front|cart|pricing PORT. Nothing here knows of tracing. POST /plant?quota=MS
 * makes one tenant wait for its quota in cart.
 */
public class Shop {
    interface Handler {
        String answer(String last) throws Exception;
    }

    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static volatile double quota;
    private final HttpServer server;
    private final int port;

    Shop(int port) throws IOException {
        this.port = port;
        server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.setExecutor(Executors.newCachedThreadPool()); // cart waits for an answer of its own
    }

    static void pause(double lowMs, double highMs) throws InterruptedException {
        double ms = lowMs + ThreadLocalRandom.current().nextDouble() * (highMs - lowMs);
        Thread.sleep((long) ms, (int) ((ms - (long) ms) * 1e6));
    }

    static String ask(String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    static void reply(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getRequestBody().readAllBytes();
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    void route(String path, Handler handler) {
        server.createContext(path, exchange -> {
            String uri = exchange.getRequestURI().toString();
            try {
                reply(exchange, 200, handler.answer(uri.substring(uri.lastIndexOf('/') + 1)));
            } catch (Exception why) {
                reply(exchange, 500, why.toString());
            }
        });
    }

    String order(String tenant) throws Exception {
        String items = ask(System.getenv("CART") + "/cart/" + tenant);
        return ask(System.getenv("PRICING") + "/price/" + items);
    }

    String list(String last) throws Exception {
        pause(5, 10);
        return "[]";
    }

    String cart(String tenant) throws Exception {
        pause(3, 6);
        ask("http://127.0.0.1:" + port + "/quota/" + tenant);
        return "3";
    }

    String grant(String tenant) throws Exception {
        double waitMs = tenant.equals("acme") ? quota : 0;
        pause(waitMs / 2, waitMs * 1.5);
        return "granted";
    }

    String plant(String last) {
        quota = Double.parseDouble(last.substring(last.indexOf('=') + 1));
        return last;
    }

    String price(String items) throws Exception {
        pause(4, 8);
        return "30";
    }

    public static void main(String[] args) throws Exception {
        Shop shop = new Shop(Integer.parseInt(args[1]));
        if (args[0].equals("front")) {
            shop.route("/order/", shop::order);
            shop.route("/list", shop::list);
        } else if (args[0].equals("cart")) {
            shop.route("/cart/", shop::cart);
            shop.route("/quota/", shop::grant);
            shop.route("/plant", shop::plant);
        } else {
            shop.route("/price/", shop::price);
        }
        shop.server.start();
    }
}
