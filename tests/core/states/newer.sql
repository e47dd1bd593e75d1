-- What a later pythiad may add to the newest schema above: tables, columns and notes.
ALTER TABLE pin ADD COLUMN by_whom TEXT NOT NULL DEFAULT 'nobody';
ALTER TABLE cycle ADD COLUMN host TEXT;
ALTER TABLE inventory ADD COLUMN price_sd_ns REAL;
CREATE TABLE forecast(request_type TEXT NOT NULL, unix_ns INTEGER NOT NULL, mean_ns REAL);
INSERT INTO forecast VALUES('GET /cart', 3000, 5.5);
INSERT INTO note VALUES('season', 'weekly');
