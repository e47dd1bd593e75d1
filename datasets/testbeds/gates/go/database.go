// SPDX-License-Identifier: MIT

package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"strings"
	"time"

	"github.com/XSAM/otelsql"
	"modernc.org/sqlite"
)

var prepare = []string{"CREATE TEMP TABLE items (tenant TEXT, amount INTEGER, price REAL DEFAULT 1)", "PRAGMA cache_size",
	"ALTER TABLE items ADD note TEXT", "SAVEPOINT reserved",
	"INSERT INTO items (tenant, amount) VALUES ('acme', 3), ('initech', 2)",
	"REPLACE INTO items (rowid, tenant, amount) VALUES (9, 'umbrella', 1)", "RELEASE reserved"}

var finish = []string{"WITH cheap AS (SELECT * FROM items WHERE price < 5) SELECT * FROM cheap", "VALUES (1)",
	"EXPLAIN SELECT * FROM items", "ANALYZE", "REINDEX", "DELETE FROM items WHERE amount = 0", "DROP TABLE items"}

// openDatabase gives a database whose spans are named by method and first word of the statement.
func openDatabase() (*sql.DB, error) {
	sqlite.MustRegisterFunction("pause", &sqlite.FunctionImpl{NArgs: 1,
		Scalar: func(_ *sqlite.FunctionContext, arguments []driver.Value) (driver.Value, error) {
			ms, _ := arguments[0].(int64)
			time.Sleep(time.Duration(ms) * time.Millisecond)
			return int64(1), nil
		}})
	return otelsql.Open("sqlite", ":memory:", otelsql.WithSpanNameFormatter(
		func(_ context.Context, method otelsql.Method, query string) string {
			word, _, _ := strings.Cut(query, " ")
			return strings.TrimSpace(string(method) + " " + word)
		}))
}

// lookUp works on a table of the connection that it takes: requests do not wait for each other.
func lookUp(ctx context.Context, database *sql.DB, tenant string, slowMs int64) error {
	connection, err := database.Conn(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	for _, statement := range prepare {
		if _, err := connection.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err = connection.ExecContext(ctx, "UPDATE items SET price = price + pause(?) WHERE tenant = ?", slowMs, tenant)
	if err != nil {
		return err
	}
	var count int
	if err := connection.QueryRowContext(ctx, "SELECT count(*) FROM items").Scan(&count); err != nil {
		return err
	}
	for _, statement := range finish {
		if _, err := connection.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
