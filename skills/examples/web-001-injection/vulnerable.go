// Package rooms finds free hotel rooms.
package rooms

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// Room is one search result.
type Room struct {
	ID    int64  `json:"id"`
	Hotel string `json:"hotel"`
	Price int64  `json:"price"`
}

// Store reads rooms from the booking database.
type Store struct {
	DB *sql.DB
}

func (s *Store) find(ctx context.Context, city string, guests int) ([]Room, error) {
	query := fmt.Sprintf(
		"SELECT id, hotel, price FROM rooms WHERE city = '%s' AND beds >= %d", city, guests)
	rows, err := s.DB.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("query rooms: %w", err)
	}
	defer rows.Close()
	var found []Room
	for rows.Next() {
		var room Room
		if err := rows.Scan(&room.ID, &room.Hotel, &room.Price); err != nil {
			return nil, fmt.Errorf("read room: %w", err)
		}
		found = append(found, room)
	}
	return found, rows.Err()
}

// ServeHTTP answers GET /rooms?city=Lyon&guests=2.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guests, err := strconv.Atoi(r.URL.Query().Get("guests"))
	if err != nil || guests < 1 {
		http.Error(w, "guests must be a positive number", http.StatusBadRequest)
		return
	}
	found, err := s.find(r.Context(), r.URL.Query().Get("city"), guests)
	if err != nil {
		http.Error(w, "search failed", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(found)
}
